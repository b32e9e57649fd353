package search

import (
	"math"
	"math/rand/v2"
	"slices"
)

// freeSubset returns the free points in ascending order, or a random part of
// them where there are more than limit.
func freeSubset(view *View, limit int, rng *rand.Rand) []int {
	if view.FreeCount() <= limit {
		free := make([]int, 0, view.FreeCount())
		for i := range view.Pool.Len() {
			if view.Free(i) {
				free = append(free, i)
			}
		}
		return free
	}
	// Selection sampling of a large pool would walk all of it: draw instead,
	// and draw again what came up twice.
	drawn := make(map[int]bool, limit)
	subset := make([]int, 0, limit)
	for range 4 * limit {
		if i := rng.IntN(view.Pool.Len()); view.Free(i) && !drawn[i] {
			drawn[i] = true
			if subset = append(subset, i); len(subset) == limit {
				break
			}
		}
	}
	if len(subset) == 0 {
		subset = append(subset, randomFree(view, rng))
	}
	slices.Sort(subset)
	return subset
}

// spreadDraws is the number of random points of which spreadFree takes the one
// that is farthest from what was tried.
const spreadDraws = 20

// spreadFree draws a free point away from those that were asked: of several
// random ones the one whose nearest asked point is farthest (Mitchell's best
// candidate). It fills the space where the valid points are.
func spreadFree(view *View, axes []axis, rng *rand.Rand) int {
	if len(view.Observations)+len(view.Pending) == 0 {
		return randomFree(view, rng)
	}
	best, bestDistance := -1, -1.0
	for range spreadDraws {
		candidate := randomFree(view, rng)
		nearest := math.Inf(1)
		for _, o := range view.Observations {
			nearest = min(nearest, distance(view, axes, candidate, o.Index))
		}
		for _, pending := range view.Pending {
			nearest = min(nearest, distance(view, axes, candidate, pending))
		}
		if nearest > bestDistance {
			best, bestDistance = candidate, nearest
		}
	}
	return best
}

// distance is the sum over the axes of how far two points are apart, each
// between 0 and 1.
func distance(view *View, axes []axis, i, j int) float64 {
	a, b := view.Pool.Row(i), view.Pool.Row(j)
	sum := 0.0
	for _, axis := range axes {
		u, v := a[axis.position], b[axis.position]
		switch {
		case u == v:
		case axis.ordered:
			sum += math.Abs(axis.coordinates[u] - axis.coordinates[v])
		default:
			sum++
		}
	}
	return sum
}
