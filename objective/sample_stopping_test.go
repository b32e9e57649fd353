package objective

import (
	"math/rand/v2"
	"testing"
	"time"
)

// feed runs the rule on a stream until it stops.
func feed(s Stopping, incumbent float64, next func(i int) float64, each time.Duration) (Stop, int) {
	var samples []float64
	for i := 0; ; i++ {
		samples = append(samples, next(i))
		if len(samples)%5 == 0 {
			if stop := s.Decide(samples, incumbent, time.Duration(len(samples))*each); stop != "" {
				return stop, len(samples)
			}
		}
		if i > 100_000 {
			return "never", i
		}
	}
}

func TestStoppingOnStreams(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	noise := func(sd float64) func(int) float64 {
		return func(int) float64 { return 1 + sd*rng.Float64() }
	}
	for _, test := range []struct {
		name      string
		incumbent float64
		next      func(int) float64
		each      time.Duration
		want      Stop
		atMost    int
	}{
		{"constant", 0, func(int) float64 { return 1 }, time.Millisecond, Precise, 5},
		{"quiet", 0, noise(0.02), time.Millisecond, Precise, 15},
		{"never precise", 0, noise(5), time.Millisecond, Ceiling, 50},
		{"slow and noisy", 0, noise(5), 50 * time.Millisecond, OutOfTime, 15},
		{"hopeless", 0.5, noise(0.02), time.Millisecond, Hopeless, 5},
		{"a little behind", 0.9, noise(0.02), time.Millisecond, Precise, 15},
		{"noisy, with one sample near the incumbent", 0.9, func(i int) float64 {
			if i == 2 {
				return 1
			}
			return 3 + float64(i%7)
		}, time.Millisecond, Ceiling, 50},
	} {
		t.Run(test.name, func(t *testing.T) {
			stop, n := feed(Stopping{}, test.incumbent, test.next, test.each)
			if stop != test.want || n > test.atMost {
				t.Errorf("%s after %d samples, want %s after at most %d", stop, n, test.want, test.atMost)
			}
		})
	}
}

// Any number of launches ends it where each takes far longer than the incumbent.
func TestFirstLook(t *testing.T) {
	for _, test := range []struct {
		samples []float64
		want    Stop
	}{
		{nil, ""},
		{[]float64{1.6, 1.9, 1.7}, Hopeless},
		{[]float64{1.6, 1.9, 1.4}, ""},                 // one is near enough to go on
		{[]float64{1.4, 1.4, 1.4}, ""},                 // too few for a decision
		{[]float64{1.4, 1.4, 1.4, 1.4, 1.4}, Hopeless}, // enough for one by 25 %
	} {
		if stop := (Stopping{}).Decide(test.samples, 1, 0); stop != test.want {
			t.Errorf("%v: %q, want %q", test.samples, stop, test.want)
		}
		if stop := (Stopping{}).Decide(test.samples, 0, 0); stop == Hopeless {
			t.Errorf("%v is hopeless without an incumbent", test.samples)
		}
	}
	many := Stopping{Floor: 10}
	if stop, limit := many.Decide([]float64{9, 9, 9}, 1, 0), many.limit(1); stop != "" || limit != 0 {
		t.Errorf("ten samples are asked for: %q, limit %g", stop, limit)
	}
	if limit := (Stopping{Floor: 5}).limit(2); limit != 3 {
		t.Errorf("the limit is %g", limit)
	}
}

// Where a device throws away what it measures under a slowed clock, there may be a
// few samples and never one more.
func TestFewSamplesAndNeverMore(t *testing.T) {
	for _, samples := range [][]float64{{1}, {1, 2}, {1, 1, 1, 1}} {
		if stop := (Stopping{}).Decide(samples, 0, time.Second); stop != "" {
			t.Errorf("%d samples after a second: %s", len(samples), stop)
		}
		if stop := (Stopping{}).Decide(samples, 0, 3*time.Second); stop != OutOfTime {
			t.Errorf("%d samples after three seconds: %q", len(samples), stop)
		}
	}
}
