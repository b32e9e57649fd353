package sampler

import "testing"

// Where trials take milliseconds, models have as many turns as take a tenth of that.
func TestModelsTurns(t *testing.T) {
	pool := poolOf(t, ordered("A", 1, 2, 4, 8, 16, 32, 64, 128), ordered("B", 1, 2, 4, 8, 16, 32, 64, 128),
		ordered("C", 1, 2, 4, 8, 16, 32, 64, 128), ordered("D", 1, 2, 4, 8, 16, 32, 64, 128))
	auto := newAuto(newCommon(pool.Space(), Defaults()), pool.Space())
	for _, test := range []struct {
		observed int
		seconds  float64
		want     int
	}{
		{100, 0, 1},      // nobody knows what trials take
		{3, 0.005, 1},    // there is no model yet
		{40, 0.04, 1},    // 4 · 0.5 + 40 · 0.03 = 3.2 ms, less than a tenth of 40
		{40, 0.005, 7},   // of 5 ms
		{190, 0.005, 16}, // 7.7 ms
	} {
		view := NewView(pool)
		for i := range test.observed {
			view.Ask(i)
			view.Observe(Observation{Index: i, Milliseconds: 1 + float64(i%7), Seconds: test.seconds})
		}
		if got := auto.every(view); got != test.want {
			t.Errorf("%d observed of %v s: a model every %d asks, want %d", test.observed, test.seconds, got, test.want)
		}
	}
}
