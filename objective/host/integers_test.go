package host_test

import (
	"fmt"
	"strings"
	"testing"

	"pawl/internal/thorough"
	"pawl/objective"
	"pawl/objective/host"
)

// A kernel of integers with its mistakes: WRONG chooses one of them.
type integerKernel struct {
	name, source, reference, arguments string
	// wrong are the mistakes, in the order of WRONG from 1 on.
	wrong []string
}

// integerMistakes are right for some integers only: small, even, not negative, not
// repeated and so on.
var integerMistakes = []integerKernel{
	{
		name: "abs",
		source: `#include <stdlib.h>
#include <string.h>
void k(const int32_t *x, int32_t *y, int32_t N) {
	if (WRONG == 1) { memcpy(y, x, sizeof *y * (size_t)N); return; }
	for (int i = 0; i < N; i++) {
		int64_t v = x[i], a = v < 0 ? -v : v;
		switch (WRONG) {
		case 2: a = a > 0x7fff ? (int16_t)a : a; break;
		case 3: a = (int32_t)(float)a; break;
		case 4: a = v == -2147483647 - 1 ? 2147483647 : a; break;
		case 5: a = v == 2147483647 ? 0 : a; break;
		case 6: a = a & ~1; break;
		case 7: a = i && x[i] == x[i - 1] ? 0 : a; break;
		case 8: a = i && x[i] < x[i - 1] ? a + 1 : a; break;
		case 9: a = v == 0 ? 1 : a; break;
		case 10: a = v == -1 ? -1 : a; break;
		case 11: a = v == 65536 ? 0 : a; break;
		case 12: a = v == -1024 ? 0 : a; break;
		}
		y[i] = (int32_t)(uint32_t)a;
	}
}
`,
		reference: `void k(const int32_t *x, int32_t *y, int32_t N) {
	for (int i = 0; i < N; i++) y[i] = (int32_t)(x[i] < 0 ? 0u - (uint32_t)x[i] : (uint32_t)x[i]);
}
`,
		arguments: `
  - {name: x, type: i32, shape: [N]}
  - {name: y, type: i32, shape: [N], out: true}
  - {name: N, type: i32, value: N}`,
		wrong: []string{"memcpy", "16 bits", "by way of float", "smallest number", "largest number", "even numbers only",
			"repeated numbers", "sorted numbers only", "zero", "minus one", "a power of two", "a negative power of two"},
	},
	{
		name: "histogram",
		source: `#include <string.h>
enum { BINS = 256 };
void k(const uint8_t *x, int32_t *y, int32_t N) {
	unsigned char narrow[BINS] = {0};
	unsigned short counters[BINS] = {0};
	memset(y, 0, BINS * sizeof *y);
	for (int i = 0; i < N; i++) {
		int v = x[i];
		switch (WRONG) {
		case 1: v &= 127; break;
		case 2: v = v > 254 ? 254 : v; break;
		case 3: if (i && x[i] == x[i - 1] && i % 8) continue; break;
		case 4: narrow[v]++; continue;
		case 5: v = (signed char)v < 0 ? 0 : v; break;
		case 6: counters[v]++; continue;
		}
		y[v]++;
	}
	if (WRONG == 4) for (int b = 0; b < BINS; b++) y[b] = narrow[b];
	if (WRONG == 6) for (int b = 0; b < BINS; b++) y[b] = counters[b];
}
`,
		reference: `void k(const uint8_t *x, int32_t *y, int32_t N) {
	for (int b = 0; b < 256; b++) y[b] = 0;
	for (int i = 0; i < N; i++) y[x[i]]++;
}
`,
		arguments: `
  - {name: x, type: u8, shape: [N]}
  - {name: y, type: i32, shape: [256], out: true}
  - {name: N, type: i32, value: N}`,
		wrong: []string{"masked", "clamped", "runs", "counters of 8 bits", "signed", "counters of 16 bits"},
	},
	{
		name: "gather",
		source: `void k(const int64_t *from, const int32_t *at, int64_t *y, int32_t N) {
	for (int i = 0; i < N; i++) {
		int n = at[i];
		switch (WRONG) {
		case 1: n = n == N - 1 ? 0 : n; break;
		case 2: n = n == 0 ? N - 1 : n; break;
		case 3: n = i; break;
		}
		y[i] = WRONG == 4 ? (int64_t)(double)from[n] : WRONG == 5 ? (int32_t)from[n] : from[n];
	}
}
`,
		reference: `void k(const int64_t *from, const int32_t *at, int64_t *y, int32_t N) {
	for (int i = 0; i < N; i++) y[i] = from[at[i]];
}
`,
		arguments: `
  - {name: from, type: i64, shape: [N]}
  - {name: at, type: i32, shape: [N], range: [0, N - 1]}
  - {name: y, type: i64, shape: [N], out: true}
  - {name: N, type: i32, value: N}`,
		wrong: []string{"last index", "first index", "no gather", "by way of double", "32 bits"},
	},
}

func (k integerKernel) files() map[string]string {
	values := []string{"0"}
	for i := range k.wrong {
		values = append(values, fmt.Sprint(i+1))
	}
	return map[string]string{
		"kernel.c":    "#include <stdint.h>\n" + k.source,
		"reference.c": "#include <stdint.h>\n" + k.reference,
		"kernel.yaml": `name: ` + k.name + `
entry: k
source: {host: kernel.c}
reference: {host: reference.c}
params:
  WRONG: {values: [` + strings.Join(values, ", ") + `], default: 0}
workloads:
  large: {N: 80000}
args:` + k.arguments + `
fuzz: {N: [1, 7, 100, 1031]}
`,
	}
}

// The right kernel passes the full tier, and no mistake does.
func TestIntegerMistakesAreCaught(t *testing.T) {
	if testing.Short() {
		t.Skip("about verdicts: the others run through the same goroutines")
	}
	for _, k := range thorough.Some(integerMistakes, 1) {
		t.Run(k.name, func(t *testing.T) {
			b := open(t, k.files(), host.Options{})
			if failure, err := b.Verify(t.Context(), b.prepare(t, "WRONG=0")); failure != nil || err != nil {
				t.Fatalf("the right one: %v, %v", failure, err)
			}
			for i, name := range k.wrong {
				failure, err := b.Verify(t.Context(), b.prepare(t, fmt.Sprintf("WRONG=%d", i+1)))
				if err != nil || failure == nil || failure.Reason != objective.WrongResult {
					t.Errorf("%s: %v, %v", name, failure, err)
				}
			}
		})
	}
}

// An index without a range is drawn from all of its type. The reference is what
// falls over it first, and the message says what to do.
func TestIndexWithoutARangeSaysSo(t *testing.T) {
	gather := integerMistakes[2]
	gather.arguments = strings.Replace(gather.arguments, ", range: [0, N - 1]", "", 1)
	b := open(t, gather.files(), host.Options{})
	_, err := b.Measure(t.Context(), b.prepare(t, "WRONG=0"), 0)
	if err == nil || !strings.Contains(err.Error(), "reference of gather") ||
		!strings.Contains(err.Error(), "state its range") {
		t.Errorf("got %v", err)
	}
}
