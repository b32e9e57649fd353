package search

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"pawl/space"
)

// neighbourhood walks between the points of a pool that differ in one
// parameter. It asks the pool, not the constraints, so that it also serves
// spaces that are known by a list.
type neighbourhood struct {
	pool *space.Pool
	axes []axis
	row  space.Row
}

func newNeighbourhood(pool *space.Pool, axes []axis) *neighbourhood {
	return &neighbourhood{pool: pool, axes: axes, row: make(space.Row, len(pool.Space().Params()))}
}

// each calls visit with every point of the pool that differs from a point in
// exactly one parameter, by any amount, in the order of parameters and values.
func (n *neighbourhood) each(index int, visit func(neighbour int)) {
	copy(n.row, n.pool.Row(index))
	for _, a := range n.axes {
		at := n.row[a.position]
		for value := range a.values() {
			if uint16(value) == at {
				continue
			}
			n.row[a.position] = uint16(value)
			if found, ok := n.pool.Find(n.row); ok {
				visit(found)
			}
		}
		n.row[a.position] = at
	}
}

// adjacent calls visit with the nearest points only: for an ordered parameter
// the next value of the pool on each side, for an unordered one every other.
func (n *neighbourhood) adjacent(index int, visit func(neighbour int)) {
	copy(n.row, n.pool.Row(index))
	for _, a := range n.axes {
		at := int(n.row[a.position])
		for _, step := range []int{-1, 1} {
			for value := at + step; value >= 0 && value < a.values(); value += step {
				n.row[a.position] = uint16(value)
				found, ok := n.pool.Find(n.row)
				if ok {
					visit(found)
				}
				if ok && a.ordered {
					break
				}
			}
		}
		n.row[a.position] = uint16(at)
	}
}

const (
	// climbStarts is the number of candidates that climb goes uphill from.
	climbStarts = 3
	// climbBests is the number of observations whose neighbours are candidates.
	climbBests = 3
	// climbSteps bounds one way uphill.
	climbSteps = 20
)

// climb returns the free point with the largest score that it finds: among
// random points and the neighbours of the best observations first, and then
// uphill from the best of those, parameter by parameter. Score is given many
// points at once; where a point's score is below the floor or not the best of
// all, it may return an upper bound of the score that is so as well.
func climb(view *View, axes []axis, rng *rand.Rand, candidates int, score func(points []int, floor float64) []float64) int {
	seen := map[int]bool{}
	var points []int
	add := func(index int) {
		if view.Free(index) && !seen[index] {
			seen[index] = true
			points = append(points, index)
		}
	}
	for _, index := range freeSubset(view, candidates, rng) {
		add(index)
	}
	hood := newNeighbourhood(view.Pool, axes)
	for _, o := range bestObservations(view, climbBests) {
		hood.each(o.Index, add)
	}
	slices.Sort(points)
	ranked := rank(points, score(points, math.Inf(-1)))
	best := ranked[0]
	for _, at := range ranked[:min(climbStarts, len(ranked))] {
		for range climbSteps {
			points = points[:0]
			hood.each(at.index, add)
			if len(points) == 0 {
				break
			}
			next := rank(points, score(points, at.score))[0]
			if next.score <= at.score {
				break
			}
			at = next
		}
		if at.score > best.score {
			best = at
		}
	}
	return best.index
}

type scoredPoint struct {
	index int
	score float64
}

// rank sorts points by score, the largest first, and by position among equals.
func rank(points []int, scores []float64) []scoredPoint {
	ranked := make([]scoredPoint, len(points))
	for i, index := range points {
		ranked[i] = scoredPoint{index, scores[i]}
	}
	slices.SortFunc(ranked, func(a, b scoredPoint) int {
		return cmp.Or(-cmp.Compare(a.score, b.score), cmp.Compare(a.index, b.index))
	})
	return ranked
}

// bestObservations returns the n fastest observations, fastest first.
func bestObservations(view *View, n int) []Observation {
	working := slices.DeleteFunc(slices.Clone(view.Observations), func(o Observation) bool { return o.Failed })
	slices.SortStableFunc(working, func(a, b Observation) int { return cmp.Compare(a.Milliseconds, b.Milliseconds) })
	return working[:min(n, len(working))]
}
