package sampler

import (
	"math"
	"math/rand/v2"
	"testing"

	"pawl/search/sampler/gaussian"
	"pawl/space"
)

func TestTreesLearnAStep(t *testing.T) {
	pool := poolOf(t, ordered("A", 0, 1, 2, 3, 4, 5, 6, 7),
		space.Param{Name: "B", Values: integers(0, 1, 2), Default: space.IntegerValue(0)})
	f := newForest(newCommon(pool.Space(), Defaults()), pool.Space())
	var points [][]uint16
	var y []float64
	for i := range pool.Len() {
		values := gaussian.ValuesOf(f.axes, pool.Row(i))
		points = append(points, values)
		step := 0.0
		if values[0] >= 4 {
			step = 1
		}
		if values[1] == 1 {
			step += 2
		}
		y = append(y, step)
	}
	trees := f.grow(f.settings.Forest.Trees, points, y, rand.New(rand.NewPCG(1, 1)))
	for i, values := range points {
		mean, deviation := f.predict(trees, values)
		// Grown to the end on exact data, trees repeat what they saw, up to
		// the two members of a leaf.
		if math.Abs(mean-y[i]) > 0.2 || deviation > 0.5 {
			t.Errorf("at %v the forest says %.2f ± %.2f, the data %v", values, mean, deviation, y[i])
		}
	}
}

func TestSpreadByHand(t *testing.T) {
	// A cut between 1 and 2 leaves 0, 2 on one side (mean 1, squares 2) and 5,
	// 9 on the other (mean 7, squares 8).
	var c cut
	places := []float64{0, 1, 2, 3}
	y := []float64{0, 2, 5, 9}
	near(t, "the spread", c.spread(places, y, []int{0, 1, 2, 3}, 1.5), 10, 1e-12)
	members := []int{3, 0, 2, 1}
	if left := c.partition(places, members, 1.5); left != 2 || members[0]+members[1] != 1 {
		t.Errorf("%d on the left: %v", left, members)
	}
}
