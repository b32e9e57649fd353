package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
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
		got := Bootstrap{Resamples: 50000}.Median(test.samples)
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
		got := Bootstrap{Resamples: 20000}.Median(samples)
		// An end moves by about a hundredth of the width between seeds.
		tolerance := 0.05 * (want.High - want.Low)
		near(t, "low", got.Low, want.Low, tolerance)
		near(t, "high", got.High, want.High, tolerance)
	}
}

func TestBootstrapDefaults(t *testing.T) {
	samples := normalSeries(testSource(1), 40, 0, 0.05)
	explicit := Bootstrap{Resamples: 10000, Level: 0.95, Seed: 42}
	if got, want := (Bootstrap{}).Median(samples), explicit.Median(samples); got != want {
		t.Errorf("zero value gives %v, documented defaults %v", got, want)
	}
	if first, second := explicit.Block(samples, 3), explicit.Block(samples, 3); first != second {
		t.Errorf("one seed gave %v, then %v", first, second)
	}
	if same := explicit.Block(samples, 3) == (Bootstrap{Seed: 43}).Block(samples, 3); same {
		t.Error("the seed is not used")
	}
	wide, narrow := Bootstrap{Level: 0.99}.Median(samples), Bootstrap{Level: 0.5}.Median(samples)
	if wide.Low > narrow.Low || wide.High < narrow.High || wide == narrow {
		t.Errorf("the 99 %% interval %v is not wider than the 50 %% interval %v", wide, narrow)
	}
	panics(t, "level 1", func() { Bootstrap{Level: 1}.Median(samples) })
	panics(t, "level below 0", func() { Bootstrap{Level: -0.5}.Median(samples) })
	panics(t, "negative resamples", func() { Bootstrap{Resamples: -1}.Median(samples) })
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
		covered := 0
		for range 400 {
			samples := make([]float64, 50)
			for i := range samples {
				samples[i] = test.draw(random)
			}
			if (Bootstrap{Resamples: 2000}).Median(samples).Contains(test.median) {
				covered++
			}
		}
		// 95 % of 400 within three standard errors of 1.1 %.
		near(t, test.name+": coverage", float64(covered)/400, 0.95, 0.03)
	}
}

// spatial is the A column of the spatial test data of Efron and Tibshirani, An
// Introduction to the Bootstrap (1993), table 14.1.
var spatial = []float64{48, 36, 20, 29, 42, 42, 20, 42, 22, 41, 45, 14, 6, 0, 33, 28, 34, 4, 32, 24, 47, 41, 24, 26,
	30, 41}

func variance(samples []float64) float64 {
	_, squares := meanAndSquares(samples)
	return squares / float64(len(samples))
}

func TestBCa(t *testing.T) {
	// Table 14.2 of the same book: variance 171.5, acceleration 0.061, and 90 %
	// BCa interval (115.8, 259.6) from 2000 resamples; scipy 1.17.1
	// stats.bootstrap(..., n_resamples=200000) gives (115.4, 260.3).
	near(t, "variance", variance(spatial), 171.5, 0.05)
	near(t, "acceleration", jackknifeAcceleration(spatial, variance), 0.061, 0.0005)
	got := Bootstrap{Resamples: 50000, Level: 0.9}.BCa(spatial, variance)
	near(t, "low", got.Low, 115.4, 1.5)
	near(t, "high", got.High, 260.3, 1.5)

	// scipy 1.17.1, mean of permeability, 95 %, 200000 resamples.
	got = Bootstrap{Resamples: 50000}.BCa(permeability, func(s []float64) float64 {
		mean, _ := meanAndSquares(s)
		return mean
	})
	near(t, "low of mean", got.Low, 1.052, 0.01)
	near(t, "high of mean", got.High, 1.568, 0.01)
}

func TestBiasCorrection(t *testing.T) {
	// Shares below with ties as a half: 2 of 4, 1 of 4, and none of 4, which is
	// taken as half a draw of 4. Quantiles by scipy 1.17.1 norm.ppf.
	draws := []float64{1, 2, 2, 3}
	near(t, "ties on both sides", biasCorrection(draws, 2), 0, 1e-12)
	near(t, "one below", biasCorrection(draws, 1.5), -0.6744897501960817, 1e-9)
	near(t, "none below", biasCorrection(draws, 0), -1.1503493803760079, 1e-9)
}

func TestBCaDegenerate(t *testing.T) {
	for _, samples := range [][]float64{{4}, {4, 4, 4}} {
		if got := (Bootstrap{Resamples: 100}).BCa(samples, Median); got != (Interval{4, 4}) {
			t.Errorf("BCa(%v) = %v, want no width", samples, got)
		}
	}
	// A statistic that no resample exceeds has an infinite bias correction unless
	// it is bounded.
	got := Bootstrap{Resamples: 1000}.BCa(permeability, slices.Max)
	if !(got.Low <= got.High) || got.High > 1.91 {
		t.Errorf("BCa of the maximum = %v", got)
	}
	// Past the pole of the transformation.
	if got := adjustedShare(0.975, 1, 0.5); got != 1 {
		t.Errorf("adjustedShare past the upper pole = %v, want 1", got)
	}
	if got := adjustedShare(0.025, -1, -0.5); got != 0 {
		t.Errorf("adjustedShare past the lower pole = %v, want 0", got)
	}
	panics(t, "a statistic that is NaN", func() {
		Bootstrap{Resamples: 10}.BCa(permeability, func([]float64) float64 { return math.NaN() })
	})
}

func BenchmarkBootstrapMedian(b *testing.B) {
	samples := normalSeries(testSource(1), 100, 0, 0.01)
	for b.Loop() {
		Bootstrap{}.Median(samples)
	}
}
