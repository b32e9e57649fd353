package sampler

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"

	"pawl/internal/collect"
	"pawl/search/sampler/gaussian"
	"pawl/space"
)

// gpSampler asks a Gaussian process for the point with the largest expected
// improvement, times the probability that it works.
//
// It models logarithms of times, with the slow half compressed: how slow a slow
// point is says little about where the fast ones are. What a failure says is
// learned as a probability, by a process with lengths of its own, because what makes
// a kernel fail is rarely what makes it slow; in the model of times it stands at the
// median, which says no more than that there is nothing to find there. Pending
// points are taken to come out as predicted, so that a batch spreads.
type gpSampler struct {
	common
	shape gaussian.Shape
	// What follows saves time only.
	times, labeled gaussian.Fitted
	memory         []Memory // what trend is made of
	trend          *gaussian.Trend
	sameDevice     []bool // of the trend's studies
}

var _ Ranker = (*gpSampler)(nil)

func newGP(c common, s *space.Space) *gpSampler {
	return &gpSampler{
		common: c, shape: gaussian.NewShape(s, c.settings.Process),
		times: gaussian.Fitted{Most: c.settings.GP.Fit}, labeled: gaussian.Fitted{Most: c.settings.GP.LabelFit},
	}
}

func (g *gpSampler) Next(view *View, rng *rand.Rand) int {
	if len(g.axes) == 0 {
		return RandomFree(view, rng)
	}
	works := g.classifier(view)
	score, done := g.acquisition(view, works, view.Pending, view.CostWeight)
	if score == nil {
		return g.start(view, rng, works.LogProbability)
	}
	defer done()
	return g.climb(view, rng, g.settings.GP.Candidates, score)
}

// Acquisition leaves out what is pending, and costs: a point that is compiled has cost most of what it will.
func (g *gpSampler) Acquisition(view *View, points []int) []float64 {
	if len(g.axes) == 0 {
		return nil
	}
	score, done := g.acquisition(view, g.classifier(view), nil, 0)
	if score == nil {
		return nil
	}
	defer done()
	return score(points, math.Inf(-1))
}

// acquisition returns the score of points, the larger the better, nil where too little is
// known, and what to call when it is not needed any more.
func (g *gpSampler) acquisition(view *View, works *gaussian.Classifier, pending []int,
	costWeight float64) (score func(points []int, floor float64) []float64, done func()) {
	data := g.training(view, view.Observations, g.settings.GP.Most)
	earlier := g.earlier(view)
	followed := earlier.Followed(data.Points, data.Values)
	if g.tooFew(view, len(working(data.Values)), len(followed) > 0) {
		return nil, nil
	}
	model, scaled := g.model(view, data)
	for _, index := range pending {
		model.Extend(gaussian.ValuesOf(g.axes, view.Pool.Row(index)))
	}
	trust := earlier.Follow(model, data.Points, scaled, followed)
	model.Inflate(g.varianceScale(followed))
	best := slices.Min(scaled)
	costs := g.costs(view)
	score = func(points []int, floor float64) []float64 {
		candidates := gaussian.ValuesOfAll(g.axes, view.Pool, points)
		logWeights := collect.Each(candidates, func(values []uint16) float64 {
			return works.LogProbability(values) - costWeight*costs.log(values)
		})
		return model.LogImprovement(candidates, earlier.Expect(candidates, trust), logWeights, best, floor)
	}
	return score, func() { model.Shrink(len(data.Points)) }
}

// varianceScale returns what the model's deviations are multiplied by. While studies of this very
// device, and no others, are followed, less is uncertain: more was observed than this study has seen.
func (g *gpSampler) varianceScale(followed []int) float64 {
	if len(followed) == 0 || slices.ContainsFunc(followed, func(e int) bool { return !g.sameDevice[e] }) {
		return g.settings.GP.Inflation
	}
	return g.settings.GP.FollowInflation
}

// tooFew reports whether there is too little for a model. While an earlier study is
// followed, its expectations stand in for most of it.
func (g *gpSampler) tooFew(view *View, working int, follows bool) bool {
	if follows {
		return working < g.settings.GP.FollowFrom
	}
	return len(view.Observations)+len(view.Pending) < g.settings.GP.Startup || working < g.settings.Search.Fewest
}

// model returns the process over the training data, not yet conditioned, and the data's scaled times.
func (g *gpSampler) model(view *View, data gaussian.Data) (*gaussian.Process, []float64) {
	fit := g.training(view, view.Observations[:g.fitCount(len(view.Observations), 0)], g.settings.GP.Most)
	fit.Values = scaledTimes(fit.Values)
	return g.times.Over(g.shape, fit, data.Points), scaledTimes(data.Values)
}

// fitCount returns how many of n observations the parameters are fitted to:
// the last number of a row that grows by an eighth, or of one that lies part of the
// way from each to the next. Between two of them the factor is extended instead. The
// two models have a row each, so that no ask has to wait for both fits.
func (g *gpSampler) fitCount(n int, part float64) int {
	count := min(n, g.settings.Search.Fewest)
	for next := count; ; next += max(1, next/8) {
		at := next + int(part*float64(next/8))
		if at > n {
			return count
		}
		count = at
	}
}

// classifier returns nil while nothing has failed or nothing has worked.
func (g *gpSampler) classifier(view *View) *gaussian.Classifier {
	if share := view.workingShare(); share == 0 || share == 1 {
		return nil
	}
	most := g.settings.GP.Labels
	data := g.labels(view, view.Observations, most)
	fit := g.labels(view, view.Observations[:g.fitCount(len(view.Observations), 0.5)], most)
	return gaussian.NewClassifier(g.shape, g.labeled.Over(g.shape, fit, data.Points), data.Values)
}

// earlier returns what earlier studies expect, nil where none has observed enough.
func (g *gpSampler) earlier(view *View) *gaussian.Trend {
	if reflect.DeepEqual(g.memory, view.Earlier) { // at once where they are the same in memory
		return g.trend
	}
	g.sameDevice = nil
	var studies []gaussian.Data
	for _, memory := range view.Earlier {
		if len(memory.Points) < g.settings.GP.Earlier {
			continue
		}
		g.sameDevice = append(g.sameDevice, memory.SameDevice)
		var data gaussian.Data
		for _, m := range memory.Points {
			data.Add(gaussian.ValuesOf(g.axes, m.Row), m.Milliseconds)
		}
		data.Values = scaledTimes(data.Values)
		studies = append(studies, data)
	}
	g.memory, g.trend = view.Earlier, gaussian.NewTrend(g.shape, studies)
	return g.trend
}
