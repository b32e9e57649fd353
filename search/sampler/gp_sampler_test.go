package sampler

import (
	"math"
	"testing"

	"pawl/search/sampler/gaussian"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > tolerance {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func TestScaledTimes(t *testing.T) {
	// Logarithms 0, 1, 2, 4: the median is that of e², the scale 2; e⁴ is one
	// scale above and compressed to log 2. The failure stands at the median.
	got := scaledTimes([]float64{1, math.E, failedTime, math.Exp(2), math.Exp(4)})
	for i, want := range []float64{-1, -0.5, 0, 0, math.Ln2} {
		near(t, "a scaled time", got[i], want, 1e-12)
	}
}

func TestClassifierLearnsFromFailures(t *testing.T) {
	pool := kernelPool(t)
	g := newGP(newCommon(pool.Space(), Defaults()), pool.Space())
	view := NewView(pool)
	if g.classifier(view).LogProbability([]uint16{0, 0, 0, 0}) != 0 {
		t.Error("before any failure a point is not certain to work")
	}
	// A corner fails: large blocks with large tiles. One point in three is
	// known.
	fails := func(index int) bool { row := pool.Row(index); return row[0] >= 4 && row[1] >= 2 }
	for i := 0; i < pool.Len(); i += 3 {
		view.Ask(i)
		view.Observe(Observation{Index: i, Failed: fails(i), Milliseconds: 1})
	}
	f := g.classifier(view)
	wrong := 0
	for i := range pool.Len() {
		p := math.Exp(f.LogProbability(gaussian.ValuesOf(g.axes, pool.Row(i))))
		if p < 0 || p > 1 {
			t.Fatalf("the probability is %v", p)
		}
		if view.Free(i) && (p < 0.5) != fails(i) {
			wrong++
		}
	}
	if share := float64(wrong) / float64(view.FreeCount()); share > 0.05 {
		t.Errorf("%.0f %% of the unseen points are on the wrong side", 100*share)
	}
}
