package sampler

import (
	"slices"
	"testing"

	"pawl/space"
)

// Where trials take milliseconds, models have as many turns as take a tenth of that.
func TestModelsTurns(t *testing.T) {
	pool := poolOf(t, ordered("A", 1, 2, 4, 8, 16, 32, 64, 128), ordered("B", 1, 2, 4, 8, 16, 32, 64, 128),
		ordered("C", 1, 2, 4, 8, 16, 32, 64, 128), ordered("D", 1, 2, 4, 8, 16, 32, 64, 128))
	for _, test := range []struct {
		observed int
		seconds  float64
		want     int
	}{
		{100, 0, 100},   // nobody knows what trials take
		{4, 0.005, 4},   // there is no model yet
		{40, 0.04, 40},  // 4 · (0.3 + 40 · 0.006) = 2.2 ms an ask, fits beside: less than a tenth of 40
		{40, 0.005, 11}, // 20 ms in all: five without a model, and six of 2 to 5.4 ms
	} {
		auto := newAuto(newCommon(pool.Space(), Defaults()), pool.Space())
		view := NewView(pool)
		turns := 0
		for i := range test.observed {
			next, _ := auto.modelsTurns(view)
			if next {
				turns++
			}
			view.Ask(i)
			view.Observe(Observation{Index: i, Milliseconds: 1 + float64(i%7), Seconds: test.seconds})
		}
		if _, all := auto.modelsTurns(view); turns != test.want || all != (turns == test.observed) {
			t.Errorf("%d observed of %v s: %d turns, want %d; all %v", test.observed, test.seconds, turns, test.want, all)
		}
	}
}

// Asks take a tenth of the time of trials at most, whatever those take: turns are counted, and each has the
// processor time that an ask was measured to take (a space of eight values a parameter, two busy cores).
func TestAskingTakesATenth(t *testing.T) {
	between := func(milliseconds []float64, n int) float64 {
		observed := []int{0, 10, 30, 64, 100, 200, 300}
		at := slices.IndexFunc(observed, func(o int) bool { return o >= n })
		part := float64(n-observed[at-1]) / float64(observed[at]-observed[at-1])
		return milliseconds[at-1] + part*(milliseconds[at]-milliseconds[at-1])
	}
	for _, kind := range []struct {
		axes            int
		fitted, another []float64 // milliseconds of an ask that fits, and of another, after so many observations
	}{
		{4, []float64{0, 1.9, 3.4, 7.1, 7.9, 9.2, 14.2}, []float64{0, 0.7, 0.7, 1.9, 1.9, 3.1, 3.5}},
		{7, []float64{0, 3.2, 5.2, 11.2, 12.7, 16.7, 23}, []float64{0, 2.4, 2.8, 3.5, 4.5, 7.2, 10.6}},
		{10, []float64{0, 4.2, 9.5, 15.1, 20, 25.2, 31.8}, []float64{0, 2.6, 5, 7.3, 9.3, 14.9, 20.7}},
	} {
		var params []space.Param
		for i := range kind.axes {
			params = append(params, ordered(string(rune('A'+i)), 1, 2, 4, 8, 16, 32, 64, 128))
		}
		pool := poolOf(t, params...)
		for _, milliseconds := range []float64{5, 20, 60, 100, 200, 400} {
			auto := newAuto(newCommon(pool.Space(), Defaults()), pool.Space())
			view := NewView(pool)
			asking, fitted := 0.0, 0
			for n := range 301 {
				if next, _ := auto.modelsTurns(view); next && n >= auto.settings.GP.Startup {
					count := auto.process.fitCount(n, 0)
					if count != fitted {
						asking += between(kind.fitted, n)
					} else {
						asking += between(kind.another, n)
					}
					fitted = count
				}
				view.Ask(n)
				view.Observe(Observation{Index: n, Milliseconds: 1, Seconds: milliseconds / 1000})
				if share := asking / (asking + float64(n+1)*milliseconds); n > 20 && share > 0.1 {
					t.Fatalf("%d parameters, trials of %v ms: %.1f %% of the time after %d", kind.axes, milliseconds, 100*share, n)
				}
			}
		}
	}
}
