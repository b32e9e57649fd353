package sampler

import "math/rand/v2"

// randomSampler draws uniformly from the free points. It is the baseline that every other sampler must beat.
type randomSampler struct{}

func (randomSampler) Next(view *View, rng *rand.Rand) int { return RandomFree(view, rng) }

// gridSampler takes the points in the order of the pool. With enough trials it is the exhaustive sweep.
type gridSampler struct{}

func (gridSampler) Next(view *View, _ *rand.Rand) int { return nthFree(view, 0) }

// RandomFree draws one free point of the pool, each with the same probability.
func RandomFree(view *View, rng *rand.Rand) int {
	// Rejection is quick until most points are taken.
	for range 32 {
		if i := rng.IntN(view.Pool.Len()); view.Free(i) {
			return i
		}
	}
	return nthFree(view, rng.IntN(view.FreeCount()))
}

func nthFree(view *View, n int) int {
	for i := range view.Pool.Len() {
		if view.Free(i) {
			if n == 0 {
				return i
			}
			n--
		}
	}
	panic("sampler: asked for a point of a space that is used up")
}
