package stats

import (
	"cmp"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// A Bootstrap computes confidence intervals by resampling (Efron 1979). The zero
// value is ready for use. Its methods are independent of each other: each starts
// its own random source from Seed, so the order of calls does not matter and one
// Bootstrap may be used by several goroutines.
//
// An interval cannot be better than its sample: see [MinimumSamples].
type Bootstrap struct {
	// Resamples is the number of bootstrap draws. Zero means 10000, with which
	// the ends of a 95 % interval move between seeds by about a hundredth of its
	// width.
	Resamples int

	// Level is the confidence level, a share between 0 and 1. Zero means 0.95.
	Level float64

	// Seed selects the random numbers. Zero means 42.
	Seed uint64
}

const (
	defaultResamples = 10000
	defaultLevel     = 0.95
	defaultSeed      = 42

	// stream is the second word of the PCG seed; any fixed number serves.
	stream = 0x7061776c // "pawl"
)

// withDefaults returns b with zero values replaced, and panics on values that have no meaning.
func (b Bootstrap) withDefaults() Bootstrap {
	b.Resamples = cmp.Or(b.Resamples, defaultResamples)
	b.Level = cmp.Or(b.Level, defaultLevel)
	b.Seed = cmp.Or(b.Seed, defaultSeed)
	if b.Resamples < 0 {
		panic(fmt.Sprintf("stats: %d bootstrap resamples", b.Resamples))
	}
	requireLevel(b.Level)
	return b
}

func (b Bootstrap) source() *source { return &source{rand.NewPCG(b.Seed, stream)} }

// Median returns the percentile interval of the median of independent samples.
// Consecutive samples of one process are rarely independent: prefer
// [Bootstrap.Block] for those, and [Bootstrap.SpeedupInterval] for a comparison.
func (b Bootstrap) Median(samples []float64) Interval {
	b = b.withDefaults()
	require("Bootstrap.Median", samples)
	counts, random := newRankCounts(samples), b.source()
	return b.percentile(func() float64 { return counts.resample(random) })
}

// percentile returns the central interval of Level over Resamples calls of draw.
func (b Bootstrap) percentile(draw func() float64) Interval {
	draws := make([]float64, b.Resamples)
	for i := range draws {
		draws[i] = draw()
	}
	slices.Sort(draws)
	tail := (1 - b.Level) / 2
	return Interval{Low: quantileSorted(draws, tail), High: quantileSorted(draws, 1-tail)}
}

// A source is the random source of one bootstrap. It keeps the concrete PCG
// because the interface calls and the rejection step of rand.Rand cost more than
// the rest of a draw.
type source struct{ *rand.PCG }

// index draws uniformly from 0 to n-1 by multiplication (Lemire 2019) without his
// rejection step: the bias is n/2^64, below anything a bootstrap could show.
func (s *source) index(n int) int {
	high, _ := bits.Mul64(s.Uint64(), uint64(n))
	return int(high)
}
