package gate

import (
	"fmt"
	"math"

	"pawl/internal/stats"
)

// weighed is all that is known at a look.
type weighed struct {
	look    Look
	last    bool
	between Evidence  // baseline against candidate
	control Evidence  // baseline against itself
	oldest  *Evidence // oldest release against candidate; nil where it is the baseline
	ratios  []float64 // log(baseline/candidate) by round, in order
	medians []float64 // of the baseline, by round, in order
}

// judge turns evidence into a decision. The rules stand in docs/gate.md, in this
// order.
func (p Policy) judge(w weighed) Decision {
	if d := p.judgeConditions(w); d != nil {
		return *d
	}
	if d := p.judgeErosion(w); d != nil {
		return *d
	}
	e := w.between
	within := e.Interval.Low > -p.Regression && e.Interval.High < p.Improvement
	switch proven := w.proven(e); {
	case proven && e.Change < -p.Regression:
		return Decision{Regression, fmt.Sprintf("slower by %s, more than %s", percent(-e.Change), percent(p.Regression)), w.last || e.Interval.High < -p.Regression}
	case proven && e.Change > p.Improvement && math.Abs(e.Delta) < p.Effect:
		return Decision{Maintained, fmt.Sprintf("faster by %s, but δ is %.2f, below %.2g", percent(e.Change), e.Delta, p.Effect), w.last}
	case proven && e.Change > p.Improvement:
		return Decision{Improvement, fmt.Sprintf("faster by %s, more than %s", percent(e.Change), percent(p.Improvement)), w.last || e.Interval.Low > p.Improvement}
	case proven:
		return Decision{Maintained, fmt.Sprintf("%s, which is within the limits", faster(e.Change)), w.last || within}
	case within:
		return Decision{NoDifference, fmt.Sprintf("the intervals overlap, and the change lies between the limits: no regression of %s", percent(p.Regression)), true}
	}
	return p.judgeNoise(w)
}

// proven reports whether two arms differ: the bootstrap interval excludes no
// difference, and so does the exact test at the level of this look.
func (w weighed) proven(e Evidence) bool { return e.P <= w.look.Level && !e.Interval.Contains(0) }

// judgeConditions looks for reasons not to believe the comparison at all.
func (p Policy) judgeConditions(w weighed) *Decision {
	if c := w.control; c.P <= controlLevel && math.Abs(c.Change) >= p.Regression/3 {
		return &Decision{Inconclusive, fmt.Sprintf("A/A failed: the baseline differs from itself by %s (p = %.2g): something disturbs the order of measurements", percent(math.Abs(c.Change)), c.P), w.last}
	}
	if moved, by := p.moved(w.ratios); moved {
		reason := fmt.Sprintf("drift: the ratio itself moved by %s during the run", percent(by))
		if drift := stats.Drift(w.medians); drift < -throttled {
			reason = fmt.Sprintf("throttling: the baseline became %s slower during the run and the ratio moved by %s", percent(-drift), percent(by))
		}
		return &Decision{Inconclusive, reason, w.last}
	}
	return nil
}

// controlLevel is the p-value at which the control says that something is wrong:
// one comparison in a hundred is given up for it.
const controlLevel = 0.01

// throttled is how much slower the baseline must have become for a moving ratio to
// be blamed on throttling.
const throttled = 0.05

// moved reports whether the ratio of the second half of the rounds differs from
// that of the first by more than the policy's limit, and not by chance. Then there
// is no one ratio to speak of.
func (p Policy) moved(ratios []float64) (bool, float64) {
	half := len(ratios) / 2
	first, second := ratios[:half], ratios[len(ratios)-half:]
	by := math.Abs(math.Expm1(stats.Median(second) - stats.Median(first)))
	if by <= p.Regression {
		return false, by
	}
	_, chance := stats.MannWhitney(first, second)
	return chance <= 0.001, by
}

// judgeErosion holds the candidate against the oldest accepted release.
func (p Policy) judgeErosion(w weighed) *Decision {
	if w.oldest == nil || !w.proven(*w.oldest) || w.oldest.Change >= -p.Erosion {
		return nil
	}
	return &Decision{Regression, fmt.Sprintf("erosion: slower than the oldest accepted release by %s, more than %s", percent(-w.oldest.Change), percent(p.Erosion)), w.last || w.oldest.Interval.High < -p.Erosion}
}

// judgeNoise decides where no difference is proven and the interval reaches
// beyond the limits.
func (p Policy) judgeNoise(w weighed) Decision {
	e := w.between
	needed := p.roundsNeeded(e.Spread, w.look)
	blind := p.SmallestRegression(e.Spread, w.look)
	switch {
	case e.Change < -p.Regression || e.Change > p.Improvement:
		return Decision{Inconclusive, fmt.Sprintf("too noisy: %s, but that may be chance; %d rounds would tell", faster(e.Change), needed), w.last}
	case blind > 2*p.Regression:
		return Decision{Inconclusive, fmt.Sprintf("too noisy: only a regression of %s would have been seen; %d rounds would show one of %s", percent(blind), needed, percent(p.Regression)), w.last}
	}
	return Decision{NoDifference, fmt.Sprintf("the intervals overlap; the smallest regression that would have been seen is %s", percent(blind)), w.last}
}

// percent writes a share, such as 3.2 %.
func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// faster writes a change in words.
func faster(change float64) string {
	if change < 0 {
		return "slower by " + percent(-change)
	}
	return "faster by " + percent(change)
}

// weighAt gathers what is known at a look.
func weighAt(b stats.Bootstrap, samples Samples, look Look, last bool) weighed {
	statistic := statisticFor(samples)
	w := weighed{
		look: look, last: last,
		between: Weigh(b, statistic, samples[Baseline], samples[Candidate]),
		control: Weigh(b, statistic, samples[Baseline], samples[Control]),
		ratios:  logRatios(statistic.of(samples[Baseline]), statistic.of(samples[Candidate])),
	}
	for _, round := range statistic.of(samples[Baseline]) {
		w.medians = append(w.medians, stats.Median(round))
	}
	if old := samples[Oldest]; len(old) > 0 {
		e := Weigh(b, statistic, old, samples[Candidate])
		w.oldest = &e
	}
	return w
}
