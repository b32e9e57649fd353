package stats

import (
	"slices"

	"gonum.org/v1/gonum/floats"
)

// rankCounts finds medians of resamples by counting: a resample is a count of how
// often each rank of the original was drawn, and its median is found by walking
// the counts, with no sorting and no copying of values.
type rankCounts struct {
	ascending []float64
	// ranks holds for each sample, in the order given, its position in ascending.
	ranks []int32

	counts []int32
	total  int
}

func newRankCounts(samples []float64) *rankCounts {
	c := &rankCounts{
		ascending: slices.Clone(samples),
		ranks:     make([]int32, len(samples)),
		counts:    make([]int32, len(samples)),
	}
	order := make([]int, len(samples)) // from the lowest to the highest
	floats.Argsort(c.ascending, order)
	for rank, i := range order {
		c.ranks[i] = int32(rank)
	}
	return c
}

func (c *rankCounts) clear() {
	clear(c.counts)
	c.total = 0
}

func (c *rankCounts) add(ranks []int32) {
	for _, rank := range ranks {
		c.counts[rank]++
	}
	c.total += len(ranks)
}

// resample draws as many samples as there are, independently, and returns their median.
func (c *rankCounts) resample(random *source) float64 {
	c.clear()
	for range c.counts {
		c.counts[random.index(len(c.counts))]++
	}
	c.total = len(c.counts)
	return c.median()
}

func (c *rankCounts) median() float64 {
	below, rank := 0, 0
	// The lower middle is the sample that (total-1)/2 others precede.
	for below += int(c.counts[0]); below <= (c.total-1)/2; below += int(c.counts[rank]) {
		rank++
	}
	lower := c.ascending[rank]
	for ; below <= c.total/2; below += int(c.counts[rank]) {
		rank++
	}
	return midpoint(lower, c.ascending[rank])
}
