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
	shifted := noisy(1, 10, 20, 0.005, func(i int) float64 {
		if i/20 == 5 {
			return 1.2
		}
		return 1
	})
	flat := noisy(2, 1, 100, 0.005, level(1))
	for name, c := range map[string]struct {
		base, candidate [][]float64
		want            Verdict
		reason          string
	}{
		"equal":       {steady, noisy(3, 10, 20, 0.005, level(1)), NoDifference, "not proven"},
		"10 % slower": {steady, noisy(3, 10, 20, 0.005, level(1.10)), Regression, "more than 6.0 %"},
		"15 % faster": {steady, noisy(3, 10, 20, 0.005, level(0.85)), Improvement, "more than 10.0 %"},
		"5 % slower proves nothing": {steady, noisy(3, 10, 20, 0.005, level(1.05)), Inconclusive,
			"pawl gate measures them together"},
		"1 % slower": {steady, noisy(3, 10, 20, 0.001, level(1.01)), Maintained, "within the limits"},
		"6 processes, 10 % slower": {noisy(1, 6, 20, 0.005, level(1)), noisy(3, 6, 20, 0.005, level(1.10)),
			Regression, "more than 6.0 %"},
		"flat, equal": {flat, noisy(4, 1, 100, 0.005, level(1)), Inconclusive, "six processes or more"},
		"flat, 30 % slower says nothing": {flat, noisy(4, 1, 100, 0.005, level(1.30)), Inconclusive,
			"slower by more than 76.1 % or faster by more than 43.2 % can be distinguished"},
		"flat, a doubling": {flat, noisy(4, 1, 100, 0.005, level(2)), Regression,
			"more than processes of the same code differ"},
		"flat, a halving": {flat, noisy(4, 1, 100, 0.005, level(0.5)), Improvement,
			"more than processes of the same code differ"},
		"three, 60 % slower": {noisy(2, 3, 20, 0.005, level(1)), noisy(4, 3, 20, 0.005, level(1.6)),
			Regression, "slower by more than 38.6 %"},
		"three, 30 % slower says nothing": {noisy(2, 3, 20, 0.005, level(1)), noisy(4, 3, 20, 0.005, level(1.3)),
			Inconclusive, "3 processes a side"},
		"one against many": {flat, noisy(4, 12, 20, 0.005, level(1.3)), Inconclusive, "1 process a side"},
		"a step inside": {flat, noisy(4, 1, 100, 0.005, func(i int) float64 { return 1.5 + 1*float64(i/50) }),
			Inconclusive, "drift: a process of the candidate stepped by"},
		"a slope inside": {noisy(4, 1, 100, 0.005, func(i int) float64 { return 2 + 0.02*float64(i) }), flat,
			Inconclusive, "drift: a process of the baseline differs from itself"},
		"a step between processes": {shifted,
			noisy(4, 12, 20, 0.005, func(i int) float64 { return 1.08 + 0.3*float64(min(1, i/60)) }), Inconclusive,
			"drift: the processes of the candidate became"},
		"drift in every process": {steady, noisy(4, 10, 20, 0.005, func(i int) float64 { return 1 + 0.02*float64(i%20) }),
			Inconclusive, "from their first half to their second"},
		"noise": {noisy(5, 7, 20, 0.3, level(1)), noisy(6, 7, 20, 0.3, level(1)), Inconclusive, "too noisy"},
	} {
		t.Run(name, func(t *testing.T) {
			got := CompareApart(c.base, c.candidate, Presets["standard"], Files)
			if got.Verdict != c.want || !strings.Contains(got.Reason, c.reason) {
				t.Errorf("%s (%s), want %s (%s)", got.Verdict, got.Reason, c.want, c.reason)
			}
			if e := got.Evidence; math.Abs(e.Change) > 0.005 && e.Change > 0 != (e.Candidate.Median < e.Baseline.Median) {
				t.Errorf("the sign is wrong: %+v", e)
			}
		})
	}
}

// Erosion is found also where the best accepted entry is only a memory, beyond twice its
// limit.
func TestStoredErosion(t *testing.T) {
	p := Presets["standard"]
	now := noisy(1, 10, 20, 0.005, level(1))
	c := Comparison{Decision: Decision{Verdict: Maintained}, Candidate: now}
	if far := c.WithStoredErosion(noisy(2, 10, 20, 0.005, level(0.85)), p); far.Verdict != Regression ||
		!strings.Contains(far.Reason, "erosion against the stored samples") || far.Best.Change > -0.1 {
		t.Errorf("%s: %s", far.Verdict, far.Reason)
	}
	if near := c.WithStoredErosion(noisy(2, 10, 20, 0.005, level(0.96)), p); near.Verdict != Maintained {
		t.Errorf("%s: %s", near.Verdict, near.Reason)
	}
	wrong := Comparison{Decision: Decision{Verdict: Wrong}}
	if still := wrong.WithStoredErosion(now, p); still.Verdict != Wrong {
		t.Errorf("%s", still.Verdict)
	}
}

// One or two samples a side are too few for anything, and break nothing.
func TestApartOfVeryLittle(t *testing.T) {
	for _, processes := range [][][]float64{{{1}}, {{1, 1.1}}, {{1}, {1}}} {
		if c := CompareApart(processes, [][]float64{{2}}, Presets["standard"], Files); c.Verdict.Fails() ||
			c.Verdict == Improvement {
			t.Errorf("%v: %s", processes, c.Verdict)
		}
	}
}
