package stats

import (
	"encoding/json"
	"testing"
)

func TestInterval(t *testing.T) {
	i := Interval{Low: 0.9, High: 1.1}
	for x, want := range map[float64]bool{0.9: true, 1: true, 1.1: true, 0.899: false, 1.101: false} {
		if got := i.Contains(x); got != want {
			t.Errorf("%v.Contains(%v) = %v", i, x, got)
		}
	}
	for _, test := range []struct {
		other Interval
		want  bool
	}{
		{Interval{1.2, 1.3}, true},
		{Interval{0.1, 0.2}, true},
		{Interval{1.1, 1.3}, false}, // touching ends are shared
		{Interval{0.95, 1.05}, false},
		{Interval{0, 2}, false},
	} {
		if got := i.Disjoint(test.other); got != test.want {
			t.Errorf("%v.Disjoint(%v) = %v", i, test.other, got)
		}
		if got := test.other.Disjoint(i); got != test.want {
			t.Errorf("%v.Disjoint(%v) = %v", test.other, i, got)
		}
	}
	near(t, "RelativeWidth", i.RelativeWidth(2), 0.05, 1e-15)
	near(t, "RelativeWidth of a negative center", i.RelativeWidth(-2), 0.05, 1e-15)
	panics(t, "RelativeWidth around zero", func() { i.RelativeWidth(0) })
}

func TestIntervalJSON(t *testing.T) {
	got, err := json.Marshal(Interval{Low: 1, High: 2.5})
	if want := `{"low":1,"high":2.5}`; err != nil || string(got) != want {
		t.Errorf("Marshal = %s, %v, want %s", got, err, want)
	}
}

func TestMinimumSamples(t *testing.T) {
	// 1-2^(1-n) for n = 5, 6, 7, 8 is 0.9375, 0.96875, 0.984, 0.992.
	for level, want := range map[float64]int{0.9: 5, 0.95: 6, 0.98: 7, 0.99: 8} {
		if got := MinimumSamples(level); got != want {
			t.Errorf("MinimumSamples(%v) = %d, want %d", level, got, want)
		}
	}
	panics(t, "MinimumSamples(1)", func() { MinimumSamples(1) })
}

func TestChange(t *testing.T) {
	// (baseline-current)/baseline, positive is faster.
	near(t, "Change to a faster time", Change(2, 1.5), 0.25, 1e-15)
	near(t, "Change to a slower time", Change(2, 2.5), -0.25, 1e-15)
	panics(t, "Change from zero", func() { Change(0, 1) })
}

// Ranks of the median's 95 % interval as tables give them (Conover 1999, table A3 of the
// binomial distribution): the lowest and the highest of 6 to 8, the second of 9 to 11, the third of
// 12 to 14, the sixth of 20, the 40th of 100; of 10,000 the 4902nd, 5000 - 1.96*50.
func TestMedianInterval(t *testing.T) {
	for n, k := range map[int]int{5: 0, 6: 1, 8: 1, 9: 2, 11: 2, 12: 3, 14: 3, 20: 6, 100: 40, 10_000: 4902} {
		values := make([]float64, n)
		for i := range values {
			values[i] = float64(n - i) // 1 to n, from the highest
		}
		want := Interval{float64(k), float64(n + 1 - k)}
		if k == 0 {
			want = Unbounded()
		}
		if got := MedianInterval(values, 0.95); got != want {
			t.Errorf("%d values: %v, want %v", n, got, want)
		}
	}
}
