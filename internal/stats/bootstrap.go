package stats

import (
	"cmp"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// A Bootstrap computes 95 % confidence intervals by resampling (Efron 1979). It is the number of
// draws; zero means 10000, with which the ends of an interval move between seeds by about a
// hundredth of its width. Its methods are independent of each other: each starts the same random
// source, so the order of calls does not matter.
//
// An interval cannot be better than its sample: see [MinimumSamples].
type Bootstrap int

const (
	defaultSeed = 42

	// stream is the second word of the PCG seed; any fixed number serves.
	stream = 0x7061776c // "pawl"
)

func newSource() *source { return &source{rand.NewPCG(defaultSeed, stream)} }

// Median returns the percentile interval of the median of independent samples.
// Consecutive samples of one process are rarely independent: prefer
// [Bootstrap.Block] for those, and [SpeedupInterval] for a comparison.
func (b Bootstrap) Median(samples []float64) Interval {
	require("Bootstrap.Median", samples)
	counts, random := newRankCounts(samples), newSource()
	return b.percentile(func() float64 { return counts.resample(random) })
}

// percentile returns the central interval over as many calls of draw.
func (b Bootstrap) percentile(draw func() float64) Interval {
	draws := make([]float64, cmp.Or(b, 10000))
	for i := range draws {
		draws[i] = draw()
	}
	slices.Sort(draws)
	const tail = 0.025
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
