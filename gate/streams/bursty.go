package streams

import "math/rand/v2"

// bursty is a neighbour that comes and goes, and takes a share of the machine that
// differs from visit to visit. Its visits are about as long as a process, so that
// some processes are hit and some are not.
type bursty struct {
	random *rand.Rand
	// visit and absence are mean lengths in samples.
	visit, absence int
	// most is how much longer a sample takes at most during a visit, a share.
	most  float64
	here  bool
	level float64
}

var _ disturbance = (*bursty)(nil)

// burstyNeighbour comes for visits of a mean length, with absences of another.
func burstyNeighbour(visit, absence int, most float64) disturb {
	return func(random *rand.Rand) disturbance {
		b := &bursty{random: random, visit: visit, absence: absence, most: most, level: 1}
		if random.IntN(visit+absence) < visit {
			b.arrive()
		}
		return b
	}
}

func (*bursty) begin() {}

func (b *bursty) arrive() { b.here, b.level = true, 1+b.most*b.random.Float64() }

func (b *bursty) factor() float64 {
	switch {
	case b.here && b.random.IntN(b.visit) == 0:
		b.here, b.level = false, 1
	case !b.here && b.random.IntN(b.absence) == 0:
		b.arrive()
	}
	return b.level
}
