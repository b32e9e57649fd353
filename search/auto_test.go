package search

import (
	"fmt"
	"testing"
)

func TestForestsTurns(t *testing.T) {
	pool := kernelPool(t)
	for _, test := range []struct {
		told, near, failed int
		want               string // of this ask and the next
	}{
		{19, 19, 0, "false true"}, // too early, then flat
		{40, 4, 0, "false false"},
		{40, 5, 0, "true false"},
		{40, 5, 1, "true false"}, // a failure is told too, and near nothing
		{40, 14, 0, "true true"},
		{100, 1, 0, "true false"},
		{40, 0, 40, "false false"},
	} {
		view := NewView(pool)
		for i := range test.told {
			o := Observation{Index: i, Milliseconds: 2}
			switch {
			case i < test.near:
				o.Milliseconds = 1 + 0.04*float64(i)/float64(test.near)
			case i < test.near+test.failed:
				o.Failed = true
			}
			view.Ask(i)
			view.Tell(o)
		}
		first := forestsTurn(view)
		view.Ask(test.told)
		if got := fmt.Sprint(first, forestsTurn(view)); got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
}
