package gate

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// noisy returns processes of samples round a time that may depend on the sample's
// number.
func noisy(seed uint64, processes, samples int, noise float64, time func(i int) float64) [][]float64 {
	random := rand.New(rand.NewPCG(seed, 5))
	all := make([][]float64, processes)
	for p := range all {
		for i := range samples {
			all[p] = append(all[p], time(p*samples+i)*math.Exp(noise*random.NormFloat64()))
		}
	}
	return all
}

func level(milliseconds float64) func(int) float64 { return func(int) float64 { return milliseconds } }

func TestApart(t *testing.T) {
	steady := noisy(1, 10, 20, 0.005, level(1))
	flat := noisy(2, 1, 100, 0.005, level(1))
	for name, c := range map[string]struct {
		base, candidate [][]float64
		want            Verdict
		reason          string
	}{
		"equal":                           {steady, noisy(3, 10, 20, 0.005, level(1)), NoDifference, "overlap"},
		"10 % slower":                     {steady, noisy(3, 10, 20, 0.005, level(1.10)), Regression, "more than 6.0 %"},
		"15 % faster":                     {steady, noisy(3, 10, 20, 0.005, level(0.85)), Improvement, "more than 10.0 %"},
		"5 % slower proves nothing":       {steady, noisy(3, 10, 20, 0.005, level(1.05)), Inconclusive, "pawl gate measures them together"},
		"1 % slower":                      {steady, noisy(3, 10, 20, 0.001, level(1.01)), Maintained, "within the limits"},
		"flat, equal":                     {flat, noisy(4, 1, 100, 0.005, level(1)), NoDifference, "overlap"},
		"flat, 8 % slower proves nothing": {flat, noisy(4, 1, 100, 0.005, level(1.08)), Inconclusive, "fewer than 6 processes"},
		"flat, 12 % slower":               {flat, noisy(4, 1, 100, 0.005, level(1.12)), Regression, "more than 9.0 %"},
		"a step":                          {flat, noisy(4, 1, 100, 0.005, func(i int) float64 { return 1.1 + 0.2*float64(i/50) }), Inconclusive, "drift: the candidate stepped by"},
		"a slope":                         {noisy(4, 1, 100, 0.005, func(i int) float64 { return 1 + 0.002*float64(i) }), flat, Inconclusive, "drift: the baseline drifted"},
		"noise":                           {noisy(5, 7, 20, 0.3, level(1)), noisy(6, 7, 20, 0.3, level(1)), Inconclusive, "too noisy"},
	} {
		t.Run(name, func(t *testing.T) {
			got := CompareApart(quick, c.base, c.candidate, Presets["standard"], Files)
			if got.Verdict != c.want || !strings.Contains(got.Reason, c.reason) {
				t.Errorf("%s (%s), want %s (%s)", got.Verdict, got.Reason, c.want, c.reason)
			}
			if e := got.Evidence; e.Change > 0 != (e.Candidate.Median < e.Baseline.Median) {
				t.Errorf("the sign is wrong: %+v", e)
			}
		})
	}
}

// Erosion is found also where the oldest release is only a memory, beyond twice its
// limit.
func TestStoredErosion(t *testing.T) {
	p := Presets["standard"]
	now := noisy(1, 10, 20, 0.005, level(1))
	c := Comparison{Decision: Decision{Verdict: Maintained}, Candidate: now}
	if far := c.WithStoredErosion(quick, noisy(2, 10, 20, 0.005, level(0.85)), p); far.Verdict != Regression || !strings.Contains(far.Reason, "erosion against the stored samples") || far.Oldest.Change > -0.1 {
		t.Errorf("%s: %s", far.Verdict, far.Reason)
	}
	if near := c.WithStoredErosion(quick, noisy(2, 10, 20, 0.005, level(0.96)), p); near.Verdict != Maintained {
		t.Errorf("%s: %s", near.Verdict, near.Reason)
	}
	wrong := Comparison{Decision: Decision{Verdict: Wrong}}
	if still := wrong.WithStoredErosion(quick, now, p); still.Verdict != Wrong {
		t.Errorf("%s", still.Verdict)
	}
}

// One or two samples a side are too few for anything, and break nothing.
func TestApartOfVeryLittle(t *testing.T) {
	for _, processes := range [][][]float64{{{1}}, {{1, 1.1}}, {{1}, {1}}} {
		if c := CompareApart(quick, processes, [][]float64{{2}}, Presets["standard"], Files); c.Verdict.Fails() || c.Verdict == Improvement {
			t.Errorf("%v: %s", processes, c.Verdict)
		}
	}
}
