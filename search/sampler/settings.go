package sampler

import "pawl/search/sampler/gaussian"

// Settings are the numbers of the samplers that were chosen by measurement, on the
// recorded spaces of docs/spaces with a hundred seeds each. docs/search.md has the
// figures, and what else was tried. Defaults returns them; a zero Settings is of no
// use.
type Settings struct {
	Search  Search
	GP      GP
	Evolve  Evolve
	Goptuna Goptuna
	Auto    Auto
	Cost    Cost
	Regret  RegretSettings
	Process gaussian.Settings
}

// Search is how points with a large score are looked for, whatever the model.
type Search struct {
	// Starts is the number of candidates from which the search climbs, Steps bounds
	// one way uphill, and Bests is the number of observations whose neighbors are
	// candidates.
	Starts, Steps, Bests int
	// Spread is the number of random points of which the one is taken that is
	// farthest from what was tried, before there is a model.
	Spread int
	// Fewest is the smallest number of times to fit a model to.
	Fewest int
}

// GP is the Gaussian process as a sampler.
type GP struct {
	// Startup is few: from the first handful on the model chooses better than chance does.
	Startup int
	// Most bounds the observations of the model: time grows with the third power.
	// Beyond it failures and the slowest are left out.
	Most int
	// Fit bounds the observations that lengths are fitted to.
	Fit int
	// Inflation is what the model's deviations are multiplied by. Lengths that were
	// fitted to a few dozen observations are taken for the truth, which makes the
	// model too sure of itself; widening them gains 1 to 2 % of the optimum.
	Inflation float64
	// Candidates is the number of random points whose improvement is computed; from the best of them the search climbs.
	Candidates int
	// Labels bounds the observations of each label, works and fails, and LabelFit
	// those that the labels' lengths are fitted to: they have less to teach.
	Labels, LabelFit int
	// Earlier is the number of observations that an earlier study must have to become part of the model.
	Earlier int
	// FollowFrom is the number of times from which on an earlier study is followed.
	FollowFrom int
	// FollowInflation is Inflation while studies of the same device are followed.
	FollowInflation float64
}

// Evolve is the genetic algorithm.
type Evolve struct {
	Population int
	// Draws is how often a child is drawn before a random point is taken.
	Draws int
}

// Goptuna is goptuna's Parzen estimator.
type Goptuna struct {
	// Startup is the number of times before it is asked: goptuna's own.
	Startup int
	// Asks is how often it is asked before a random point is taken.
	Asks int
}

// Auto says how often the model has a turn.
type Auto struct {
	// What an ask takes for each parameter, in seconds: AskAxis at least, AskEach more for each observation, AskFit for
	// each that the model is fitted to, when it is.
	AskAxis, AskEach, AskFit float64
	// Share is the part of the trials' time that asking may take.
	Share float64
}

// Cost is the model of what a trial takes.
type Cost struct {
	// Shrink is the number of imagined observations without any effect that each
	// value is averaged with: what was seen once counts for a third.
	Shrink float64
	// Sweeps is how often the effects are fitted to what the others leave.
	Sweeps int
	// Most bounds how many times as long as a typical one a trial is taken to last,
	// and how much shorter: no point is ruled out by its cost, and none is chosen
	// for it alone.
	Most float64
	// Fewest is the number of costs that must be known.
	Fewest int
}

// RegretSettings are those of EstimateRegret.
type RegretSettings struct {
	// Sure is the probability that the bound holds.
	Sure float64
	// Observations is the smallest number of times to estimate from.
	Observations int
	// Candidates is the number of free points that stand for all.
	Candidates int
	// Draws is the number of points that are drawn uniformly before the bound ends a search. Without a faster one among
	// 45, at most 5 % of the points are faster, 90 % sure.
	Draws int
}

// Defaults returns the settings that have won.
func Defaults() Settings {
	return Settings{
		Search: Search{Starts: 3, Steps: 20, Bests: 3, Spread: 20, Fewest: 3},
		GP: GP{
			Startup: 5, Most: 300, Fit: 64, Inflation: 3, Candidates: 600,
			Labels: 100, LabelFit: 40, Earlier: 10, FollowFrom: 2, FollowInflation: 0.5,
		},
		Evolve:  Evolve{Population: 20, Draws: 100},
		Goptuna: Goptuna{Startup: 10, Asks: 50},
		Auto:    Auto{AskAxis: 3e-4, AskEach: 6e-6, AskFit: 2e-5, Share: 0.1},
		Cost:    Cost{Shrink: 2, Sweeps: 5, Most: 4, Fewest: 5},
		Regret:  RegretSettings{Sure: 0.9, Observations: 20, Candidates: 1500, Draws: 45},
		Process: gaussian.Settings{
			LengthPrior: -0.35, LengthSpread: 0.7, AlignmentPrior: 0.35, SinglePrior: 1.75,
			NoisePrior: -4.6, NoiseSpread: 1.5, MainEffectSpread: 1, FitSteps: 20, LabelBlur: 0.1,
			TrendFit: 64, TrendMost: 120, TrendSweeps: 30,
			FollowMisses: 3, FollowCut: -0.5, FollowPrecision: 4,
		},
	}
}
