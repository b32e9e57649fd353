package host_test

import (
	"strings"
	"testing"

	"pawl/objective"
	"pawl/objective/host"
)

const unfuzzedManifest = `
name: twice
entry: twice
source: {host: twice.c}
reference: {host: reference.c}
params:
  MODE: {values: [0, 1, 2], default: 0}
workloads:
  even: {N: 4096}
args:
  - {name: x, type: i32, shape: [N]}
  - {name: y, type: i32, shape: [N], out: true}
  - {name: n, type: i32, value: N}
`

// MODE 1 has no tail, MODE 2 is right for a whole number of its own blocks only.
var unfuzzedFiles = map[string]string{
	"kernel.yaml": unfuzzedManifest,
	"twice.c": `#include <stdint.h>
void twice(const int32_t *x, int32_t *y, int32_t n) {
	for (int i = 0; i + (MODE == 1 ? 8 : 1) <= n; i += MODE == 1 ? 8 : 1)
		for (int j = i; j < i + (MODE == 1 ? 8 : 1); j++) y[j] = (int32_t)(2u * (uint32_t)x[j]);
	if (MODE == 2 && n % 64) y[n - 1] = 7;
}
`,
	"reference.c": `#include <stdint.h>
void twice(const int32_t *x, int32_t *y, int32_t n) {
	for (int i = 0; i < n; i++) y[i] = (int32_t)((uint32_t)x[i] + (uint32_t)x[i]);
}
`,
}

// A kernel that is right for its workload only is caught without a fuzz section, in
// the quick tier too, and the message says what to state if that was meant.
func TestTailsAreCheckedWithoutAFuzzSection(t *testing.T) {
	b := open(t, unfuzzedFiles, host.Options{})
	if failure, err := b.Verify(t.Context(), b.prepare(t, "MODE=0")); failure != nil || err != nil {
		t.Fatalf("the right one: %v, %v", failure, err)
	}
	if note := b.Tester.Note(b.at(t, "MODE=0")); note != "" {
		t.Errorf("all sizes vary, and yet: %s", note)
	}
	for _, mode := range []string{"MODE=1", "MODE=2"} {
		outcome := b.measure(t, mode, 0)
		if f := outcome.Failure; f == nil || f.Reason != objective.WrongResult ||
			!strings.Contains(f.Detail, "state what it does promise as domain") {
			t.Errorf("%s: %v", mode, f)
		}
	}
	files := map[string]string{}
	for name, content := range unfuzzedFiles {
		files[name] = content
	}
	files["kernel.yaml"] += "domain: [N % 64 == 0]\n"
	promised := open(t, files, host.Options{})
	for _, mode := range []string{"MODE=0", "MODE=1", "MODE=2"} {
		if failure, err := promised.Verify(t.Context(), promised.prepare(t, mode)); failure != nil || err != nil {
			t.Errorf("%s keeps its promise, and yet: %v, %v", mode, failure, err)
		}
	}
}
