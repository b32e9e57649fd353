package stats

import (
	"math"
	"slices"
	"testing"
)

func TestChangePoints(t *testing.T) {
	random := testSource(53)
	constant := slices.Repeat([]float64{0.05}, 100)
	noise := normalSeries(random, 100, 0, 0.01)
	wander := normalSeries(random, 200, 0.9, 0.01)
	coldStart := slices.Clone(noise)
	copy(coldStart, []float64{9, 5, 3, 2})
	spikes := slices.Clone(noise)
	for _, i := range []int{7, 8, 30, 31, 32, 70, 99} {
		spikes[i] *= 3
	}
	ticks := slices.Clone(noise)
	for i := range ticks {
		ticks[i] = math.Round(ticks[i]/0.005) * 0.005
	}
	for _, test := range []struct {
		name    string
		samples []float64
		want    []int
	}{
		{"constant", constant, nil},
		{"constant, one step", multiply(constant, 40, 1.07), []int{40}},
		{"constant, two steps", multiply(multiply(constant, 40, 1.07), 60, 1/1.07), []int{40, 60}},
		{"noise", noise, nil},
		{"noise, step up of 7 %", multiply(noise, 50, 1.07), []int{50}},
		{"noise, step down of 7 %", multiply(noise, 50, 0.93), []int{50}},
		{"noise, step near the end", multiply(noise, 90, 1.07), []int{90}},
		{"noise, up and down", multiply(multiply(noise, 30, 1.07), 70, 1/1.07), []int{30, 70}},
		{"noise, up and up", multiply(multiply(noise, 30, 1.07), 70, 1.2), []int{30, 70}},
		{"outliers first", coldStart, nil},
		{"outliers first, then a step", multiply(coldStart, 60, 1.07), []int{60}},
		{"spikes", spikes, nil},
		{"spikes and a step", multiply(spikes, 50, 1.1), []int{50}},
		{"coarse timer", ticks, nil},
		{"coarse timer and a step", multiply(ticks, 50, 1.07), []int{50}},
		{"wander", wander, nil},
		{"wander and a step", multiply(wander, 120, 1.07), []int{120}},
		{"smooth ramp", ramp(100, 1, 1.5), nil},
		{"too short to tell", multiply(constant[:12], 6, 2), nil},
		{"one sample", []float64{1}, nil},
		{"a step that does not matter", multiply(constant, 50, 1.005), nil},
	} {
		got := ChangePoints(test.samples, ChangePointOptions{})
		// Noise may move a step by a sample or two.
		same := slices.EqualFunc(got, test.want, func(a, b int) bool { return max(a-b, b-a) <= 2 })
		if !same {
			t.Errorf("%s: change points %v, want %v", test.name, got, test.want)
		}
	}
}

func TestChangePointOptions(t *testing.T) {
	constant := slices.Repeat([]float64{1}, 100)
	small := multiply(constant, 50, 1.005)
	if got := ChangePoints(small, ChangePointOptions{MinimumStep: 0.001}); !slices.Equal(got, []int{50}) {
		t.Errorf("with a minimum step of 0.1 %%: %v, want [50]", got)
	}
	// A plateau of eight samples is a level or an outlier by MinimumLength.
	plateau := multiply(multiply(constant, 40, 2), 48, 0.5)
	if got := ChangePoints(plateau, ChangePointOptions{}); !slices.Equal(got, []int{40, 48}) {
		t.Errorf("plateau of 8: %v, want [40 48]", got)
	}
	if got := ChangePoints(plateau, ChangePointOptions{MinimumLength: 10}); got != nil {
		t.Errorf("plateau of 8 with a minimum length of 10: %v, want none", got)
	}
	panics(t, "negative length", func() { ChangePoints(constant, ChangePointOptions{MinimumLength: -1}) })
	panics(t, "negative step", func() { ChangePoints(constant, ChangePointOptions{MinimumStep: -1}) })
}

// TestChangePointRates holds the rates that the documentation promises.
func TestChangePointRates(t *testing.T) {
	const sets = 200
	for _, test := range []struct {
		rho                   float64
		falseAtMost, hitsFrom float64
	}{
		{0, 0.015, 0.98},
		{0.5, 0.02, 0.90},
		{0.9, 0.03, 0.90},
		{0.97, 0.03, 0.90},
	} {
		random, alarms, hits := testSource(59), 0.0, 0.0
		for range sets {
			samples := normalSeries(random, 100, test.rho, 0.01)
			if len(ChangePoints(samples, ChangePointOptions{})) > 0 {
				alarms += 1. / sets
			}
			stepped := ChangePoints(multiply(samples, 60, 1.07), ChangePointOptions{})
			if len(stepped) == 1 && stepped[0] >= 58 && stepped[0] <= 62 {
				hits += 1. / sets
			}
		}
		t.Logf("rho %v: false alarms %.3f, steps of 7 %% found %.3f", test.rho, alarms, hits)
		if alarms > test.falseAtMost {
			t.Errorf("rho %v: false alarms in %v of the runs, want at most %v", test.rho, alarms, test.falseAtMost)
		}
		if hits < test.hitsFrom {
			t.Errorf("rho %v: steps found in %v of the runs, want at least %v", test.rho, hits, test.hitsFrom)
		}
	}
}

func BenchmarkChangePoints(b *testing.B) {
	for name, n := range map[string]int{"100": 100, "10000": 10000} {
		samples := normalSeries(testSource(1), n, 0.5, 0.01)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				ChangePoints(samples, ChangePointOptions{})
			}
		})
	}
}
