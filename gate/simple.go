package gate

import (
	"fmt"
	"math"
	"slices"

	"pawl/internal/page"
	"pawl/internal/stats"
)

// Rule names what two result files are judged by.
type Rule string

// The rules.
const (
	// ByProcess is [CompareApart]: the process is the unit.
	ByProcess Rule = "process"
	// Simple is [CompareSimple]: every sample counts as independent.
	Simple Rule = "simple"
)

// SimpleRule says what the simple rule is, for whoever reads a verdict by it.
const SimpleRule = "disjoint 95 % bootstrap intervals of the medians (10,000 resamples, seed 42); regression beyond " +
	"3 %, improvement claimed beyond 10 % with |δ| ≥ 0.3; all samples of all processes taken as independent, which " +
	"those of one process are not"

// The limits of the simple rule. They are those of the rule that reviewers know and
// no policy changes them.
const (
	simpleRegression = 0.03
	simpleMoves      = 0.05
	simpleClaim      = 0.10
	simpleEffect     = 0.3
)

// CompareSimple judges two files by the rule that is common in the field, for those
// who have to answer to it. It takes all samples as independent. Consecutive samples
// are not, and processes have levels, so on the same code it finds differences far
// more often than its 95 % suggest: use [CompareApart] where that matters.
func CompareSimple(baseline, candidate [][]float64, p Policy) Comparison {
	b := stats.Bootstrap{} // 10,000 resamples, seed 42
	base, other := slices.Concat(baseline...), slices.Concat(candidate...)
	intervals := [2]stats.Interval{b.Median(base), b.Median(other)}
	e := Evidence{
		Statistic: Median,
		Change:    stats.Change(stats.Median(base), stats.Median(other)),
		// From the far ends of both intervals: it excludes 0 exactly where the two
		// are disjoint.
		Interval: stats.Interval{
			Low:  stats.Change(intervals[0].Low, intervals[1].High),
			High: stats.Change(intervals[0].High, intervals[1].Low),
		},
		Delta:     stats.CliffsDelta(base, other),
		Spread:    math.Hypot(relativeSpread(base), relativeSpread(other)),
		Baseline:  Describe(b, baseline),
		Candidate: Describe(b, candidate),
	}
	for i, side := range []*Side{&e.Baseline, &e.Candidate} {
		side.Median, side.Interval = stats.Median([][]float64{base, other}[i]), intervals[i]
	}
	_, e.P = stats.MannWhitney(base, other)
	return Comparison{
		Method: Files, Rule: Simple, Evidence: &e, Candidate: candidate,
		Notes:    append([]string{"judged by the simple rule: " + SimpleRule}, p.notes(e)...),
		Decision: judgeSimple(e, intervals),
	}
}

func judgeSimple(e Evidence, intervals [2]stats.Interval) Decision {
	disjoint := intervals[0].Disjoint(intervals[1])
	switch {
	case !disjoint:
		return Decision{Verdict: NoDifference, Reason: "the 95 % intervals of the medians overlap"}
	case e.Change < -simpleRegression:
		return Decision{
			Verdict: Regression,
			Reason: fmt.Sprintf("slower by %s, more than %s, with disjoint intervals", page.Percent(-e.Change),
				page.Percent(simpleRegression)),
		}
	case e.Change > simpleClaim && math.Abs(e.Delta) >= simpleEffect:
		return Decision{
			Verdict: Improvement,
			Reason: fmt.Sprintf("faster by %s, more than %s, with disjoint intervals and δ %+.2f", page.Percent(e.Change),
				page.Percent(simpleClaim), e.Delta),
		}
	case e.Change > simpleMoves:
		return Decision{
			Verdict: Maintained,
			Reason: fmt.Sprintf("faster by %s with disjoint intervals: beyond the %s that move a baseline, but a claim of "+
				"improvement needs more than %s and |δ| ≥ %.1f (δ is %+.2f)", page.Percent(e.Change), page.Percent(simpleMoves),
				page.Percent(simpleClaim), simpleEffect, e.Delta),
		}
	}
	return Decision{Verdict: Maintained, Reason: fmt.Sprintf("%s, which is within the limits", faster(e.Change))}
}
