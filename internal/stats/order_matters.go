package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"
)

// OrderMatters asks whether timings in the order measured have one level: it returns
// the p-value of the hypothesis that their order is random. Levels of processes that differ at random,
// however much, are no step; a machine that became slower half-way is one.
//
// The statistic is the largest standardised difference of mean ranks over all cuts
// (Pettitt 1979), compared with that of shuffles from a fixed seed, which is right
// for few values and for ties. Of six values in two levels of three, the smallest
// p-value is 0.1. Fewer than three values have no order: 1.
func OrderMatters(values []float64) float64 {
	requirePositive("OrderMatters", values)
	if len(values) < 3 {
		return 1
	}
	const shuffles = 2000
	ranks := make([]float64, len(values))
	ascending := sorted("OrderMatters", values)
	for i, value := range values {
		first, _ := slices.BinarySearch(ascending, value)
		next := sort.Search(len(ascending), func(i int) bool { return ascending[i] > value })
		ranks[i] = float64(first+next) / 2 // tied values share their mean rank
	}
	observed := unlikeliestCut(ranks)
	random := rand.New(rand.NewPCG(defaultSeed, stream))
	shuffled, as := slices.Clone(ranks), 1
	for range shuffles {
		random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		// The same arrangement must not count as smaller by rounding.
		if unlikeliestCut(shuffled) >= observed*(1-1e-9) {
			as++
		}
	}
	return float64(as) / (shuffles + 1)
}

// unlikeliestCut returns how much ranks differ before and after the cut where they
// differ most, in units of what a random order does there.
func unlikeliestCut(ranks []float64) (size float64) {
	total, n, before := floats.Sum(ranks), float64(len(ranks)), 0.0
	for i := 1; i < len(ranks); i++ {
		before += ranks[i-1]
		k := float64(i)
		size = max(size, math.Abs(before-total*k/n)/math.Sqrt(k*(n-k)))
	}
	return size
}
