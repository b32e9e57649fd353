package streams

import (
	"math"
	"math/rand/v2"
)

// tails makes some samples take much longer, by a law without a second moment:
// interrupts, page faults, a garbage collector beside the process.
type tails struct {
	random *rand.Rand
	// share of the samples that are hit.
	share float64
}

var _ disturbance = (*tails)(nil)

// heavyTails hits a share of the samples.
func heavyTails(share float64) disturb {
	return func(random *rand.Rand) disturbance { return &tails{random, share} }
}

func (*tails) begin() {}

// factor is a Pareto variable of index 1.5 for the samples that are hit, at most
// 100: the clock of a test would not wait for more.
func (t *tails) factor() float64 {
	const index, most = 1.5, 100
	if t.random.Float64() >= t.share {
		return 1
	}
	return min(most, math.Pow(1-t.random.Float64(), -1/index))
}
