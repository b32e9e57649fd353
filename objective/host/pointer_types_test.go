package host_test

import (
	"os"
	"strings"
	"testing"

	"pawl/objective/host"
)

var pointerTypes = map[string]string{
	"kernel.yaml": `
name: chosen
entry: chosen
source: {host: chosen.cpp}
reference: {host: reference.cpp}
params:
  WRONG: {values: [false, true], default: false}
workloads:
  small: {N: 1000}
args:
  - {name: mask, type: u8, shape: [N], range: [0, 1]}
  - {name: letter, type: i8, shape: [N]}
  - {name: x, type: i64, shape: [N]}
  - {name: y, type: u64, shape: [N], out: true}
  - {name: n, type: i64, value: N}
`,
	// Each type is another one of C++ than the reference's, of the same size and sign.
	"chosen.cpp": `
#if WRONG
typedef double wide;
#else
typedef unsigned long long wide;
#endif
void chosen(const bool *mask, const char *letter, const long long *x, wide *y, long long n) {
	for (long long i = 0; i < n; i++) y[i] = (wide)(mask[i] ? x[i] : (long long)(signed char)letter[i]);
}
`,
	"reference.cpp": `#include <cstdint>
void chosen(const uint8_t *mask, const int8_t *letter, const int64_t *x, uint64_t *y, int64_t n) {
	for (int64_t i = 0; i < n; i++) y[i] = mask[i] ? (uint64_t)x[i] : (uint64_t)(int64_t)letter[i];
}
`,
}

// C++ has two names for an integer of eight bytes, and three for one of a byte: a source may use any of them.
func TestPointersOfCPlusPlusAreWhatTheManifestMeans(t *testing.T) {
	compiler, err := host.FindCPlusPlus(t.Context(), os.Getenv)
	if err != nil {
		t.Skip(err)
	}
	b := open(t, pointerTypes, host.Options{CPlusPlus: compiler})
	if failure, err := b.Verify(t.Context(), b.prepare(t, "WRONG=false")); failure != nil || err != nil {
		t.Errorf("%v, %v", failure, err)
	}
	wrong, err := b.Prepare(t.Context(), b.at(t, "WRONG=true"))
	if err != nil || wrong.Failure == nil || !strings.Contains(wrong.Failure.Detail, "double") {
		t.Errorf("a pointer to double is none to u64: %v, %v", wrong.Failure, err)
	}
}
