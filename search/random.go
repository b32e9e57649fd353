package search

import "math/rand/v2"

// randomSampler draws uniformly from the free points. It is the baseline that
// every other sampler must beat.
type randomSampler struct{}

var _ Sampler = randomSampler{}

func (randomSampler) Next(view *View, rng *rand.Rand) int { return randomFree(view, rng) }

// randomFree draws one free point, each with the same probability.
func randomFree(view *View, rng *rand.Rand) int {
	// Rejection is quick until most points are taken.
	for range 32 {
		if i := rng.IntN(view.Pool.Len()); view.Free(i) {
			return i
		}
	}
	nth := rng.IntN(view.FreeCount())
	for i := range view.Pool.Len() {
		if view.Free(i) {
			if nth == 0 {
				return i
			}
			nth--
		}
	}
	panic("search: asked for a point of a space that is used up")
}
