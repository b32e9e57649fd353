package sampler

import (
	"math/rand/v2"

	"pawl/search/sampler/gaussian"
	"pawl/space"
)

// evolveSampler is a steady-state genetic algorithm with local steps: the kind
// of search that other tuners use, as an honest opponent of the models.
//
// The population is the best observations so far. A child takes each value from
// one of two parents, chosen by tournament, and mutates; every third child is a
// neighbor of a good point instead. A child that is not a free point of the
// pool is drawn again. Failures never become parents.
type evolveSampler struct{ common }

func (e *evolveSampler) Next(view *View, rng *rand.Rand) int {
	parents := view.fastest(e.settings.Evolve.Population)
	if len(view.Observations)+len(view.Pending) < e.settings.Evolve.Population || len(parents) < 2 {
		return e.spread(view, rng)
	}
	if rng.IntN(3) == 0 {
		if index, ok := e.neighbor(view, parents, rng); ok {
			return index
		}
	}
	child := make(space.Row, len(view.Pool.Space().Params()))
	for range e.settings.Evolve.Draws {
		mother := view.Pool.Row(tournament(parents, rng).Index)
		father := view.Pool.Row(tournament(parents, rng).Index)
		copy(child, mother)
		for _, a := range e.axes {
			if rng.IntN(2) == 0 {
				child[a.Position] = father[a.Position]
			}
			if rng.IntN(len(e.axes)) == 0 {
				child[a.Position] = mutated(a, child[a.Position], rng)
			}
		}
		if index, found := view.Pool.Find(child); found && view.Free(index) {
			return index
		}
	}
	return RandomFree(view, rng)
}

func tournament(parents []Observation, rng *rand.Rand) Observation {
	return parents[min(rng.IntN(len(parents)), rng.IntN(len(parents)))]
}

// mutated returns another value: half the time the next one up or down where there is an order, any otherwise.
func mutated(a gaussian.Axis, value uint16, rng *rand.Rand) uint16 {
	if a.Ordered && rng.IntN(2) == 0 {
		step := 2*rng.IntN(2) - 1
		return uint16(min(max(int(value)+step, 0), a.Values()-1))
	}
	return uint16(rng.IntN(a.Values()))
}

func (e *evolveSampler) neighbor(view *View, parents []Observation, rng *rand.Rand) (int, bool) {
	var free []int
	newNeighbors(view.Pool, e.axes).adjacent(tournament(parents, rng).Index, func(index int) {
		if view.Free(index) {
			free = append(free, index)
		}
	})
	if len(free) == 0 {
		return 0, false
	}
	return free[rng.IntN(len(free))], true
}
