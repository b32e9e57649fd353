package search

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Regret is an estimate of what a search has not found yet. Shares are of the
// best time: 0.015 means 1.5 % faster.
type Regret struct {
	// Left bounds the gain that is left anywhere in the space, with the
	// probability Sure.
	Left float64 `json:"left"`
	Sure float64 `json:"sure"`
	// Gain is what More further trials would buy, on average.
	Gain float64 `json:"gain"`
	More int     `json:"more"`
}

const (
	// regretSure is the probability that the bound holds.
	regretSure = 0.9
	// regretMore is the number of further trials that Gain speaks of.
	regretMore = 40
	// regretObservations is the smallest number of times to estimate from.
	regretObservations = 20
	// regretCandidates is the number of free points that stand for all.
	regretCandidates = 1500
	// regretCaution widens the model's deviations for the bound: a process that
	// was fitted to points which a search has chosen is too sure of itself.
	regretCaution = 1.5
)

// candidate is a free point's predicted time, on the model's scale, and how
// many free points it stands for.
type candidate struct {
	mean, deviation float64
	works           float64 // the probability that it has a time at all
	weight          float64
}

// EstimateRegret asks a Gaussian process what the other points may hold, above all
// the free ones. It
// answers false while too little is known. The same view and the same seed give
// the same answer.
//
// The points are taken as independent. They are not, and that errs on the safe
// side: the best of many that move together is less extreme. On the other side
// the model knows nothing of what it has not seen, so the bound is never below
// what the second half of the trials has bought: another doubling may buy that
// again. Both parts are needed for the bound to hold as often as it claims, see
// docs/search.md.
func EstimateRegret(view *View, seed uint64) (Regret, bool) {
	g := newGPSampler(newKernelShape(view.Pool.Space(), true, true))
	times := workingTimes(view)
	if len(times) < regretObservations || len(g.shape.axes) == 0 {
		return Regret{}, false
	}
	regret := Regret{Sure: regretSure, More: regretMore}
	if view.FreeCount() == 0 {
		return regret, true
	}
	training := func(told []Observation) training { return newTraining(view.Pool, g.shape.axes, told, gpMost) }
	data := training(view.Observations)
	model := g.times.over(g.shape, view.Observations, data, training, scaledTimes)
	scaled := scaledTimes(data.values)
	model.condition(scaled)
	best, tried := rivals(model, data, scaled)
	untried := regretPoints(view, g, model, rand.New(rand.NewPCG(seed, 0x726567726574)))
	unit := logUnit(slices.DeleteFunc(slices.Clone(data.values), func(t float64) bool { return t == failedTime }))
	share := func(gain float64) float64 { return 1 - math.Exp(-gain*unit) }
	regret.Gain = share(expectedGain(untried, best.mean, regretMore))
	candidates := slices.Concat(tried, untried)
	for i := range candidates {
		candidates[i].deviation = regretCaution * math.Hypot(candidates[i].deviation, best.deviation)
	}
	regret.Left = max(share(boundOfBest(candidates, best.mean, regretSure)), secondHalf(times), regret.Gain)
	return regret, true
}

// rivals returns the fastest observation as the model sees it, and all others. Where
// times are noisy the fastest was lucky, and one of the others may be better.
func rivals(model *gaussianProcess, data training, scaled []float64) (best candidate, others []candidate) {
	means, deviations := model.predict(data.points)
	fastest := slices.Index(scaled, slices.Min(scaled))
	for i := range data.points {
		c := candidate{means[i], deviations[i], 1, 1}
		switch {
		case i == fastest:
			best = c
		case data.values[i] != failedTime:
			others = append(others, c)
		}
	}
	return best, others
}

// secondHalf returns the share of the best time that the second half of the
// trials has gained over the first.
func secondHalf(times []float64) float64 {
	return 1 - slices.Min(times)/slices.Min(times[:len(times)/2])
}

// workingTimes returns the times that were told, in order.
func workingTimes(view *View) []float64 {
	var times []float64
	for _, o := range view.Observations {
		if !o.Failed {
			times = append(times, o.Milliseconds)
		}
	}
	return times
}

