package gate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"

	"pawl/internal/page"
	"pawl/internal/stats"
)

// weighed is all that is known at an analysis.
type weighed struct {
	analysis Analysis
	first    bool // of the planned ones
	family   int  // how many rows are judged beside each other; 0 or 1 for one alone
	last     bool
	between  Evidence  // baseline against candidate
	control  Evidence  // baseline against itself
	best     *Evidence // best accepted entry against candidate; nil where it is the baseline
	tails    []Tail
	mean     *Tail
	rounds   []logTimes
	tick     float64 // of the clock, a share of the time
	// smallest works out the smallest regression that would have been seen.
	smallest func() float64
}

// judge turns evidence into a decision. The rules stand in docs/gate.md, in this
// order. A comparison ends early only where all its questions are answered: against
// the baseline, against the best accepted entry, and about the slowest calls.
func (p Policy) judge(w weighed) Decision {
	if d := p.judgeConditions(w); d != nil {
		return *d
	}
	d := p.judgeChange(w)
	if d.Verdict == Regression && d.clear {
		return d
	}
	erosion, eroding := p.judgeErosion(w)
	tail, tailOpen := p.judgeTails(w)
	for _, other := range []*Decision{erosion, tail} {
		if other != nil && other.Verdict == Regression {
			return *other
		}
	}
	if other := cmp.Or(erosion, tail); other != nil && d.Verdict != Regression {
		return *other
	}
	d.clear = w.last || d.clear && !eroding && !tailOpen
	return d
}

// judgeChange holds the candidate against the baseline.
func (p Policy) judgeChange(w weighed) Decision {
	e := w.between
	within := e.Interval.Low > -p.Regression && e.Interval.High < p.Improvement
	switch proven := w.proven(e); {
	case proven && e.Change < -p.Regression, w.family < 2 && p.gross(w):
		return Decision{Regression,
			fmt.Sprintf("slower by %s, more than %s", page.Percent(-e.Change), page.Percent(p.Regression)),
			// As a gain, a loss counts only if it is seen twice: at the analysis after the first, too.
			w.last || !w.first && e.Interval.High < -p.Regression}
	case proven && e.Change > p.Improvement && math.Abs(e.Delta) < p.Effect:
		return Decision{Maintained,
			fmt.Sprintf("faster by %s, but δ is %.2f, below %.2g", page.Percent(e.Change), e.Delta, p.Effect), w.last}
	case proven && e.Change > p.Improvement:
		return Decision{Improvement,
			fmt.Sprintf("faster by %s, more than %s", page.Percent(e.Change), page.Percent(p.Improvement)),
			w.last || e.Interval.Low > p.Improvement}
	case proven:
		return Decision{Maintained, fmt.Sprintf("%s, which is within the limits", faster(e.Change)), w.last || within}
	case within:
		return Decision{NoDifference,
			fmt.Sprintf("%s, and the change lies between the limits: no regression of %s", w.unproven(),
				page.Percent(p.Regression)), true}
	}
	return p.judgeNoise(w)
}

// gross reports whether so few rounds that no test can prove anything show a slowdown all the same: it is beyond twice
// the limit, its whole interval is beyond the limit, and in every round the candidate is slower than both the baseline
// and the control by the limit. Equal arms do that in one of 3^6 comparisons of six rounds, whatever the noise between
// rounds. Of fewer than six rounds no interval is known.
func (p Policy) gross(w weighed) bool {
	e := w.between
	return !w.analysis.canProve() && e.Change < -2*p.Regression && e.Interval.High < -p.Regression &&
		!slices.ContainsFunc(w.rounds, func(t logTimes) bool {
			return t.candidate-max(t.baseline, t.control) <= math.Log1p(p.Regression)
		})
}

// unproven says why no difference is proven.
func (w weighed) unproven() string {
	if w.between.Interval.Contains(0) {
		return "the intervals overlap"
	}
	return fmt.Sprintf("the difference may be chance (p = %.2g, and %.2g would prove it)", w.between.P, w.analysis.Level)
}

// proven reports whether two arms differ: the bootstrap interval excludes no
// difference, and so does the exact test at the level of this analysis.
func (w weighed) proven(e Evidence) bool { return e.P <= w.analysis.Level && !e.Interval.Contains(0) }

