package host_test

import (
	"strings"
	"testing"

	"pawl/internal/thorough"
	"pawl/objective"
	"pawl/objective/check"
	"pawl/objective/host"
	"pawl/objective/worker"
)

// changing has two functions with scratch between them that change an argument, add to
// another, and read variables of their source. Its modes do some of it wrong.
var changing = map[string]string{"kernel.yaml": `name: changing
entry: changing
source: {host: changing.c}
reference: {host: reference.c}
params:
  MODE: {values: [good, wrong, once, idle_when_timed, no_scratch, past_scratch, past_copy, writes_symbol, short_symbol], default: good}
workloads: {small: {N: 1000}}
args:
  - {name: x, type: f32, shape: [N]}
  - {name: scale, type: f32, shape: [2], fill: uniform, symbol: factors}
  - {name: between, type: f32, shape: [N], scratch: true}
  - {name: counts, type: u32, shape: [8], out: true, init: 3}
  - {name: v, type: c64, shape: [N], inout: true, fill: uniform, tolerance: {atol: 1e-5, rtol: 1e-5}}
  - {name: N, type: i32, value: N}
  - {name: more, type: i32, value: 2, symbol: shift}
launch:
  - {entry: first, args: [x, between, N]}
  - {entry: second, args: [v, between, counts, N]}
fuzz: {N: [1, 7, 100]}
tolerance: {atol: 0, rtol: 0}
`, "changing.c": `#include <stdint.h>
enum { good, wrong, once, idle_when_timed, no_scratch, past_scratch, past_copy, writes_symbol, short_symbol };
float factors[MODE == short_symbol ? 1 : 2];
int32_t shift;
static int calls;
typedef struct { float re, im; } complex64;

void first(const float *x, float *between, int32_t N) {
	for (int i = 0; i < N && MODE != no_scratch; i++) between[i] = x[i] * factors[0];
	if (MODE == past_scratch) between[N] = 1;
}

void second(complex64 *v, const float *between, uint32_t *counts, int32_t N) {
	/* The checks before the timing take twelve calls: six cases twice. */
	static complex64 *seen;
	int timed = ++calls > 12;
	if (MODE == idle_when_timed && timed) return;
	if (MODE == once && seen == v) return;
	seen = v;
	for (int i = 0; i < N; i++) {
		v[i].re += between[i];
		v[i].im += MODE == short_symbol ? 0 : factors[1] * shift;
		counts[i % 8]++;
	}
	if (MODE == wrong) counts[3]++;
	if (MODE == past_copy && timed) v[N].re = 1;
	if (MODE == writes_symbol) factors[1] += 1;
}
`, "reference.c": `#include <stdint.h>
void changing(const float *x, const float *scale, uint32_t *counts, float (*v)[2], int32_t N, int32_t more) {
	for (int i = 0; i < N; i++) {
		v[i][0] = (float)((double)v[i][0] + (double)x[i] * scale[0]);
		v[i][1] = (float)((double)v[i][1] + (double)scale[1] * more);
		counts[i % 8]++;
	}
}
`}

// What a kernel changes is there afresh for every launch, in checks and in samples of many
// launches, and counters start at their number.
func TestKernelThatChangesItsArguments(t *testing.T) {
	b := open(t, changing, host.Options{})
	p := b.prepare(t, "MODE=good")
	for range thorough.Count(1, 3) {
		outcome, err := b.Sample(t.Context(), p, 5)
		if err != nil || outcome.Failure != nil || len(outcome.Samples) != 5 || outcome.Batch < 2 {
			t.Fatalf("%+v, %v", outcome, err)
		}
	}
	if failure, err := b.Verify(t.Context(), p); failure != nil || err != nil {
		t.Errorf("%v, %v", failure, err)
	}
}

// A kernel that is right only the first time, or only where it is checked, does not win.
func TestKernelsThatChangeTheWrongThings(t *testing.T) {
	b := open(t, changing, host.Options{})
	for mode, want := range map[string]struct {
		stage  objective.Stage
		reason worker.FaultKind
		detail string
	}{
		"wrong":           {objective.Fuzz, check.WrongResult, "counts[3] is "},
		"once":            {objective.Fuzz, check.WrongResult, "counts[0] is 3, the reference says "},
		"no_scratch":      {objective.Fuzz, check.WrongResult, "v["},
		"past_scratch":    {objective.Fuzz, worker.OutOfBounds, "past the end of between"},
		"idle_when_timed": {objective.Bench, worker.WrongWhenTimed, "counts[0] is 3"},
		"past_copy":       {objective.Bench, worker.OutOfBounds, "past the end of v"},
		"writes_symbol":   {objective.Fuzz, worker.InputModified, "factors"},
		"short_symbol":    {objective.Fuzz, worker.Unloadable, "the variable factors has 4 bytes, argument scale 8"},
	} {
		if spares(mode, "wrong", "no_scratch", "past_copy") {
			continue
		}
		failure := b.measure(t, "MODE="+mode, 0).Failure
		if failure == nil || failure.Stage != want.stage || failure.Reason != string(want.reason) ||
			!strings.Contains(failure.Detail, want.detail) {
			t.Errorf("%s: %v, want %s %s: %s", mode, failure, want.stage, want.reason, want.detail)
		}
	}
}