// logUnit returns how much of a logarithm of time one unit of scaledTimes is,
// at and below the median.
func logUnit(times []float64) float64 {
	sorted := slices.Clone(times)
	slices.Sort(sorted)
	return max(math.Log(sorted[len(sorted)/2]/sorted[0]), 1e-9)
}

// regretPoints predicts the neighbours of the best observations, which stand
// for themselves, and random free points, which stand for all others.
func regretPoints(view *View, g *gpSampler, model *gaussianProcess, rng *rand.Rand) []candidate {
	var near []int
	hood := newNeighbourhood(view.Pool, g.shape.axes)
	for _, o := range bestObservations(view, climbBests) {
		hood.each(o.Index, func(index int) {
			if view.Free(index) {
				near = append(near, index)
			}
		})
	}
	slices.Sort(near)
	near = slices.Compact(near)
	far := slices.DeleteFunc(freeSubset(view, regretCandidates, rng), func(index int) bool {
		_, known := slices.BinarySearch(near, index)
		return known
	})
	points := slices.Concat(near, far)
	feasible := g.feasible(view)
	values := valuesOfAll(g.shape.axes, view.Pool, points)
	means, deviations := model.predict(values)
	candidates := make([]candidate, len(points))
	for i := range points {
		candidates[i] = candidate{means[i], deviations[i], math.Exp(feasible.logProbability(values[i])), 1}
		if i >= len(near) {
			candidates[i].weight = float64(view.FreeCount()-len(near)) / float64(len(far))
		}
	}
	return candidates
}

// predict returns the means and deviations of points.
func (g *gaussianProcess) predict(points [][]uint16) (means, deviations []float64) {
	n := len(g.points)
	columns := newColumns(g)
	for start := 0; start < len(points); start += solveBlock {
		block := points[start:min(start+solveBlock, len(points))]
		correlations := make([]float64, n*len(block))
		order := make([]int, len(block))
		for i, values := range block {
			k := correlations[i*n : (i+1)*n]
			columns.at(values, k)
			mean := g.mean
			for j, weight := range g.weights {
				mean += weight * k[j]
			}
			means = append(means, mean)
			order[i] = i
		}
		for _, explained := range g.explained(correlations, order) {
			deviations = append(deviations, g.deviation(explained))
		}
	}
	return means, deviations
}

// logNoneBelow returns the logarithm of the probability that no candidate's
// time is below a level.
func logNoneBelow(candidates []candidate, level float64) float64 {
	sum := 0.0
	for _, c := range candidates {
		below := c.works * distuv.UnitNormal.CDF((level-c.mean)/c.deviation)
		sum += c.weight * math.Log1p(-min(below, 1-1e-12))
	}
	return sum
}

// boundOfBest returns by how much the best of the candidates is ahead of the
// best observation at most, with a probability.
func boundOfBest(candidates []candidate, best, sure float64) float64 {
	low, high := 0.0, 1.0 // the gain: certain enough at high
	for logNoneBelow(candidates, best-high) < math.Log(sure) && high < 1e6 {
		high *= 2
	}
	for range 50 {
		middle := (low + high) / 2
		if logNoneBelow(candidates, best-middle) < math.Log(sure) {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// expectedGain returns how far below the best observation the best of the most
// promising candidates will be, on average: the integral over levels of the
// probability that one is below.
func expectedGain(candidates []candidate, best float64, trials int) float64 {
	promising := slices.Clone(candidates)
	slices.SortStableFunc(promising, func(a, b candidate) int {
		return cmp.Compare(b.promise(best), a.promise(best))
	})
	chosen := 0.0
	for i, c := range promising {
		if chosen += c.weight; chosen >= float64(trials) {
			promising = promising[:i+1]
			break
		}
	}
	for i := range promising {
		promising[i].weight = min(promising[i].weight, float64(trials))
	}
	reach := boundOfBest(promising, best, 0.999)
	const steps = 200
	gain := 0.0
	for i := range steps {
		level := reach * (float64(i) + 0.5) / steps
		gain += (1 - math.Exp(logNoneBelow(promising, best-level))) * reach / steps
	}
	return gain
}

// promise is the logarithm of the expected improvement, failures considered.
func (c candidate) promise(best float64) float64 {
	return logExpectedImprovement(best, c.mean, c.deviation) + math.Log(c.works)
}
