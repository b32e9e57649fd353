package sampler

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"pawl/search/sampler/gaussian"
	"pawl/search/trial"
)

// candidate is a free point's predicted time, on the model's scale, and how many free points it stands for.
type candidate struct {
	mean, deviation float64
	works           float64 // the probability that it has a time at all
	weight          float64
}

// EstimateRegret asks a Gaussian process what the other points may hold, above all
// the free ones. It answers false while too little is known. The same view and the
// same seed give the same answer.
//
// The points are taken as independent. They are not, and that errs on the safe
// side: the best of many that move together is less extreme. On the other side
// the model knows nothing of what it has not seen. So its deviations are wider by as much as it fails to explain of the
// times that it was given, and the bound is never below
// what the second half of the trials has bought: another doubling may buy that
// again. All parts are needed for the bound to hold as often as it claims, see
// docs/search.md.
func EstimateRegret(view *View, settings Settings, seed uint64) (trial.Regret, bool) {
	g := newGP(newCommon(view.Pool.Space(), settings), view.Pool.Space())
	times := times(view.Observations)
	if len(times) < settings.Regret.Observations || len(g.axes) == 0 {
		return trial.Regret{}, false
	}
	regret := trial.Regret{Sure: settings.Regret.Sure}
	if view.FreeCount() == 0 {
		return regret, true
	}
	data := g.training(view, view.Observations, settings.GP.Most)
	model, scaled := g.model(view, data)
	model.Condition(scaled)
	best, tried := rivals(model, data, scaled)
	untried := g.untried(view, model, rand.New(rand.NewPCG(seed, 0x726567726574)))
	unit := logUnit(data.Values)
	candidates := slices.Concat(tried, untried)
	wider := 1 + unexplained(model, data.Values, scaled)
	for i := range candidates {
		candidates[i].deviation = wider * math.Hypot(candidates[i].deviation, best.deviation)
	}
	bound := 1 - math.Exp(-unit*boundOfBest(candidates, best.mean, regret.Sure))
	regret.Left = max(bound, secondHalf(times))
	return regret, true
}

// unexplained returns the error of what all other observations predict of each time, as a part of the deviation of the
// times: 0 where the model knows the space, about 1 where it knows nothing. A process that was fitted to points which a
// search has chosen is too sure of itself, and this says by how much.
func unexplained(model *gaussian.Process, values, scaled []float64) float64 {
	var errors, times []float64
	for i, e := range model.LeaveOneOut() {
		if values[i] != failedTime {
			errors, times = append(errors, e*e), append(times, scaled[i])
		}
	}
	return math.Sqrt(stat.Mean(errors, nil) / max(stat.PopVariance(times, nil), 1e-12))
}

// rivals returns the fastest observation as the model sees it, and all others. Where
// times are noisy the fastest was lucky, and one of the others may be better.
func rivals(model *gaussian.Process, data gaussian.Data, scaled []float64) (best candidate, others []candidate) {
	means, deviations := model.Predict(data.Points)
	fastest := slices.Index(scaled, slices.Min(scaled))
	for i := range data.Points {
		c := candidate{means[i], deviations[i], 1, 1}
		switch {
		case i == fastest:
			best = c
		case data.Values[i] != failedTime:
			others = append(others, c)
		}
	}
	return best, others
}

// secondHalf returns the share of the best time that the second half of the trials has gained over the first.
func secondHalf(times []float64) float64 {
	return 1 - slices.Min(times)/slices.Min(times[:len(times)/2])
}

// untried predicts the neighbors of the best observations, which stand for
// themselves, and random free points, which stand for all others.
func (g *gpSampler) untried(view *View, model *gaussian.Process, rng *rand.Rand) []candidate {
	var near []int
	neighbors := newNeighbors(view.Pool, g.axes)
	for _, o := range view.fastest(g.settings.Search.Bests) {
		neighbors.each(o.Index, func(index int) {
			if view.Free(index) {
				near = append(near, index)
			}
		})
	}
	slices.Sort(near)
	near = slices.Compact(near)
	far := slices.DeleteFunc(freeSubset(view, g.settings.Regret.Candidates, rng), func(index int) bool {
		_, known := slices.BinarySearch(near, index)
		return known
	})
	points := slices.Concat(near, far)
	works := g.classifier(view)
	values := gaussian.ValuesOfAll(g.axes, view.Pool, points)
	means, deviations := model.Predict(values)
	candidates := make([]candidate, len(points))
	for i := range points {
		candidates[i] = candidate{means[i], deviations[i], math.Exp(works.LogProbability(values[i])), 1}
		if i >= len(near) {
			candidates[i].weight = float64(view.FreeCount()-len(near)) / float64(len(far))
		}
	}
	return candidates
}

// logNoneBelow returns the logarithm of the probability that no candidate's time is below a level.
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
