package stats

import (
	"math"
	"math/bits"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mathext"
)

// medianRanks draws the median of a bootstrap resample without drawing the
// resample. Drawing n of n samples with replacement is drawing n ranks, each
// uniform on 0..n-1, and the median only needs the middle one or two.
//
// With k = ceil(n/2), the k-th lowest rank is at most i when at least k of the n
// draws are, so its distribution function is a binomial tail, which is the
// regularized incomplete beta function (this is Efron's exact bootstrap of the
// median, Annals of Statistics 7, 1979, section 3). The rank is drawn from it in
// constant time by Walker's alias method in Vose's form (1991).
//
// An odd n is done there. For an even n = 2m the rank above is needed too. Given
// that the m-th rank is i, the next exceeds j >= i only if exactly m draws are at
// most i and the other m above j, so
//
//	P(m-th = i, next > j) = C(2m,m) ((i+1)^m - i^m) (n-1-j)^m / n^(2m).
//
// Hence P(next > i | m-th = i) is one number per rank, above, and the chance of
// passing over j once i is passed, ((n-1-j)/(n-j))^m, does not depend on i: over.
// The gap between neighboring ranks is near 1, so a linear walk is short.
type medianRanks struct {
	// keep and alias: column c answers c when the fraction is below keep[c], of 2^64, and alias[c] otherwise.
	keep  []uint64
	alias []int

	// above and over are nil for an odd n.
	above []float64
	over  []float64
}

func newMedianRanks(n int) *medianRanks {
	ranks := &medianRanks{}
	lower := (n + 1) / 2
	probability := make([]float64, n)
	previous := 0.0
	for i := range n {
		atMost := mathext.RegIncBeta(float64(lower), float64(n-lower+1), float64(i+1)/float64(n))
		probability[i] = max(0, atMost-previous)
		previous = atMost
	}
	ranks.keep, ranks.alias = aliasTable(probability)
	if n%2 == 0 {
		ranks.above, ranks.over = upperRank(n, probability)
	}
	return ranks
}

// upperRank tabulates the law of the upper middle rank given the lower one, for an
// even n; see medianRanks. It works with logarithms because the powers underflow.
func upperRank(n int, probability []float64) (above, over []float64) {
	half := float64(n / 2)
	pairs, _ := math.Lgamma(float64(n + 1))
	one, _ := math.Lgamma(half + 1)
	logBinomial := pairs - 2*one
	above, over = make([]float64, n), make([]float64, n)
	for i := range n - 1 {
		rank, size := float64(i), float64(n)
		logJoint := logBinomial + half*math.Log((rank+1)/size) +
			math.Log1p(-math.Exp(half*math.Log(rank/(rank+1)))) +
			half*math.Log((size-1-rank)/size)
		// Far in the tails the probability has cancelled to noise or zero; such
		// ranks are never drawn, and the bounds only keep the table sane.
		if probability[i] > 0 {
			above[i] = min(1, math.Exp(logJoint)/probability[i])
		}
		over[i] = math.Exp(half * math.Log1p(-1/(size-rank)))
	}
	return above, over
}

// draw returns the median of one resample of ascending, whose length must be the n that the table was made for.
func (r *medianRanks) draw(ascending []float64, random *source) float64 {
	column, fraction := bits.Mul64(random.Uint64(), uint64(len(r.keep)))
	lower := int(column)
	if fraction >= r.keep[lower] {
		lower = r.alias[lower]
	}
	if r.above == nil {
		return ascending[lower]
	}
	upper, threshold := lower, random.share()
	for survival := r.above[lower]; threshold < survival; {
		upper++
		survival *= r.over[upper]
	}
	return midpoint(ascending[lower], ascending[upper])
}

// aliasTable builds Vose's table for the probabilities, which need not sum to exactly 1.
func aliasTable(probability []float64) (keep []uint64, alias []int) {
	n := len(probability)
	sum := floats.Sum(probability)
	keep, alias = make([]uint64, n), make([]int, n)
	scaled := make([]float64, n)
	var small, large []int
	for i, p := range probability {
		scaled[i] = p / sum * float64(n)
		// A column that is never paired below is full but for rounding.
		keep[i], alias[i] = math.MaxUint64, i
		if scaled[i] < 1 {
			small = append(small, i)
		} else {
			large = append(large, i)
		}
	}
	for len(small) > 0 && len(large) > 0 {
		low, high := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		keep[low], alias[low] = uint64(math.Ldexp(scaled[low], 64)), high
		scaled[high] -= 1 - scaled[low]
		if scaled[high] < 1 {
			large = large[:len(large)-1]
			small = append(small, high)
		}
	}
	return keep, alias
}