// judgeErosion holds the candidate against the best accepted entry, and says
// whether a later analysis might still answer otherwise. An estimate beyond the limit
// that is not proven in the end is not let pass.
func (p Policy) judgeErosion(w weighed) (d *Decision, open bool) {
	if w.best == nil {
		return nil, false
	}
	switch e := *w.best; {
	case e.Change < -p.Erosion && w.proven(e):
		return &Decision{Regression,
			fmt.Sprintf("erosion: slower than the best accepted entry by %s, more than %s", page.Percent(-e.Change),
				page.Percent(p.Erosion)), w.last || !w.first && e.Interval.High < -p.Erosion}, true
	case e.Change < -p.Erosion && w.last:
		return &Decision{Inconclusive,
			fmt.Sprintf("erosion: slower than the best accepted entry by %s, more than %s, but that may be chance (p = %.2g)",
				page.Percent(-e.Change), page.Percent(p.Erosion), e.P), true}, true
	default:
		return nil, e.Interval.Low < -p.Erosion
	}
}

// judgeNoise decides where no difference is proven and the interval reaches
// beyond the limits. Only the last analysis needs to know what would have been seen.
func (p Policy) judgeNoise(w weighed) Decision {
	e := w.between
	if e.Change < -p.Regression || e.Change > p.Improvement {
		return Decision{Inconclusive,
			fmt.Sprintf("too noisy: %s, but that may be chance; %s", faster(e.Change), p.remedy(w)), w.last}
	}
	if !w.last {
		return Decision{Verdict: Inconclusive, Reason: "too noisy so far"}
	}
	switch blind := w.smallest(); {
	case blind == 0:
		return Decision{Inconclusive, fmt.Sprintf("too noisy: not even a doubling would have been seen; %s", p.remedy(w)),
			true}
	case blind > 2*p.Regression:
		return Decision{Inconclusive,
			fmt.Sprintf("too noisy: only a regression of %s would have been seen; %s", page.Percent(blind), p.remedy(w)), true}
	default:
		return Decision{NoDifference,
			fmt.Sprintf("%s; the smallest regression that would have been seen is %s", w.unproven(), page.Percent(blind)), true}
	}
}

// remedy says what would show a regression of the policy's size.
func (p Policy) remedy(w weighed) string {
	needed := stats.PairsNeeded(w.between.Spread*medianFactor, math.Log1p(p.Regression), w.analysis.Level/2, power)
	if needed > w.analysis.Rounds {
		return fmt.Sprintf("about %d rounds would show %s", needed, page.Percent(p.Regression))
	}
	return "a quieter machine is needed"
}

func faster(change float64) string {
	if change < 0 {
		return "slower by " + page.Percent(-change)
	}
	return "faster by " + page.Percent(change)
}

// weigh gathers what is known at an analysis.
func (r *run) weigh(analyses []Analysis, analysis Analysis, last bool) weighed {
	statistic := statisticFor(r.variations)
	with := weighing{
		samples: r.samples, orders: r.orders, statistic: statistic, rounds: timesOf(r.samples, statistic),
		level: analysis.intervals(r.policy), tick: tickOf(r.samples), sides: map[Arm]Side{},
	}
	for arm, processes := range r.samples {
		with.sides[arm] = describe(processes, r.variations[arm])
	}
	w := weighed{
		analysis: analysis, first: analysis.Rounds <= analyses[0].Rounds, last: last,
		between: with.compare(Baseline, Candidate), control: with.compare(Baseline, Control),
		tails:  r.policy.weighTails(analysis, with.tick, r.samples[Baseline], r.samples[Candidate]),
		mean:   r.policy.weighMeans(analysis, with.tick, r.samples[Baseline], r.samples[Candidate]),
		rounds: with.rounds, tick: with.tick,
	}
	known := w
	w.smallest = sync.OnceValue(func() float64 {
		return newPowerSimulation(r.policy, r.reachable(analyses, analysis), known, r.options.Simulations).smallest()
	})
	if len(r.samples[Best]) > 0 {
		w.best = new(with.compare(Best, Candidate))
	}
	return w
}
