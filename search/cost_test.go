package search

import (
	"math"
	"testing"

	"pawl/space"
)

func TestCostsByHand(t *testing.T) {
	// One axis with two values, three observations of each, log costs +1 and -1.
	// The first sweep fits sums of ±3 over 3 + 2. Sums of what is left plus the
	// effect are ±3 again, so later sweeps change nothing.
	axes := []axis{{coordinates: []float64{0, 1}}}
	points := [][]uint16{{0}, {1}, {0}, {1}, {0}, {1}}
	model := fitCosts(axes, points, []float64{1, -1, 1, -1, 1, -1})
	near(t, "the effect of the dear value", model.effects[0][0], 0.6, 1e-12)
	near(t, "the effect of the cheap value", model.effects[0][1], -0.6, 1e-12)
}

func TestCostsAreBoundedAndNeedEvidence(t *testing.T) {
	pool := kernelPool(t)
	axes := axesOf(pool.Space())
	view := NewView(pool)
	view.Thrift = 1
	if newCostModel(view, axes) != nil {
		t.Error("a model of nothing")
	}
	for index := range 60 {
		seconds := 1.0
		if pool.Row(index)[0] >= 4 {
			seconds = 1e6
		}
		view.Ask(index)
		view.Tell(Observation{Index: index, Milliseconds: 1, Seconds: seconds})
	}
	model := newCostModel(view, axes)
	for index := range pool.Len() {
		if got := model.logCost(valuesOf(axes, pool.Row(index))); math.Abs(got) > math.Log(costMost) {
			t.Fatalf("log cost %v", got)
		}
	}
	view.Thrift = 0
	if newCostModel(view, axes) != nil {
		t.Error("the cost counts without thrift")
	}
}

// Two halves of a space are equally good; one costs ten times as much.
func TestThriftChoosesTheCheaperOfEquals(t *testing.T) {
	pool := poolOf(t, ordered("A", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12), ordered("DEAR", 0, 1), ordered("B", 1, 2, 3, 4, 5, 6, 7, 8))
	dear := func(build func(*space.Space) Sampler, thrift float64) int {
		sampler, view, count := build(pool.Space()), NewView(pool), 0
		view.Thrift = thrift
		for trial := range 50 {
			index := next(t, sampler, view, 1)
			row := pool.Row(index)
			seconds := 1.0
			if row[1] == 1 {
				seconds = 10
				if trial >= forestStartup {
					count++
				}
			}
			a, b := float64(row[0])-7, float64(row[2])-3
			view.Ask(index)
			view.Tell(Observation{Index: index, Milliseconds: 1 + 0.1*(a*a+b*b), Seconds: seconds})
		}
		return count
	}
	for name, build := range map[string]func(*space.Space) Sampler{"gp": newGP, "forest": newForest} {
		if with, without := dear(build, 1), dear(build, 0); with >= without {
			t.Errorf("%s: %d dear points with thrift, %d without", name, with, without)
		}
	}
}
