package stats

import (
	"encoding/json"
	"math"
	"testing"
)

func TestCV(t *testing.T) {
	for _, test := range []struct {
		name    string
		samples []float64
		want    float64
	}{
		{"one sample", []float64{3}, 0},
		{"equal samples", []float64{2, 2, 2}, 0},
		// Mean 2, squares 1+0+1, over n-1 = 2: a standard deviation of 1.
		{"1, 2, 3", []float64{1, 2, 3}, 0.5},
	} {
		if got := CV(test.samples); math.Abs(got-test.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
	// Two levels: the robust one takes the step away, the plain one must not.
	var steps []float64
	for i := range 40 {
		level := 1.0
		if i >= 20 {
			level = 3
		}
		steps = append(steps, level+0.01*float64(i%3))
	}
	if plain, robust := CV(steps), RobustCV(steps); plain < 0.4 || robust > 0.1 {
		t.Errorf("plain %v, robust %v", plain, robust)
	}
}

func TestIntervalAsJSON(t *testing.T) {
	for _, test := range []struct {
		interval Interval
		want     string
	}{{Interval{1, 2}, `{"low":1,"high":2}`}, {Unbounded(), `{"low":null,"high":null}`}} {
		encoded, err := json.Marshal(test.interval)
		if err != nil || string(encoded) != test.want {
			t.Errorf("%s, %v", encoded, err)
		}
		var read Interval
		if err := json.Unmarshal(encoded, &read); err != nil || read != test.interval {
			t.Errorf("read as %+v, %v", read, err)
		}
	}
	var read Interval
	if err := json.Unmarshal([]byte(`{"low":"x"}`), &read); err == nil {
		t.Error("text was taken for a number")
	}
}

func TestMeanInterval(t *testing.T) {
	// 1, 2, 3: the deviation is 1, its error 1/√3, and Student's quantile for two degrees of freedom 4.302653.
	got := MeanInterval([]float64{1, 2, 3}, 0.95)
	near(t, "low", got.Low, 2-4.302653/math.Sqrt(3), 1e-6)
	near(t, "high", got.High, 2+4.302653/math.Sqrt(3), 1e-6)
	if one := MeanInterval([]float64{4}, 0.95); one != (Interval{4, 4}) {
		t.Errorf("one sample: %v", one)
	}
	panics(t, "level 1", func() { MeanInterval([]float64{1, 2}, 1) })
}
