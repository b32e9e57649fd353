package stats

import (
	"math"
	"slices"
	"testing"

	"pawl/internal/thorough"
)

func TestPolitisWhite(t *testing.T) {
	for _, test := range []struct {
		n    int
		rho  float64
		want float64
	}{
		// arch 8.0.0 bootstrap.optimal_block_length(series), circular.
		{200, 0.9, 19.443639212111865},
		// The formulas of the paper in numpy 2.4. arch starts the window one lag
		// later than the paper here and says 9.80, 9.17 and 0.50.
		{500, 0.5, 10.039229568271391},
		{150, 0.7, 8.978049193863006},
		{100, 0, 0},
	} {
		near(t, "politisWhite", politisWhite(congruential(test.n, test.rho)), test.want, 1e-9)
	}
}

func TestBlockLength(t *testing.T) {
	for _, test := range []struct {
		name    string
		samples []float64
		want    int
	}{
		{"one sample", []float64{1}, 1},
		{"constant", []float64{2, 2, 2, 2, 2, 2, 2, 2}, 2}, // the cube root
		// The formulas of the paper on signs in numpy 2.4: 17.37 and 0.
		{"autocorrelated", congruential(200, 0.9), 17},
		{"independent", congruential(100, 0), 4}, // the cube root, rounded down
	} {
		if got := blockLength(test.samples); got != test.want {
			t.Errorf("%s: BlockLength = %d, want %d", test.name, got, test.want)
		}
	}
	// An outlier changes neither the signs nor the length.
	series := congruential(200, 0.9)
	want := blockLength(series)
	series[slices.Index(series, slices.Max(series))] = 1e6
	if got := blockLength(series); got != want {
		t.Errorf("BlockLength with an outlier = %d, without %d", got, want)
	}
}

// TestBlockOfOne relies on blocks of one sample being the ordinary bootstrap.
func TestBlockOfOne(t *testing.T) {
	samples := normalSeries(testSource(3), 60, 0, 0.05)
	block, ordinary := Bootstrap(0).blocks(samples, 1), Bootstrap(0).Median(samples)
	tolerance := 0.05 * (ordinary.High - ordinary.Low)
	near(t, "low", block.Low, ordinary.Low, tolerance)
	near(t, "high", block.High, ordinary.High, tolerance)
}

func TestBlockEdges(t *testing.T) {
	samples := []float64{1, 2, 3, 4, 5}
	// A block of the whole circle only rotates it: every resample has the median 3.
	if got := Bootstrap(50).blocks(samples, 5); got != (Interval{3, 3}) {
		t.Errorf("Block of the whole run = %v, want {3 3}", got)
	}
	if got := Bootstrap(50).Block([]float64{7}); got != (Interval{7, 7}) {
		t.Errorf("Block of one sample = %v, want {7 7}", got)
	}
}

func TestRankCountsMedian(t *testing.T) {
	random := testSource(5)
	for range 500 {
		samples := make([]float64, 1+random.IntN(9))
		for i := range samples {
			samples[i] = math.Round(4 * random.Float64())
		}
		counts := newRankCounts(samples)
		var drawn []float64
		for range 1 + random.IntN(12) {
			i := random.IntN(len(samples))
			counts.add(counts.ranks[i : i+1])
			drawn = append(drawn, samples[i])
		}
		if got, want := counts.median(), Median(drawn); got != want {
			t.Fatalf("median of %v by counting = %v, want %v", drawn, got, want)
		}
	}
}

// TestBlockCoverage is the reason for Block: on samples with the autocorrelation
// seen on real devices the ordinary interval is wrong more often than right.
func TestBlockCoverage(t *testing.T) {
	sets := thorough.Count(100, 400)
	for _, test := range []struct {
		rho                         float64
		ordinaryAtMost, blockAtMost float64
		blockAtLeast                float64
	}{
		{0, 0.98, 0.98, 0.91},
		// 200 samples with rho 0.9 are worth about ten: not even blocks reach
		// 95 %, but they come close where independent draws do not.
		{0.9, 0.50, 0.95, 0.75},
	} {
		random := testSource(13)
		bootstrap := Bootstrap(1000)
		var ordinary, block float64
		for range sets {
			samples := normalSeries(random, 200, test.rho, 0.01)
			if bootstrap.Median(samples).Contains(1) {
				ordinary += 1 / float64(sets)
			}
			if bootstrap.Block(samples).Contains(1) {
				block += 1 / float64(sets)
			}
		}
		t.Logf("rho %v: ordinary interval covers %.3f, block %.3f", test.rho, ordinary, block)
		if ordinary > test.ordinaryAtMost {
			t.Errorf("rho %v: the ordinary interval covers %v, more than expected", test.rho, ordinary)
		}
		if block < test.blockAtLeast || block > test.blockAtMost {
			t.Errorf("rho %v: the block interval covers %v, want %v to %v", test.rho, block, test.blockAtLeast, test.blockAtMost)
		}
	}
}

func BenchmarkBootstrapBlock(b *testing.B) {
	samples := normalSeries(testSource(1), 100, 0.9, 0.01)
	for b.Loop() {
		Bootstrap(0).Block(samples)
	}
}

func TestAutocorrelation(t *testing.T) {
	samples := []float64{2, 4, 3, 5, 6, 4, 7, 8, 6, 9}
	for _, test := range []struct {
		samples []float64
		lag     int
		want    float64
	}{
		// The textbook sum in numpy 2.4.
		{samples, 1, 0.3072072072072072},
		{samples, 2, 0.34864864864864864},
		{samples, 3, 0.2189189189189189},
		{congruential(200, 0.9), 1, 0.9005122619198523},
		{congruential(200, 0.9), 10, 0.26406976335858595},
		// By definition.
		{samples, 0, 1},
		{samples, 10, 0},
		{[]float64{0.1, 0.1, 0.1}, 1, 0},
		{[]float64{0.1, 0.1, 0.1}, 0, 1},
		{[]float64{1, -1, 1, -1}, 1, -0.75},
	} {
		near(t, "autocorrelation", autocorrelation(test.samples, test.lag), test.want, 1e-12)
	}
}
