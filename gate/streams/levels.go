package streams

import (
	"math"
	"math/rand/v2"
)

// levels gives every process a level of its own that it keeps to its end, as the
// placement of memory does: so many processes are so many different machines.
type levels struct {
	random *rand.Rand
	// deviation is the standard deviation of the levels' logarithms.
	deviation float64
	// mode is how much slower every second process is, by chance; 0 for none.
	mode  float64
	level float64
}

var _ disturbance = (*levels)(nil)

// processLevels makes processes whose levels vary by a standard deviation, a share.
func processLevels(deviation float64) disturb {
	return func(random *rand.Rand) disturbance { return &levels{random: random, deviation: deviation} }
}

// processModes makes processes of which each is, by the toss of a coin, slower by
// a share.
func processModes(mode float64) disturb {
	return func(random *rand.Rand) disturbance { return &levels{random: random, mode: mode} }
}

func (l *levels) begin() {
	l.level = math.Exp(l.deviation * l.random.NormFloat64())
	if l.random.IntN(2) == 0 {
		l.level *= 1 + l.mode
	}
}

func (l *levels) factor() float64 { return l.level }
