package sampler

import (
	"math/rand/v2"
	"testing"
)

// goptuna is asked: with two good points on one value of a parameter among twelve observations, most of its
// points have that value, which a random point has in one of eight cases. Where all of those are taken it ends
// with a random point.
func TestGoptunaFollowsItsObservations(t *testing.T) {
	pool := poolOf(t, ordered("A", 1, 2, 3, 4, 5, 6, 7, 8), ordered("B", 1, 2, 3, 4, 5, 6, 7, 8), ordered("FIXED", 1))
	view := NewView(pool)
	for _, point := range [][2]uint16{{5, 0}, {5, 3}, {0, 1}, {1, 5}, {2, 7}, {3, 2}, {4, 4}, {6, 6}, {7, 3}, {0, 6},
		{1, 2}, {7, 7}} {
		index, _ := pool.Find([]uint16{point[0], point[1], 0})
		view.Ask(index)
		o := Observation{Index: index, Milliseconds: 10}
		if point[0] == 5 {
			o.Milliseconds = 1
		}
		view.Observe(o)
	}
	chooser, err := New("goptuna", pool.Space(), Defaults())
	if err != nil {
		t.Fatal(err)
	}
	near := 0
	for seed := range uint64(40) {
		if a := pool.Row(chooser.Next(view, rand.New(rand.NewPCG(seed, 0))))[0]; a >= 4 && a <= 6 {
			near++
		}
	}
	if near < 20 {
		t.Errorf("%d of 40 points are near the good ones", near)
	}
	for view.FreeCount() > 0 {
		view.Ask(next(t, chooser, view, 1))
	}
}
