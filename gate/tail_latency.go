package gate

import (
	"fmt"
	"math"
	"slices"

	"pawl/internal/page"
	"pawl/internal/stats"
)

// TailLimits are how much slower the slowest calls of a candidate may be, as shares
// of the baseline's. Beyond them a note warns; the verdict stays.
type TailLimits struct {
	P95 float64 `json:"p95"`
	P99 float64 `json:"p99"`
	// Fail makes a proven loss beyond a limit a regression.
	Fail bool `json:"fail,omitempty"`
}

// Tail compares the slowest calls of two arms. Two kernels with the same median are
// not the same for those who wait for the slowest of many calls.
type Tail struct {
	// Quantile is 0.95 or 0.99.
	Quantile float64 `json:"quantile"`
	// Baseline and Candidate are typical times in milliseconds; they differ by the
	// change.
	Baseline  float64 `json:"baseline"`
	Candidate float64 `json:"candidate"`
	// Change is (baseline-candidate)/baseline: positive means faster.
	Change   float64        `json:"change"`
	Interval stats.Interval `json:"interval"`
	P        float64        `json:"p"`
	// Units is how many independent pairs were compared: rounds, or groups of them
	// where one round has too few samples to have such a quantile.
	Units int `json:"units"`
	// Limit is the policy's, and Slower says that it is exceeded and that chance
	// does not explain it.
	Limit  float64 `json:"limit"`
	Slower bool    `json:"slower"`
}

// Name is what people call the quantile, such as p95.
func (t Tail) Name() string { return fmt.Sprintf("p%.0f", 100*t.Quantile) }

// SlowerTail reports whether the slowest calls are proven slower beyond a limit.
func (c Comparison) SlowerTail() bool {
	return slices.ContainsFunc(c.Tails, func(t Tail) bool { return t.Slower })
}

// weighTails compares the quantiles that the samples allow: each unit needs as many
// samples as have one beyond the quantile, and there must be units enough to prove
// anything at the level of this analysis.
func (p Policy) weighTails(analysis Analysis, tick float64, baseline, candidate [][]float64) []Tail {
	var tails []Tail
	for _, t := range []Tail{{Quantile: 0.95, Limit: p.Tail.P95}, {Quantile: 0.99, Limit: p.Tail.P99}} {
		before, after := tailUnits(t.Quantile, baseline, candidate)
		t.Units = len(before)
		if math.Ldexp(1, 1-t.Units) > analysis.Level { // the smallest p-value of so many coins
			continue
		}
		var ratios, levels []float64
		for i := range before {
			ratios = append(ratios, math.Log(before[i]/after[i]))
			levels = append(levels, math.Sqrt(before[i]*after[i]))
		}
		ratio := stats.Median(ratios)
		t.Change, t.Interval = changeOf(math.Exp(ratio)), changeInterval(ratios, analysis.intervals(p), tick)
		t.P = stats.SignFlip(ratios) // units of several rounds have no orders; a coin for each is close
		level := stats.Median(levels)
		t.Baseline, t.Candidate = level*math.Exp(ratio/2), level*math.Exp(-ratio/2)
		t.Slower = t.P <= analysis.Level && t.Interval.High < 0 && t.Change < -t.Limit
		tails = append(tails, t)
	}
	return tails
}

// weighMeans compares the means of processes; nil where so few rounds show nothing. A median does not see that a share
// of slow launches has grown.
func (p Policy) weighMeans(analysis Analysis, tick float64, baseline, candidate [][]float64) *Tail {
	t := Tail{Units: len(baseline), Limit: 2 * p.Regression}
	if math.Ldexp(1, 1-t.Units) > analysis.Level {
		return nil
	}
	var ratios, levels []float64
	for i := range baseline {
		before, after := stats.Mean(baseline[i]), stats.Mean(candidate[i])
		ratios, levels = append(ratios, math.Log(before/after)), append(levels, math.Sqrt(before*after))
	}
	ratio, level := stats.Median(ratios), stats.Median(levels)
	t.Change, t.Interval = changeOf(math.Exp(ratio)), changeInterval(ratios, analysis.intervals(p), tick)
	t.P = stats.SignFlip(ratios)
	t.Baseline, t.Candidate = level*math.Exp(ratio/2), level*math.Exp(-ratio/2)
	t.Slower = t.P <= analysis.Level && t.Interval.High < 0 && t.Change < -t.Limit
	return &t
}

