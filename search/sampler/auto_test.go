package sampler

import (
	"fmt"
	"testing"
)

func TestForestsTurns(t *testing.T) {
	pool := kernelPool(t)
	for _, test := range []struct {
		observed, near, failed int
		want                   string // of this ask and the next
	}{
		{29, 29, 0, "false true"}, // too early, then flat
		{60, 19, 0, "false false"},
		{60, 20, 0, "true false"},
		{60, 20, 5, "true false"}, // failures are observed too, and near nothing
		{60, 40, 0, "true true"},
		{60, 0, 60, "false false"},
	} {
		view := NewView(pool)
		for i := range test.observed {
			o := Observation{Index: i, Milliseconds: 2}
			switch {
			case i < test.near:
				o.Milliseconds = 1 + 0.1*float64(i)/float64(test.near)
			case i < test.near+test.failed:
				o.Failed = true
			}
			view.Ask(i)
			view.Observe(o)
		}
		first := Defaults().Auto.forestsTurn(view)
		view.Ask(test.observed)
		if got := fmt.Sprint(first, Defaults().Auto.forestsTurn(view)); got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
}
