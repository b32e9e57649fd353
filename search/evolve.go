package search

import (
	"math/rand/v2"

	"pawl/space"
)

// evolveSampler is a steady-state genetic algorithm with local steps: the kind
// of search that other tuners use, as an honest opponent of the models.
//
// The population is the best observations so far. A child takes each value from
// one of two parents, chosen by tournament, and mutates; every third child is a
// neighbour of a good point instead. A child that is not a free point of the
// pool is drawn again. Failures never become parents.
type evolveSampler struct {
	axes []axis
}

var _ Sampler = (*evolveSampler)(nil)

const (
	evolvePopulation = 20
	// evolveDraws is how often a child is drawn before a random point is taken.
	evolveDraws = 100
)

func newEvolve(s *space.Space) Sampler { return &evolveSampler{axes: axesOf(s)} }

func (e *evolveSampler) Next(view *View, rng *rand.Rand) int {
	parents := bestObservations(view, evolvePopulation)
	if len(view.Observations)+len(view.Pending) < evolvePopulation || len(parents) < 2 {
		return spreadFree(view, e.axes, rng)
	}
	if rng.IntN(3) == 0 {
		if index, ok := e.neighbour(view, parents, rng); ok {
			return index
		}
	}
	child := make(space.Row, len(view.Pool.Space().Params()))
	for range evolveDraws {
		mother := view.Pool.Row(tournament(parents, rng).Index)
		father := view.Pool.Row(tournament(parents, rng).Index)
		copy(child, mother)
		for _, a := range e.axes {
			if rng.IntN(2) == 0 {
				child[a.position] = father[a.position]
			}
			if rng.IntN(len(e.axes)) == 0 {
				child[a.position] = mutated(a, child[a.position], rng)
			}
		}
		if index, found := view.Pool.Find(child); found && view.Free(index) {
			return index
		}
	}
	return randomFree(view, rng)
}

// tournament returns the better of two parents.
func tournament(parents []Observation, rng *rand.Rand) Observation {
	return parents[min(rng.IntN(len(parents)), rng.IntN(len(parents)))]
}

// mutated returns another value: half the time the next one up or down where
// there is an order, any otherwise.
func mutated(a axis, value uint16, rng *rand.Rand) uint16 {
	if a.ordered && rng.IntN(2) == 0 {
		step := 2*rng.IntN(2) - 1
		return uint16(min(max(int(value)+step, 0), a.values()-1))
	}
	return uint16(rng.IntN(a.values()))
}

// neighbour returns a free point beside a good one.
func (e *evolveSampler) neighbour(view *View, parents []Observation, rng *rand.Rand) (int, bool) {
	hood := newNeighbourhood(view.Pool, e.axes)
	var free []int
	hood.adjacent(tournament(parents, rng).Index, func(index int) {
		if view.Free(index) {
			free = append(free, index)
		}
	})
	if len(free) == 0 {
		return 0, false
	}
	return free[rng.IntN(len(free))], true
}
