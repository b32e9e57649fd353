package gate

import (
	"context"
	"fmt"
	"time"

	"pawl/internal/page"
	"pawl/internal/stats"
)

type run struct {
	measurer Measurer
	policy   Policy
	options  Options
	deadline time.Time
	samples  Samples
	// variations are the robust coefficients of variation of the processes, which every analysis asks for.
	variations map[Arm][]float64
	arms       []Arm   // all of them, in no particular order
	orders     [][]Arm // by round
	stream     uint64
	pace       pace
	each       int  // samples a process
	over       bool // the budget ended before the last analysis
}

func newRun(m Measurer, p Policy, o Options, stream uint64) *run {
	r := &run{
		measurer: m, policy: p, options: o, deadline: o.Now().Add(p.Budget),
		samples: Samples{}, variations: map[Arm][]float64{}, arms: []Arm{Baseline, Candidate, Control},
		stream: stream,
	}
	if o.Best {
		r.arms = append(r.arms, Best)
	}
	return r
}

// untilClear measures up to each analysis in turn and judges there. A budget that
// ends between two analyses makes a last analysis of what there is: time does not know
// what the samples say, so the levels of all that are left hold. Where so few rounds
// cannot reach that level, the analysis before was the last; before the first analysis they can
// still show what is gross. Nothing is weighed where there is not even a block of rounds.
func (r *run) untilClear(ctx context.Context, analyses []Analysis) (*weighed, error) {
	var before *weighed
	for i, analysis := range analyses {
		late, err := r.measure(ctx, analysis.Rounds, analyses)
		if err != nil {
			return nil, err
		}
		r.over = late
		if late { // no other analysis will be made, and this one has what they would have had
			for _, other := range analyses[i+1:] {
				analysis.Level += other.Level
			}
		}
		analysis.Rounds = r.samples.rounds()
		if late && (before != nil && !analysis.canProve() || analysis.Rounds < blockRounds) {
			if before != nil {
				before.last = true
			}
			return before, nil
		}
		w := r.weigh(analyses, analysis, late || i == len(analyses)-1)
		if w.last || r.policy.judge(w).clear {
			return &w, nil
		}
		before = &w
	}
	panic("gate: a comparison without a last analysis")
}

// measure adds rounds up to a number, or until the budget is over.
func (r *run) measure(ctx context.Context, until int, analyses []Analysis) (late bool, err error) {
	first, ceiling := analyses[0].Rounds, analyses[len(analyses)-1].Rounds
	for round := r.samples.rounds(); round < until; round++ {
		end := r.deadline
		if round < first {
			end = end.Add(time.Duration(grace * float64(r.policy.Budget)))
		}
		if !r.options.Now().Before(end) {
			return true, nil
		}
		r.pacing(round, first)
		order := r.order(round)
		began := r.options.Now()
		taken := map[Arm][]float64{}
		for _, arm := range order {
			if taken[arm], err = r.sample(ctx, arm, r.each); err != nil {
				return false, err
			}
		}
		took := r.options.Now().Sub(began)
		for arm, samples := range taken {
			r.samples[arm] = append(r.samples[arm], samples)
			r.variations[arm] = append(r.variations[arm], stats.RobustCV(samples))
		}
		r.orders = append(r.orders, order)
		r.learn(took, r.launches(round))
		if r.options.Observe != nil {
			r.options.Observe(round+1, ceiling)
		}
	}
	return false, nil
}

// sample measures an arm once; an arm that does not work is a *broken.
func (r *run) sample(ctx context.Context, arm Arm, samples int) ([]float64, error) {
	taken, failure, err := r.measurer.Measure(ctx, arm, samples)
	switch {
	case err != nil:
		return nil, fmt.Errorf("measuring the %s: %w", arm, err)
	case failure != nil:
		return nil, &broken{arm, failure}
	}
	return taken, nil
}

// confirm measures an improvement again, as many rounds as it took to see it, and
// as many more where they leave a doubt.
func (r *run) confirm(ctx context.Context, c Comparison, rounds int) (Comparison, error) {
	second := newRun(r.measurer, r.policy, r.options, 1)
	second.pace, second.each = r.pace, r.each
	level := r.policy.Alarm / 2
	rounds = max(rounds, fewestRounds(level))
	w, err := second.untilClear(ctx, []Analysis{{rounds, level}, {2 * rounds, level}})
	if err != nil {
		return Comparison{}, err
	}
	if w == nil {
		c.Verdict = Inconclusive
		c.Reason += "; not confirmed: the budget was over before the second measurement had " + fmt.Sprint(rounds) + " rounds"
		return c, nil
	}
	again := r.policy.judge(*w)
	c.Confirmation, c.Candidate = &w.between, second.samples[Candidate]
	if again.Verdict == Improvement {
		c.Reason += fmt.Sprintf("; the second measurement says %s", page.Percent(w.between.Change))
		return c, nil
	}
	c.Verdict = Inconclusive
	if r.policy.judgeConditions(*w) == nil && w.proven(w.between) && w.between.Change > 0 && again.Verdict != Regression {
		c.Verdict = Maintained
	}
	c.Reason += fmt.Sprintf("; not confirmed by the second measurement, which says: %s", again.Reason)
	return c, nil
}
