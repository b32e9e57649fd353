package worker

import (
	"hash/fnv"
	"math/rand/v2"

	"pawl/kernels"
)

// Fill writes a buffer's content: the same for the same seed, argument and
// family, whichever process asks.
func Fill(buffer []byte, argument kernels.Binding, seed uint64) error {
	element, err := kernels.ElementNamed(argument.Type)
	if err != nil {
		return err
	}
	name := fnv.New64a()
	name.Write([]byte(argument.Name))
	rng := rand.New(rand.NewPCG(seed, name.Sum64()))
	draw := drawer(argument.Fill, element.Float, rng)
	for at := 0; at < len(buffer); at += element.Size {
		element.Store(buffer[at:], draw())
	}
	return nil
}

// drawer returns the generator of a family. Integers get small whole numbers
// with the same names.
func drawer(fill string, float bool, rng *rand.Rand) func() float64 {
	switch {
	case fill == "zeros":
		return func() float64 { return 0 }
	case fill == "ones":
		return func() float64 { return 1 }
	case !float:
		return func() float64 { return float64(rng.IntN(100)) }
	case fill == "uniform":
		return func() float64 { return 2*rng.Float64() - 1 }
	default:
		return rng.NormFloat64
	}
}
