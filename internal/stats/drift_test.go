package stats

import (
	"math"
	"slices"
	"testing"
)

// ramp returns n timings from first to last.
func ramp(n int, first, last float64) []float64 {
	samples := make([]float64, n)
	for i := range samples {
		samples[i] = first + (last-first)*float64(i)/float64(n-1)
	}
	return samples
}

// multiply returns samples with those from index on multiplied by factor.
func multiply(samples []float64, index int, factor float64) []float64 {
	changed := slices.Clone(samples)
	for i := index; i < len(changed); i++ {
		changed[i] *= factor
	}
	return changed
}

func TestDrift(t *testing.T) {
	steady := slices.Repeat([]float64{1}, 60)
	outliers := slices.Clone(steady)
	copy(outliers, []float64{50, 40, 30, 20}) // a cold start
	for _, test := range []struct {
		name    string
		samples []float64
		want    float64
	}{
		// By definition; positive is faster.
		{"steady", steady, 0},
		{"step up in the middle", multiply(steady, 30, 1.07), -0.07},
		{"step up late", multiply(steady, 48, 1.07), -0.07},
		{"step down early", multiply(steady, 12, 0.5), 0.5},
		{"slow first samples", outliers, 0},
		{"two samples", []float64{1, 9}, 0},
		// A ramp from 1 to 1.5 has thirds centered on 1+0.5·9.5/59 and
		// 1+0.5·49.5/59.
		{"ramp", ramp(60, 1, 1.5), -0.5 * 40 / 59 / (1 + 0.5*9.5/59)},
	} {
		near(t, test.name, Drift(test.samples), test.want, 1e-12)
	}
}

func TestTheilSen(t *testing.T) {
	// scipy 1.17.1 stats.theilslopes: 1.0.
	near(t, "slope", theilSen([]float64{1.0, 2.2, 2.9, 4.1, 30, 6.0, 7.2, 7.9}), 1, 1e-12)
	near(t, "slope of many", theilSen(ramp(1000, 5, 5+999*0.25)), 0.25, 1e-9)
	near(t, "slope of one", theilSen([]float64{4}), 0, 0)
}

func TestRobustCV(t *testing.T) {
	random := testSource(47)
	noise := normalSeries(random, 400, 0, 0.02)
	outliers := slices.Clone(noise)
	for i := 0; i < len(outliers); i += 20 {
		outliers[i] *= 10
	}
	drifting := slices.Clone(noise)
	for i := range drifting {
		drifting[i] *= 1 + 0.5*float64(i)/400
	}
	for _, test := range []struct {
		name            string
		samples         []float64
		want, tolerance float64
	}{
		// The noise was made with 2 %; the MAD of 400 has a standard error of 6 %.
		{"noise", noise, 0.02, 0.002},
		{"noise and outliers", outliers, 0.02, 0.003},
		{"noise and a step of 40 %", multiply(noise, 200, 1.4), 0.02, 0.004},
		{"noise and a ramp of 50 %", drifting, 0.02, 0.004},
		{"ramp without noise", ramp(50, 1, 2), 0, 1e-12},
		{"constant", slices.Repeat([]float64{0.1}, 30), 0, 0},
		{"one sample", []float64{3}, 0, 0},
		// Deviations from 3 are 2, 1, 0, 1, 2 and their median 1, but the line
		// takes them away.
		{"five in a row", []float64{1, 2, 3, 4, 5}, 0, 1e-15},
		// No line to remove: deviations 1, 0, 1, 0, 1 over 2 by hand.
		{"by hand", []float64{3, 2, 1, 2, 3}, 1.4826 * 1 / 2, 1e-12},
	} {
		near(t, test.name, RobustCV(test.samples), test.want, test.tolerance)
	}
	if plain := medianDeviation(multiply(noise, 200, 1.4)); plain < 0.1 {
		t.Errorf("the step does not spoil the plain deviation, %v: the test shows nothing", plain)
	}
	if math.IsNaN(RobustCV(noise[:2])) {
		t.Error("RobustCV of two samples is NaN")
	}
}