// slowLaunch is how many times the typical time a launch takes that is called slow.
const slowLaunch = 1.25

// slowShare is the share of slow launches, where a typical one takes a time.
func slowShare(processes [][]float64, typical float64) float64 {
	slow, all := 0, 0
	for _, samples := range processes {
		for _, sample := range samples {
			if all++; sample > slowLaunch*typical {
				slow++
			}
		}
	}
	return float64(slow) / float64(max(1, all))
}

// meanNote says that the mean is slower, where the verdict is about a typical launch and does not say so; empty where
// there is nothing to say.
func (w weighed) meanNote(verdict Verdict, s Samples) string {
	if w.mean == nil || !w.mean.Slower || verdict == Regression {
		return ""
	}
	typical := min(w.between.Baseline.Median, w.between.Candidate.Median)
	return fmt.Sprintf("the mean is slower by %s (p = %.2g), although a typical launch is not: %s of the launches take "+
		"more than %.2f times as long as a typical one, and %s of the baseline's; the data of a launch, a cache or another "+
		"program may be why", page.Percent(-w.mean.Change), w.mean.P, page.Percent(slowShare(s[Candidate], typical)),
		slowLaunch, page.Percent(slowShare(s[Baseline], typical)))
}

// suspect says that the estimate is beyond the limit and the interval excludes no
// difference, but nothing is proven yet.
func (t Tail) suspect() bool { return !t.Slower && t.Change < -t.Limit && t.Interval.High < 0 }

// tailUnits returns a quantile of both sides by unit. Swapping the sides of a whole
// unit is as likely as not swapping them, because that holds for each round.
func tailUnits(quantile float64, baseline, candidate [][]float64) (before, after []float64) {
	enough := int(math.Round(1 / (1 - quantile)))
	var pooled [2][]float64
	for round := range baseline {
		pooled[0] = append(pooled[0], baseline[round]...)
		pooled[1] = append(pooled[1], candidate[round]...)
		if min(len(pooled[0]), len(pooled[1])) >= enough {
			before = append(before, stats.Quantile(pooled[0], quantile))
			after = append(after, stats.Quantile(pooled[1], quantile))
			pooled = [2][]float64{}
		}
	}
	return before, after
}

// judgeTails fails a candidate whose slowest calls are too slow, where the policy
// says so, and does not let pass there what is beyond the limit and not proven. It
// also says whether a later analysis might still answer otherwise: a mere warning asks
// for more rounds only where it is suspected.
func (p Policy) judgeTails(w weighed) (d *Decision, open bool) {
	if !p.Tail.Fail {
		return nil, slices.ContainsFunc(w.tails, Tail.suspect)
	}
	open = len(w.tails) == 0 // so far there are too few samples to have a tail
	for _, t := range w.tails {
		open = open || t.Interval.Low < -t.Limit
		switch beyond := fmt.Sprintf("tail: %s is slower by %s, more than %s", t.Name(), page.Percent(-t.Change),
			page.Percent(t.Limit)); {
		case t.Slower && (d == nil || d.Verdict != Regression):
			d = &Decision{Regression, beyond, w.last || !w.first && t.Interval.High < -t.Limit}
		case t.Change < -t.Limit && w.last && d == nil:
			d = &Decision{Inconclusive, fmt.Sprintf("%s, but that may be chance (p = %.2g)", beyond, t.P), true}
		}
	}
	return d, open
}

// tailNotes warns of the slowest calls, and where the policy would fail them says
// that they were not judged.
func (p Policy) tailNotes(tails []Tail) []string {
	var notes []string
	if p.Tail.Fail && len(tails) == 0 {
		notes = append(notes, "the slowest calls were not judged: there are too few samples")
	}
	for _, t := range tails {
		if t.Slower {
			notes = append(notes,
				fmt.Sprintf("the slowest calls are slower: %s by %s, more than %s (%.3g to %.3g ms)", t.Name(),
					page.Percent(-t.Change), page.Percent(t.Limit), t.Baseline, t.Candidate))
		}
	}
	return notes
}
