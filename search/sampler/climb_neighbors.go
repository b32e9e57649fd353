package sampler

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"pawl/search/sampler/gaussian"
	"pawl/space"
)

// neighbors walks between the points of a pool that differ in one parameter. It
// asks the pool, not the constraints, so that it also serves spaces that are known
// by a list.
type neighbors struct {
	pool *space.Pool
	axes []gaussian.Axis
	row  space.Row
}

func newNeighbors(pool *space.Pool, axes []gaussian.Axis) *neighbors {
	return &neighbors{pool: pool, axes: axes, row: make(space.Row, len(pool.Space().Params()))}
}

// each calls visit with every point of the pool that differs from a point in
// exactly one parameter, by any amount, in the order of parameters and values.
func (n *neighbors) each(index int, visit func(neighbor int)) {
	copy(n.row, n.pool.Row(index))
	for _, a := range n.axes {
		at := n.row[a.Position]
		for value := range a.Values() {
			if uint16(value) == at {
				continue
			}
			n.row[a.Position] = uint16(value)
			if found, ok := n.pool.Find(n.row); ok {
				visit(found)
			}
		}
		n.row[a.Position] = at
	}
}

// adjacent calls visit with the nearest points only: for an ordered parameter
// the next value of the pool on each side, for an unordered one every other.
func (n *neighbors) adjacent(index int, visit func(neighbor int)) {
	copy(n.row, n.pool.Row(index))
	for _, a := range n.axes {
		at := int(n.row[a.Position])
		for _, step := range []int{-1, 1} {
			for value := at + step; value >= 0 && value < a.Values(); value += step {
				n.row[a.Position] = uint16(value)
				found, ok := n.pool.Find(n.row)
				if ok {
					visit(found)
				}
				if ok && a.Ordered {
					break
				}
			}
		}
		n.row[a.Position] = uint16(at)
	}
}

// climb returns the free point with the largest score that it finds: among
// random points and the neighbors of the best observations first, and then
// uphill from the best of those, parameter by parameter. Score is given many
// points at once. For a point whose score is below the floor, or is not the best of
// all, it may return an upper bound instead, if that too is below the floor or the
// best.
func (c common) climb(view *View, rng *rand.Rand, candidates int,
	score func(points []int, floor float64) []float64) int {
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
	near := newNeighbors(view.Pool, c.axes)
	for _, o := range view.fastest(c.settings.Search.Bests) {
		near.each(o.Index, add)
	}
	slices.SortFunc(points, view.Pool.Compare)
	ranked := rank(view.Pool, points, score(points, math.Inf(-1)))
	best := ranked[0]
	for _, at := range ranked[:min(c.settings.Search.Starts, len(ranked))] {
		for range c.settings.Search.Steps {
			points = points[:0]
			near.each(at.index, add)
			if len(points) == 0 {
				break
			}
			next := rank(view.Pool, points, score(points, at.score))[0]
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
func rank(pool *space.Pool, points []int, scores []float64) []scoredPoint {
	ranked := make([]scoredPoint, len(points))
	for i, index := range points {
		ranked[i] = scoredPoint{index, scores[i]}
	}
	slices.SortFunc(ranked, func(a, b scoredPoint) int {
		return cmp.Or(-cmp.Compare(a.score, b.score), pool.Compare(a.index, b.index))
	})
	return ranked
}
