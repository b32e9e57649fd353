package page

import (
	"math"
	"testing"

	"pawl/internal/stats"
)

func TestUnits(t *testing.T) {
	for got, want := range map[string]string{
		Milliseconds(0):          "~",
		Milliseconds(math.NaN()): "~",
		Milliseconds(1.2345e-5):  "12.35 ns",
		Milliseconds(0.001):      "1 µs",
		Milliseconds(0.98765):    "987.6 µs",
		Milliseconds(1):          "1 ms",
		Milliseconds(1234.5):     "1.234 s",
		Percent(0.0321):          "3.2 %",
		WholePercent(0.995):      "100 %",
		Change(-0.0321):          "-3.2 %",
		Change(0.5):              "+50.0 %",
		TimeInterval(stats.Interval{Low: 0.5, High: 2}):        "500 µs to 2 ms",
		TimeInterval(stats.Unbounded()):                        "too few runs",
		RatioInterval(stats.Interval{Low: 1, High: 2}):         "1.00 to 2.00",
		ChangeInterval(stats.Interval{Low: -0.01, High: 0.02}): "-1.0 % to +2.0 %",
		Bytes(48 << 10): "48 KiB", Bytes(100): "100 bytes", Bytes(5 << 29): "2.5 GiB",
		Rate(16384): "16384", Rate(0.5): "0.5", Rate(2e12): "2 T",
		Seconds(61.26):                           "1m1.3s",
		Count(1, "seed"):                         "1 seed",
		Count(0, "seed"):                         "0 seeds",
		Count(2, "family", "families of inputs"): "2 families of inputs",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestFigure(t *testing.T) {
	for value, want := range map[float64]string{
		0: "0", 0.5: "0.5", 8.71: "8.71", 99.96: "100", 1925: "1925", 17.8e6: "17.8 million", 538.4e6: "538 million",
		2.2146e9: "2.21 billion", -3e6: "-3 million",
		999.7e6: "1000 million", 4e15: "4 million billion", 2.5e-5: "0.0000250", math.Inf(1): "+Inf",
	} {
		if got := Figure(value); got != want {
			t.Errorf("%v: %s, want %s", value, got, want)
		}
	}
}

func TestDrift(t *testing.T) {
	for _, c := range []struct {
		change, noise float64
		want          string
	}{
		{0.02, 0.001, ""}, {-0.25, 0.3, ""}, {3, 4, ""},
		{0.08, 0.01, "became 8 % faster: what is timed changes, or the machine does"},
		{-3.37, 0.48, "became 337 % slower: what is timed changes, or the machine does"},
	} {
		if got := Drift(c.change, c.noise); got != c.want {
			t.Errorf("%v within %v: %q", c.change, c.noise, got)
		}
	}
}

// Three samples have no noise beside a level and a slope: 0 would read as a steady machine.
func TestFewSamplesHaveNoRobustCV(t *testing.T) {
	if three, four := RobustCV("0 %", 3), RobustCV("0 %", 4); three != Unknown || four != "0 %" {
		t.Errorf("%s of three, %s of four", three, four)
	}
}
