package gate

import (
	"math"
	"math/rand/v2"
	"slices"

	"pawl/internal/stats"
)

// power is the chance with which the smallest visible regression would be seen.
const power = 0.9

// powerSimulation finds the minimum detectable slowdown: it simulates comparisons from
// the rounds that were measured, with a slowdown put in, judged at the planned analyses
// by the rule that judged the real ones. No formula knows what the rule does with this
// machine's noise.
type powerSimulation struct {
	policy   Policy
	analyses []Analysis
	// draws are the noise of each simulated comparison: log ratios about 0, by round.
	draws [][]float64
	// wider is by how much the bootstrap, which draws also inside processes, makes
	// an interval wider than the rounds alone do.
	wider float64
}

// simulations is how many comparisons are simulated, by the size of the bootstrap: a
// share of 0.9 of 400 is known to 1.5 points.
func simulations(b stats.Bootstrap) int {
	if b.Resamples == 0 {
		return 400
	}
	return min(400, max(50, b.Resamples/25))
}

// newPowerSimulation takes the noise from the rounds that were measured: candidate against
// baseline and against the control, which is the baseline once more, each about its
// own middle. Rounds are drawn with replacement.
func newPowerSimulation(p Policy, analyses []Analysis, w weighed, b stats.Bootstrap) *powerSimulation {
	var noise []float64
	for _, ratios := range [][]float64{w.ratios, w.controlRatios} {
		middle := stats.Median(ratios)
		for _, ratio := range ratios {
			noise = append(noise, (ratio-middle)*fewRounds(len(ratios)))
		}
	}
	r := &powerSimulation{policy: p, analyses: analyses, wider: 1}
	random := rand.New(rand.NewPCG(b.Seed, 0x72656865617273))
	for range simulations(b) {
		draw := make([]float64, analyses[len(analyses)-1].Rounds)
		for i := range draw {
			draw[i] = noise[random.IntN(len(noise))]
		}
		r.draws = append(r.draws, draw)
	}
	low, high := rankInterval(slices.Sorted(slices.Values(w.ratios)))
	if width := math.Log((1 - w.between.Interval.Low) / (1 - w.between.Interval.High)); high > low {
		r.wider = min(3, max(1, width/(high-low)))
	}
	return r
}

// fewRounds is by how much the spread of some rounds is likely to be larger than
// they show: those that ended a comparison early were, by selection, quiet ones.
// Chosen on simulated machines, so that what is printed is found.
func fewRounds(rounds int) float64 { return 1.12 + 4/float64(rounds) }

// smallest returns the smallest slowdown that is found nine times of ten, as a
// share, or 0 where none up to a doubling is.
func (r *powerSimulation) smallest() float64 {
	low, high := 0.0, math.Ln2
	if r.found(high) < power {
		return 0
	}
	for high-low > 0.002 {
		if middle := (low + high) / 2; r.found(middle) < power {
			low = middle
		} else {
			high = middle
		}
	}
	return math.Expm1(high)
}

// sees reports whether a slowdown, a share, is found nine times of ten.
func (r *powerSimulation) sees(slowdown float64) bool {
	return r.found(math.Log1p(slowdown)) >= power
}

// found is the share of the comparisons that call a slowdown, a log ratio, a
// regression.
func (r *powerSimulation) found(slowdown float64) float64 {
	found := 0
	ratios := make([]float64, 0, len(r.draws[0]))
	for _, draw := range r.draws {
		ratios = ratios[:0]
		for _, noise := range draw {
			ratios = append(ratios, noise-slowdown)
		}
		if r.regression(ratios) {
			found++
		}
	}
	return float64(found) / float64(len(r.draws))
}

// regression judges one comparison as Policy.judge does.
func (r *powerSimulation) regression(ratios []float64) bool {
	for i, analysis := range r.analyses {
		sofar := ratios[:analysis.Rounds]
		ascending := slices.Sorted(slices.Values(sofar))
		middle := stats.Median(ascending)
		low, high := rankInterval(ascending)
		low, high = middle-r.wider*(middle-low), middle+r.wider*(high-middle)
		change := changeOf(math.Exp(middle))
		beyond := high < 0 && change < -r.policy.Regression && provenBy(sofar, analysis.Level)
		clear := changeOf(math.Exp(high)) < -r.policy.Regression
		within := changeOf(math.Exp(low)) > -r.policy.Regression && changeOf(math.Exp(high)) < r.policy.Improvement
		switch {
		case beyond && (clear || i == len(r.analyses)-1):
			return true
		case !beyond && within:
			return false
		}
	}
	return false
}

// provenBy reports whether the exact test reaches a level. Beyond twenty rounds its
// normal approximation decides, which errs towards not proven: the sum of bounded
// coin tosses has lighter tails.
func provenBy(ratios []float64, level float64) bool {
	const exact = 20
	if len(ratios) <= exact {
		return stats.SignFlip(ratios) <= level
	}
	return stats.SignFlipNormal(ratios) <= level
}

// rankInterval is the percentile bootstrap's 95 % interval of the median of sorted
// values, which lies at fixed ranks.
func rankInterval(ascending []float64) (low, high float64) {
	n := len(ascending)
	rank := max(0, int(float64(n)/2-0.98*math.Sqrt(float64(n))))
	return ascending[rank], ascending[n-1-rank]
}
