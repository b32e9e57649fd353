// Package kerneltest is small because tests alone use it. It has the programs that take the place of
// compilers, the names of the embedded kernels by backend, and the kernel of tests that need one for the processor:
// y = 2 * x, which compiles and runs in no time, and which a test makes as slow, as wrong
// and its space as large as it needs.
package kerneltest

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Scale is the kernel scale. Its C expressions may use its parameters and N.
type Scale struct {
	// Params are the lines of the manifest's parameters, such as WASTE: {values: [0, 1], default: 1}.
	Params []string
	// Workloads are the lines of the manifest's workloads; without any there is small, of 400 elements.
	Workloads []string
	// More is the end of the manifest: sections that it does not have otherwise.
	More string
	// Repeats is a C expression: how often the work is done, where once is enough. Empty is once.
	Repeats string
	// Factor is a C expression for what must be 2. Empty is 2.
	Factor string
	// Block is a C expression: how many elements a step of the outer loop takes. Empty is one.
	Block string
}

const manifest = `name: scale
summary: y = a * x
entry: scale
source: {host: scale.c}
reference: {host: reference.c}
params:
  PARAMS
workloads:
  WORKLOADS
args:
  - {name: x, type: f32, shape: [N]}
  - {name: y, type: f32, shape: [N], out: true}
  - {name: N, type: i32, value: N}
fuzz: {N: [1, 7, 100]}
tolerance: {atol: 1e-6, rtol: 1e-6}
work: {flops: N, bytes: 8 * N}
flags: [-O1]
`

// Without volatile, the compiler would see that a repetition changes nothing. Each product takes long, so that a sample
// has few launches: each of them needs inputs of its own.
const source = `#include <stdint.h>
void scale(const float *x, float *y, int32_t N) {
	for (int repeat = 0; repeat < (REPEATS); repeat++)
		for (int i = 0; i < N; i += (BLOCKS))
			for (int j = i; j < i + (BLOCKS) && j < N; j++) {
				volatile float product;
				for (int again = 0; again < 50; again++)
					product = (FACTOR) * x[j];
				y[j] = product;
			}
}
`

const reference = `#include <stdint.h>
void scale(const float *x, float *y, int32_t N) {
	for (int i = 0; i < N; i++) y[i] = (float)(2.0 * x[i]);
}
`

// Manifest is the kernel's manifest.
func (s Scale) Manifest() string {
	workloads := s.Workloads
	if len(workloads) == 0 {
		workloads = []string{"small: {N: 400}"}
	}
	lines := strings.NewReplacer("PARAMS", strings.Join(s.Params, "\n  "), "WORKLOADS", strings.Join(workloads, "\n  "))
	return lines.Replace(manifest) + s.More
}

// Source is the kernel's scale.c.
func (s Scale) Source() string {
	expressions := strings.NewReplacer("REPEATS", cmp.Or(s.Repeats, "1"), "FACTOR", cmp.Or(s.Factor, "2"), "BLOCKS",
		cmp.Or(s.Block, "1"))
	return expressions.Replace(source)
}

// Write writes the kernel's files into a folder, which it makes.
func (s Scale) Write(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	files := map[string]string{"kernel.yaml": s.Manifest(), "scale.c": s.Source(), "reference.c": reference}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Folder writes the kernel's files into a new folder named scale, which goes with the test.
func (s Scale) Folder(t testing.TB) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "scale")
	if err := s.Write(folder); err != nil {
		t.Fatal(err)
	}
	return folder
}
