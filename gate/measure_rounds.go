package gate

import (
	"context"
	"fmt"
	"time"

	"pawl/internal/collect"
	"pawl/internal/page"
	"pawl/internal/stats"
	"pawl/objective"
	"pawl/objective/experiment"
)

// run is the rule of a comparison: rounds up to each analysis in turn, until one is clear. A budget that ends between
// two analyses makes a last analysis of what there is: time does not know what the samples say, so the levels of all
// that are left hold. Where so few rounds cannot reach that level, the analysis before was the last; before the first
// analysis they can still show what is gross. Nothing is weighed where there is not even a block of rounds.
type run struct {
	roles      []Arm // of the arms, in their order
	experiment experiment.Experiment
	policy     Policy
	options    Options
	deadline   time.Time
	analyses   []Analysis

	samples Samples
	// variations are the robust coefficients of variation of the processes, which every analysis asks for.
	variations map[Arm][]float64
	orders     [][]Arm // by round
	next       int     // analysis
	weighed    *weighed
	pace       pace
	each       int  // samples a process
	over       bool // the budget ended before the last analysis

	observe func(Arm, objective.Outcome) // what is in rounds that count
}

// labeled is an arm that messages call by its role.
type labeled struct {
	experiment.Arm
	role Arm
}

func (l labeled) String() string { return "the " + string(l.role) }

// newRun is a comparison that has not begun. The best accepted entry is a guest among the others, so that these have
// the same design, and the same test, whether it is there or not.
func newRun(arms Arms, p Policy, o Options, stream uint64) *run {
	r := &run{
		policy: p, options: o, deadline: o.Now().Add(p.Budget), samples: Samples{}, variations: map[Arm][]float64{},
		roles:      []Arm{Baseline, Candidate, Control},
		experiment: experiment.Experiment{Seed: o.Seed, Stream: stream, AllNeeded: true, Now: o.Now},
	}
	if arms[Best] != nil {
		r.roles, r.experiment.Guests = append(r.roles, Best), 1
	}
	for _, role := range r.roles {
		arm, there := arms[role]
		if !there && role == Control {
			arm = arms[Baseline]
		}
		r.experiment.Arms = append(r.experiment.Arms, labeled{arm, role})
	}
	return r
}

// untilClear measures until an analysis is clear, and returns the last that was made, nil for none.
func (r *run) untilClear(ctx context.Context, analyses ...Analysis) (*weighed, error) {
	r.analyses = analyses
	_, err := r.experiment.Run(ctx, r)
	return r.weighed, err
}

// Next judges at each analysis, and goes on to the next one.
func (r *run) Next(rounds []experiment.Round) (plan experiment.Plan, err error) {
	r.add(rounds)
	for ; len(rounds) >= r.analyses[r.next].Rounds; r.next++ {
		if r.analyze(r.analyses[r.next], r.next == len(r.analyses)-1) {
			return plan, nil
		}
	}
	first, end := r.analyses[0].Rounds, r.deadline
	if len(rounds) < first {
		end = end.Add(time.Duration(grace * float64(r.policy.Budget)))
	}
	if !r.options.Now().Before(end) {
		r.cutShort()
		return plan, nil
	}
	r.pacing(len(rounds), first)
	return experiment.Plan{Samples: r.each, Round: len(rounds)}, nil
}

// add takes in the rounds that are new.
func (r *run) add(rounds []experiment.Round) {
	for i := r.samples.rounds(); i < len(rounds); i++ {
		for _, s := range rounds[i].Samples {
			role := r.roles[s.Arm]
			r.samples[role] = append(r.samples[role], s.Outcome.Samples)
			r.variations[role] = append(r.variations[role], stats.RobustCV(s.Outcome.Samples))
			if r.observe != nil {
				r.observe(role, s.Outcome)
			}
		}
		r.orders = append(r.orders, collect.Each(rounds[i].Order(), func(arm int) Arm { return r.roles[arm] }))
		r.learn(rounds[i].Took, r.launches(i))
		if r.options.Observe != nil {
			r.options.Observe(i+1, r.analyses[len(r.analyses)-1].Rounds)
		}
	}
}

// analyze weighs the rounds so far, and reports whether that is the end.
func (r *run) analyze(analysis Analysis, last bool) bool {
	w := r.weigh(r.analyses, analysis, last)
	r.weighed = &w
	return w.last || r.policy.judge(w).clear
}

// cutShort makes the last analysis where the budget is over. No other will be made, and it has what they would have
// had.
func (r *run) cutShort() {
	r.over = true
	analysis := r.analyses[r.next]
	for _, other := range r.analyses[r.next+1:] {
		analysis.Level += other.Level
	}
	analysis.Rounds = r.samples.rounds()
	if r.weighed != nil && !analysis.canProve() || analysis.Rounds < blockRounds {
		if r.weighed != nil {
			r.weighed.last = true
		}
		return
	}
	r.analyze(analysis, true)
}

// arms are those of the comparison, by name.
func (r *run) arms() Arms {
	arms := Arms{}
	for i, role := range r.roles {
		arms[role] = r.experiment.Arms[i]
	}
	return arms
}

// confirm measures an improvement again, as many rounds as it took to see it, and
// as many more where they leave a doubt.
func (r *run) confirm(ctx context.Context, c Comparison, rounds int) (Comparison, error) {
	second := newRun(r.arms(), r.policy, r.options, 1)
	second.pace, second.each, second.observe = r.pace, r.each, r.observe
	level := r.policy.Alarm / 2
	rounds = max(rounds, fewestRounds(level))
	w, err := second.untilClear(ctx, Analysis{rounds, level}, Analysis{2 * rounds, level})
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
