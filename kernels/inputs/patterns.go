package inputs

import (
	"math"

	"pawl/kernels/arguments"
)

// Pattern is a way in which a recipe's floats depend on their place. The numbers are those of support.cu.
type Pattern uint64

// The patterns, as package arguments describes them. Most recipes have none.
const (
	NoPattern Pattern = iota
	ScaledSlices
	GrowingPlaces
	LargeChannels
	ManyZeros
	EightNumbers
)

var patternNumbers = map[string]Pattern{
	arguments.Scaled: ScaledSlices, arguments.Growing: GrowingPlaces, arguments.Channels: LargeChannels,
	arguments.Sparse: ManyZeros, arguments.Ties: EightNumbers,
}

const (
	// scales are powers of two, the largest 64 times the smallest. Seven slices in a row have all of them.
	scales = 7
	// channelPeriod is how many channels have one that is channelFactor times as large.
	channelPeriod, channelFactor = 32, 8
	// slowest is the share of the largest magnitude that a growing sequence begins with.
	slowest = 1. / 64
)

// patterned is an element with the recipe's pattern.
func (r *Recipe) patterned(i uint64) float64 {
	if r.Pattern == EightNumbers {
		return r.plain(^(r.at(^i) % 8))
	}
	x, anchor, bounded := r.plain(i), 0., r.Kind >= Reals && r.Kind <= FallingReals
	low, high := math.Float64frombits(uint64(r.Low)), math.Float64frombits(r.Span)
	if bounded {
		anchor = min(max(low, 0), high)
	}
	x = anchor + float64(r.factor(i)*(x-anchor)) // and no zero is negative
	if bounded {
		x = min(max(x, low), high)
	}
	return x
}

// factor is how much of its distance from 0 an element keeps.
func (r *Recipe) factor(i uint64) float64 {
	p := &r.Places
	row := i / p.Row
	place := row / p.Between % p.Sequence
	switch r.Pattern {
	case ScaledSlices:
		slice := place
		if p.Slices > 1 {
			slice = row/(p.Between*p.Sequence)*p.Between + row%p.Between
		}
		return p.Top / float64(uint64(1)<<((r.at(^uint64(0))%scales+3*slice)%scales))
	case GrowingPlaces:
		return p.Top * (slowest + float64((1-slowest)*(float64(place+1)/float64(p.Sequence))))
	case LargeChannels:
		channel, period := i, uint64(channelPeriod)
		if p.Row > 1 {
			channel, period = i%p.Row, min(period, p.Row)
		}
		if channel%period == 1 {
			return p.Top
		}
		return p.Top / channelFactor
	case ManyZeros:
		if r.at(^i)%4 != 0 {
			return 0
		}
	}
	return 1
}
