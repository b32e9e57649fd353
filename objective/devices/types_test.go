package devices

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pawl/kernels"
	"pawl/objective"
)

// halving is for floats at one workload and for doubles at the other.
var halving = map[string]string{"kernel.yaml": `name: halving
entry: halve
source: {host: halve.c}
reference: {host: halve.c}
params: {STEP: {values: [1], default: 1}}
workloads: {single: {N: 300, WIDE: 0}, double: {N: 300, WIDE: 1}}
defines: {WIDE: WIDE}
let: {element: 'WIDE > 0 ? "f64" : "f32"'}
args:
  - {name: x, type: element, shape: [N], fill: normal}
  - {name: y, type: element, shape: [N], out: true}
  - {name: N, type: i32, value: N}
fuzz: {N: [1, 7, 100]}
tolerance: {atol: 0, rtol: "WIDE > 0 ? 1e-15 : 1e-6"}
`, "halve.c": `#include <stdint.h>
#if WIDE
typedef double element;
#else
typedef float element;
#endif
void halve(const element *x, element *y, int32_t N) {
	for (int i = 0; i < N; i++) y[i] = x[i] / 2;
}
`}

// A workload is filled, checked and compared with its own type: a kernel that rounds to the
// other's is right for one of them only.
func TestWorkloadsHaveTypes(t *testing.T) {
	var notices []string
	m := here(t, &notices)
	for wrong, fails := range map[string]string{"x[i] / 2": "", "(float)x[i] / 2": "double"} {
		dir := filepath.Join(t.TempDir(), "halving")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range halving {
			if name == "kernel.yaml" {
				text = strings.Replace(text, "source: {host: halve.c}", "source: {host: tried.c}", 1)
			} else if err := os.WriteFile(filepath.Join(dir, "tried.c"), []byte(strings.Replace(text, "x[i] / 2", wrong, 1)),
				0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		k, err := kernels.Load(dir, kernels.Host)
		if err != nil {
			t.Fatal(err)
		}
		for _, workload := range []string{"single", "double"} {
			c, err := m.OpenAt(t.Context(), k, workload, "", objective.Options{Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			tester := c.Evaluator.Tester
			found, err := tester.Try(t.Context(), c.Prepared, slices.Values(tester.QuickCases(c.Prepared.Point)), nil)
			c.Close()
			if err != nil {
				t.Fatal(err)
			}
			if (found.Failure != nil) != (workload == fails) {
				t.Errorf("%s at %s: %v", wrong, workload, found.Failure)
			}
		}
	}
}
