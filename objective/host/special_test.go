package host_test

import (
	"slices"
	"strings"
	"testing"

	"pawl/objective/check"
	"pawl/objective/host"
)

// positive keeps what is not negative. Its modes do that wrong where most inputs do not show it.
var positive = map[string]string{
	"kernel.yaml": `name: positive
entry: positive
source: {host: positive.c}
reference: {host: reference.c}
params: {MODE: {values: [good, no_number, infinity, empty, bias], default: good}}
workloads: {small: {N: 1000}}
domain: [N >= 0]
args:
  - {name: x, type: f32, shape: [N], families: [normal, special]}
  - {name: y, type: f32, shape: [N], out: true}
  - {name: N, type: i32, value: N}
fuzz: {N: [50, 70, 100]}
tolerance: {atol: 1e-3, rtol: 0}
`,
	"positive.c": `#include <stdint.h>
enum { good, no_number, infinity, empty, bias };
void positive(const float *x, float *y, int32_t N) {
	for (int i = 0; i < N; i++) {
		y[i] = x[i] < 0 ? 0 : x[i];
		if (MODE == no_number && !(x[i] >= 0)) y[i] = 0;
		if (MODE == infinity && x[i] > 1e30f) y[i] = 1e30f;
		if (MODE == bias) y[i] += 0.00096f;
	}
	if (MODE == empty && N == 0) __builtin_trap();
}
`,
	"reference.c": `#include <stdint.h>
void positive(const float *x, float *y, int32_t N) { for (int i = 0; i < N; i++) y[i] = x[i] < 0 ? 0 : x[i]; }
`,
}

// What is no number, and a size of 0, is checked where the manifest says that it is right.
func TestSpecialNumbersAndNoElements(t *testing.T) {
	b := open(t, positive, host.Options{})
	full := b.Tester.FullCases(b.prepare(t, "MODE=good").Point)
	if !slices.ContainsFunc(full, func(c check.Case) bool { return c.Dims["N"] == 0 }) {
		t.Error("no case has no elements")
	}
	for mode, want := range map[string]string{
		"good": "", "no_number": "is 0, the reference says NaN", "infinity": "the reference says +Inf", "empty": "at N=0",
	} {
		failure, err := b.Verify(t.Context(), b.prepare(t, "MODE="+mode))
		if err != nil || (failure == nil) != (want == "") || failure != nil && !strings.Contains(failure.Detail, want) {
			t.Errorf("%s: %v, %v, want %q", mode, failure, err, want)
		}
	}
}

// Errors that are within the tolerance and do not cancel are named, and so is what raises no magnitudes.
func TestSystematicErrorsAreNamed(t *testing.T) {
	b := open(t, positive, host.Options{})
	p := b.prepare(t, "MODE=bias")
	if failure, err := b.Verify(t.Context(), p); failure != nil || err != nil {
		t.Fatalf("%v, %v", failure, err)
	}
	want := "the errors of y are systematic: on average +96 % of the tolerance"
	if note := b.Tester.Note(p.Point); !strings.Contains(note, want) {
		t.Error(note)
	}
	if note := b.Tester.Note(b.prepare(t, "MODE=good").Point); strings.Contains(note, "systematic") {
		t.Error(note)
	}
}

// What the evidence lacks is named in it.
func TestEvidenceNamesWhatWasNotRaised(t *testing.T) {
	for large, want := range map[string]string{
		"":            "larger magnitudes of x were not checked; large would have it checked with them",
		", large: 16": "",
	} {
		files := map[string]string{"positive.c": positive["positive.c"], "reference.c": positive["reference.c"],
			"kernel.yaml": strings.Replace(positive["kernel.yaml"], ", families: [normal, special]", large, 1)}
		b := open(t, files, host.Options{})
		p := b.prepare(t, "MODE=good")
		finding, err := b.Tester.TryQuick(t.Context(), p)
		if err != nil || finding.Failure != nil || finding.Evidence.Unscaled != want {
			t.Errorf("%q: %+v, %v", large, finding, err)
		}
	}
}
