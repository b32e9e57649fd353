package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"pawl/internal/thorough"
)

// permeability is the constant of the human chorioamnion at term, Hollander and
// Wolfe, Nonparametric Statistical Methods, table 4.1.
var permeability = []float64{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46}

func TestBootstrapMedian(t *testing.T) {
	for _, test := range []struct {
		name    string
		samples []float64
		want    Interval
	}{
		// scipy 1.17.1 stats.bootstrap(..., np.median, method='percentile',
		// n_resamples=200000). The bootstrap distribution is discrete, so the ends
		// are midpoints of samples and agree exactly.
		{"even", permeability, Interval{0.83, 1.675}},
		{"odd", permeability[:9], Interval{0.80, 1.89}},
		{"equal", []float64{2, 2, 2}, Interval{2, 2}},
		{"one", []float64{3}, Interval{3, 3}},
	} {
		got := Bootstrap(50000).Median(test.samples)
		near(t, test.name+" low", got.Low, test.want.Low, 1e-12)
		near(t, test.name+" high", got.High, test.want.High, 1e-12)
	}
}

// TestBootstrapMedianAgainstResampling compares with resamples that are built,
// sorted and cut in the middle.
func TestBootstrapMedianAgainstResampling(t *testing.T) {
	random := testSource(7)
	for _, n := range []int{5, 12, 31, 100} {
		samples := make([]float64, n)
		for i := range samples {
			samples[i] = 1 + random.ExpFloat64()
		}
		draws := make([]float64, 20000)
		resample := make([]float64, n)
		for i := range draws {
			for j := range resample {
				resample[j] = samples[random.IntN(n)]
			}
			draws[i] = Median(resample)
		}
		want := Interval{Quantile(draws, 0.025), Quantile(draws, 0.975)}
		got := Bootstrap(20000).Median(samples)
		// An end moves by about a hundredth of the width between seeds.
		tolerance := 0.05 * (want.High - want.Low)
		near(t, "low", got.Low, want.Low, tolerance)
		near(t, "high", got.High, want.High, tolerance)
	}
}

func TestBootstrapDefaults(t *testing.T) {
	samples := []float64{1, 2, 3, 4, 5, 6, 7}
	if got, want := Bootstrap(0).Median(samples), Bootstrap(10000).Median(samples); got != want {
		t.Errorf("%v by default, %v with 10000 draws", got, want)
	}
}

func TestBootstrapMedianCoverage(t *testing.T) {
	for _, test := range []struct {
		name   string
		draw   func(*rand.Rand) float64
		median float64
	}{
		{"normal", func(r *rand.Rand) float64 { return 10 + r.NormFloat64() }, 10},
		{"long tail", func(r *rand.Rand) float64 { return 1 + r.ExpFloat64() }, 1 + math.Ln2},
	} {
		random := testSource(11)
		covered, sets := 0, thorough.Count(100, 400)
		for range sets {
			samples := make([]float64, 50)
			for i := range samples {
				samples[i] = test.draw(random)
			}
			if Bootstrap(2000).Median(samples).Contains(test.median) {
				covered++
			}
		}
		// 95 % within three standard errors, of 400 of 1.1 % each.
		near(t, test.name+": coverage", float64(covered)/float64(sets), 0.95, 0.6/math.Sqrt(float64(sets)))
	}
}

func BenchmarkBootstrapMedian(b *testing.B) {
	samples := normalSeries(testSource(1), 100, 0, 0.01)
	for b.Loop() {
		Bootstrap(0).Median(samples)
	}
}
