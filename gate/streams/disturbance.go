package streams

import "math/rand/v2"

// disturbance is something that happens to a machine while it produces samples.
type disturbance interface {
	// begin is called before the first sample of each process.
	begin()
	// factor returns how much longer the next sample takes than on a calm machine.
	factor() float64
}

// disturb makes a disturbance for one machine from the machine's random source.
type disturb func(*rand.Rand) disturbance
