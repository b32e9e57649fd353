package sampler

import (
	"math"
	"math/rand/v2"
	"slices"

	"pawl/internal/collect"
	"pawl/search/sampler/gaussian"
)

// freeSubset returns the free points in ascending order, or a random part of them where there are more than limit.
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
	// Selection sampling of a large pool would walk all of it: draw instead, and draw again what came up twice.
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
		subset = append(subset, RandomFree(view, rng))
	}
	slices.Sort(subset)
	return subset
}

// start draws a point for a model that has nothing to work with yet: away from what
// was tried, or, where working points are rare and some are known, one that is likely
// to work.
func (c common) start(view *View, rng *rand.Rand, logProbability func(values []uint16) float64) int {
	if share := view.workingShare(); share == 0 || share > 0.5 {
		return c.spread(view, rng)
	}
	return c.climb(view, rng, c.settings.Search.Spread, func(points []int, _ float64) []float64 {
		return collect.Each(gaussian.ValuesOfAll(c.axes, view.Pool, points), logProbability)
	})
}

// spread draws a free point away from those that were asked: of several
// random ones the one whose nearest asked point is farthest (Mitchell's best
// candidate). It fills the space where the valid points are.
func (c common) spread(view *View, rng *rand.Rand) int {
	if len(view.Observations)+len(view.Pending) == 0 {
		return RandomFree(view, rng)
	}
	best, bestDistance := -1, -1.0
	for range c.settings.Search.Spread {
		candidate := RandomFree(view, rng)
		nearest := math.Inf(1)
		for _, o := range view.Observations {
			nearest = min(nearest, c.distance(view, candidate, o.Index))
		}
		for _, pending := range view.Pending {
			nearest = min(nearest, c.distance(view, candidate, pending))
		}
		if nearest > bestDistance {
			best, bestDistance = candidate, nearest
		}
	}
	return best
}

// distance is the sum over the axes of how far two points are apart, each between 0 and 1.
func (c common) distance(view *View, i, j int) float64 {
	a, b := view.Pool.Row(i), view.Pool.Row(j)
	sum := 0.0
	for _, axis := range c.axes {
		u, v := a[axis.Position], b[axis.Position]
		switch {
		case u == v:
		case axis.Ordered:
			sum += math.Abs(axis.Coordinates[u] - axis.Coordinates[v])
		default:
			sum++
		}
	}
	return sum
}
