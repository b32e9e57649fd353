package host_test

import (
	"math"
	"strings"
	"testing"

	"pawl/objective/check"
	"pawl/objective/host"
)

// halfway is off by half of its tolerance at the first element, or not at all.
var halfway = map[string]string{
	"kernel.yaml": `
name: halfway
entry: halfway
source: {host: halfway.c}
reference: {host: reference.c}
params:
  OFF: {values: [0, 1], default: 0}
workloads:
  small: {N: 1000}
args:
  - {name: x, type: f32, shape: [N], fill: uniform, families: [uniform, signs]}
  - {name: y, type: f32, shape: [N], out: true}
  - {name: N, type: i32, value: N}
fuzz: {N: [2, 7, 64]}
tolerance: {atol: 1e-4, rtol: 0}
`,
	"halfway.c": "#include <stdint.h>\nvoid halfway(const float *x, float *y, int32_t N) { for (int i = 0; i < N; " +
		"i++) y[i] = 2 * x[i]; if (OFF) y[0] += 5e-5f; }\n",
	"reference.c": "#include <stdint.h>\nvoid halfway(const float *x, float *y, int32_t N) { for (int i = 0; i < N; " +
		"i++) y[i] = (float)(2.0 * x[i]); }\n",
}

// What was checked travels with the first samples that follow, once.
func TestEvidenceOfTheFullTier(t *testing.T) {
	b := open(t, halfway, host.Options{})
	for point, want := range map[string]float64{"OFF=0": 0, "OFF=1": 0.5} {
		p := b.prepare(t, point)
		if failure, err := b.Verify(t.Context(), p); failure != nil || err != nil {
			t.Fatal(failure, err)
		}
		outcome, err := b.Sample(t.Context(), p, 2)
		if err != nil || outcome.Evidence == nil {
			t.Fatalf("%s: no evidence: %+v, %v", point, outcome, err)
		}
		e := outcome.Evidence
		if cases := b.Tester.FullCases(p.Point); len(e.Cases) != len(cases) || e.Cases[0].String() != cases[0].String() {
			t.Errorf("%s: %d cases, want %d", point, len(e.Cases), len(cases))
		}
		if math.Abs(e.Worst-want) > 0.01 || (e.At == nil) != (want == 0) {
			t.Errorf("%s: worst %v at %v, want %v", point, e.Worst, e.At, want)
		}
		if e.Tolerance != b.kernel.Tolerance || len(e.Layouts()) != 3 || len(e.Seeds()) < 10 {
			t.Errorf("%s: %+v", point, e)
		}
		shapes, families := strings.Join(e.Shapes(), " "), strings.Join(e.Families(), " ")
		for _, shape := range []string{"N=2", "N=7", "N=64", "N=1000"} {
			if !strings.Contains(shapes, shape) {
				t.Errorf("%s: %s is not among the shapes %s", point, shape, shapes)
			}
		}
		for _, family := range []string{"declared", "signs"} {
			if !strings.Contains(families, family) {
				t.Errorf("%s: %s is not among the families %s", point, family, families)
			}
		}
		if again, err := b.Sample(t.Context(), p, 2); err != nil || again.Evidence != nil {
			t.Errorf("%s: recorded twice: %+v, %v", point, again.Evidence, err)
		}
	}
}

// Evidence of parts is that of the whole; what is checked twice counts once.
func TestEvidenceJoins(t *testing.T) {
	var none *check.Evidence
	b := open(t, halfway, host.Options{})
	p := b.prepare(t, "OFF=1")
	cases := b.Tester.FullCases(p.Point)
	part := func(from, to int) *check.Evidence {
		finding, err := b.Tester.Try(t.Context(), p, func(yield func(check.Case) bool) {
			for _, c := range cases[from:to] {
				if !yield(c) {
					return
				}
			}
		}, nil)
		if err != nil || finding.Failure != nil {
			t.Fatal(finding.Failure, err)
		}
		return finding.Evidence
	}
	first, second := part(0, 4), part(2, 6)
	joined := first.Join(second)
	if len(joined.Cases) != 6 || joined.Worst != max(first.Worst, second.Worst) || len(first.Cases) != 4 {
		t.Errorf("%d cases, worst %v", len(joined.Cases), joined.Worst)
	}
	if none.Join(first) != first || first.Join(nil) != first || none.Join(nil) != nil {
		t.Error("joining with nothing changes something")
	}
}

// Every run has a full tier of its own, so that no kernel is made for it; the quick one is that of the seed.
func TestFullTiersDiffer(t *testing.T) {
	one, other := open(t, cheatingFiles, host.Options{}), open(t, cheatingFiles, host.Options{})
	point := one.at(t, "MODE=good")
	full, again := one.Tester.FullCases(point), other.Tester.FullCases(point)
	if full[len(full)-1].String() == again[len(again)-1].String() {
		t.Errorf("two runs check %s", full[len(full)-1])
	}
	quick := one.Tester.QuickCases(point)
	if last := quick[len(quick)-1].String(); last != one.Tester.WorkloadCase().String() ||
		last != other.Tester.WorkloadCase().String() {
		t.Errorf("the workload is checked on %s", last)
	}
}
