package sampler

import (
	"math"
	"testing"

	"pawl/search/sampler/gaussian"
)

func TestCostsByHand(t *testing.T) {
	// One axis with two values, three observations of each, log costs +1 and -1.
	// The first sweep fits sums of ±3 over 3 + 2. Sums of what is left plus the
	// effect are ±3 again, so later sweeps change nothing.
	axes := []gaussian.Axis{{Coordinates: []float64{0, 1}}}
	points := [][]uint16{{0}, {1}, {0}, {1}, {0}, {1}}
	model := Defaults().Cost.fit(axes, points, []float64{1, -1, 1, -1, 1, -1})
	near(t, "the effect of the dear value", model.effects[0][0], 0.6, 1e-12)
	near(t, "the effect of the cheap value", model.effects[0][1], -0.6, 1e-12)
}

func TestCostsAreBoundedAndNeedEvidence(t *testing.T) {
	pool := kernelPool(t)
	shared := newCommon(pool.Space(), Defaults())
	view := NewView(pool)
	view.CostWeight = 1
	if shared.costs(view) != nil {
		t.Error("a model of nothing")
	}
	for index := range 60 {
		seconds := 1.0
		if pool.Row(index)[0] >= 4 {
			seconds = 1e6
		}
		view.Ask(index)
		view.Observe(Observation{Index: index, Milliseconds: 1, Seconds: seconds})
	}
	model := shared.costs(view)
	for index := range pool.Len() {
		if got := model.log(gaussian.ValuesOf(shared.axes, pool.Row(index))); math.Abs(got) >
			math.Log(shared.settings.Cost.Most) {
			t.Fatalf("log cost %v", got)
		}
	}
	view.CostWeight = 0
	if shared.costs(view) != nil {
		t.Error("the cost counts without a weight")
	}
}

// Two halves of a space are equally good; one costs ten times as much.
func TestTheCostDecidesBetweenEquals(t *testing.T) {
	pool := poolOf(t, ordered("A", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12), ordered("DEAR", 0, 1),
		ordered("B", 1, 2, 3, 4, 5, 6, 7, 8))
	dear := func(name string, weight float64) int {
		sampler, err := New(name, pool.Space(), Defaults())
		if err != nil {
			t.Fatal(err)
		}
		view, count := NewView(pool), 0
		view.CostWeight = weight
		for trial := range 50 {
			index := next(t, sampler, view, 1)
			row := pool.Row(index)
			seconds := 1.0
			if row[1] == 1 {
				seconds = 10
				if trial >= 10 {
					count++
				}
			}
			a, b := float64(row[0])-7, float64(row[2])-3
			view.Ask(index)
			view.Observe(Observation{Index: index, Milliseconds: 1 + 0.1*(a*a+b*b), Seconds: seconds})
		}
		return count
	}
	if with, without := dear("gp", 1), dear("gp", 0); with >= without {
		t.Errorf("%d dear points with the cost counted, %d without", with, without)
	}
}
