package stats

import (
	"math"
	"slices"
	"testing"
)

func TestQuantile(t *testing.T) {
	samples := []float64{3.1, 0.2, 5.5, 4.4, 1.0, 2.7, 9.9}
	before := slices.Clone(samples)
	for _, test := range []struct{ p, want float64 }{
		// numpy 2.4 quantile, whose default is type 7.
		{0, 0.2}, {0.05, 0.44}, {0.25, 1.85}, {0.5, 3.1}, {0.9, 7.26}, {0.975, 9.24}, {1, 9.9},
	} {
		near(t, "Quantile", Quantile(samples, test.p), test.want, 1e-12)
	}
	if !slices.Equal(samples, before) {
		t.Errorf("Quantile changed its argument to %v", samples)
	}
}

func TestMedian(t *testing.T) {
	for _, test := range []struct {
		samples []float64
		want    float64
	}{
		// By definition.
		{[]float64{7}, 7},
		{[]float64{2, 1}, 1.5},
		{[]float64{9, 1, 5}, 5},
		{[]float64{4, 1, 3, 2}, 2.5},
	} {
		if got := Median(test.samples); got != test.want {
			t.Errorf("Median(%v) = %v, want %v", test.samples, got, test.want)
		}
	}
}

// TestBadSamples asks every function for the answer to no samples, to a value that
// is no number, and to one that is no timing where that matters.
func TestBadSamples(t *testing.T) {
	good := []float64{1, 2, 3}
	all := map[string]func([]float64){
		"Median":           func(s []float64) { Median(s) },
		"Quantile":         func(s []float64) { Quantile(s, 0.5) },
		"Bootstrap.Median": func(s []float64) { Bootstrap(0).Median(s) },
		"MeanInterval":     func(s []float64) { MeanInterval(s, 0.95) },
		"Bootstrap.Block":  func(s []float64) { Bootstrap(0).Block(s) },
		"BlockLength":      func(s []float64) { blockLength(s) },
		"CliffsDelta":      func(s []float64) { CliffsDelta(good, s) },
		"MannWhitney":      func(s []float64) { MannWhitney(good, s) },
	}
	timings := map[string]func([]float64){
		"Speedup":         func(s []float64) { Speedup([][]float64{good}, [][]float64{s}) },
		"SpeedupInterval": func(s []float64) { SpeedupInterval([][]float64{s}, [][]float64{good}, 0.95) },
		"NewContest":      func(s []float64) { NewContest([][][]float64{{good}, {s}}) },
		"MedianInterval":  func(s []float64) { MedianInterval(s, 0.95) },
		"Drift":           func(s []float64) { Drift(s) },
		"RobustCV":        func(s []float64) { RobustCV(s) },
		"ChangePoints":    func(s []float64) { ChangePoints(s, ChangePointOptions{}) },
	}
	for name, call := range timings {
		panics(t, name+" of zero", func() { call([]float64{1, 0, 1}) })
		all[name] = call
	}
	for name, call := range all {
		panics(t, name+" of nothing", func() { call(nil) })
		panics(t, name+" of NaN", func() { call([]float64{1, math.NaN(), 1}) })
		panics(t, name+" of Inf", func() { call([]float64{1, 2, math.Inf(1)}) })
	}
	panics(t, "Quantile above 1", func() { Quantile(good, 1.01) })
	panics(t, "Quantile at NaN", func() { Quantile(good, math.NaN()) })
	panics(t, "Speedup of no processes", func() { Speedup(nil, nil) })
}
