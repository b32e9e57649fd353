package gate

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"pawl/internal/page"
	"pawl/objective"
	"pawl/objective/experiment"
	"pawl/objective/worker"
)

// Options says how a comparison is run. Their zero values are usable.
type Options struct {
	// Seed draws the orders of measurements. Whoever asks for a comparison draws a new one for
	// it: the same orders every day would be as good or bad every day.
	Seed uint64
	// Samples is how many samples a process takes where the policy does not say; 0
	// means 50. Slow kernels take fewer where the budget asks for it.
	Samples int
	// Simulations is how many comparisons find the smallest visible regression; 0 means 400.
	Simulations int
	// VerdictOnly leaves SmallestRegression out where the verdict does not need it: it is half of the work.
	VerdictOnly bool
	// Now is the clock that the budget is held against. Nil means time.Now.
	Now func() time.Time
	// Observe is called after each finished round; nil for none.
	Observe func(round, ceiling int)
}

// OrderSeed is the seed of one comparison in a run of many: the orders of two of them have nothing in common.
func OrderSeed(run uint64, kernel, workload string, attempt int) uint64 {
	sum := fnv.New64a()
	fmt.Fprintf(sum, "%d\x00%s\x00%s\x00%d", run, kernel, workload, attempt)
	return sum.Sum64()
}

// Method says how the two sides were measured.
type Method string

const (
	// Interleaved: in the same rounds. Only this one moves a baseline.
	Interleaved Method = "interleaved"
	// Stored: the baseline could not be rebuilt; its stored samples stand in.
	Stored Method = "stored samples"
	// Files: two result files, as they are.
	Files Method = "files"
)

// Comparison is a finished comparison.
type Comparison struct {
	Decision
	Method Method `json:"method"`
	// OrderSeed drew the orders of measurements: given again, they are the same. 0 where the
	// sides were not measured together.
	OrderSeed uint64 `json:"order_seed,omitempty"`
	// Evidence is missing where nothing was compared.
	Evidence *Evidence `json:"evidence,omitempty"`
	Control  *Evidence `json:"control,omitempty"`
	// Best compares with the best accepted entry, where that is not the
	// baseline.
	Best *Evidence `json:"best,omitempty"`
	// Confirmation is the second measurement of an improvement.
	Confirmation *Evidence `json:"confirmation,omitempty"`
	// Tails compare the slowest calls, one entry for each quantile that there were
	// samples enough for.
	Tails []Tail `json:"tails,omitempty"`
	// Mean compares the means of the processes, which a share of slow launches moves and a median does not; nil where
	// there are too few rounds.
	Mean *Tail `json:"mean,omitempty"`
	// SmallestRegression is the smallest slowdown that would have been called a
	// regression nine times of ten, as a share; 0 where that is not known.
	SmallestRegression float64 `json:"smallest_regression,omitempty"`
	// Conditions are those of the device, by arm; there are none on a processor.
	Conditions Conditions `json:"conditions,omitempty"`
	Notes      []string   `json:"notes,omitempty"`
	// Candidate holds the candidate's samples by process; those of the
	// confirmation where there was one, which was not selected for being fast.
	Candidate [][]float64 `json:"-"`
	// Measured are the samples of all rounds, those of a confirmation too.
	Measured Samples `json:"-"`
}

// Compare measures the arms in rounds until an analysis is clear, the ceiling is
// reached or the budget is spent, and judges. An arm that does not work is a
// verdict; an error means that the machinery broke.
func Compare(ctx context.Context, arms Arms, p Policy, o Options) (Comparison, error) {
	if err := p.Validate(); err != nil {
		return Comparison{}, fmt.Errorf("policy: %w", err)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	measured, conditions := Samples{}, Conditions{}
	r := newRun(arms, p, o, 0)
	r.observe = func(arm Arm, outcome objective.Outcome) {
		measured[arm] = append(measured[arm], outcome.Samples)
		if outcome.Conditions != nil {
			conditions[arm] = conditions[arm].Join(outcome.Conditions)
		}
	}
	c, err := r.compare(ctx)
	if failed, ok := errors.AsType[*experiment.Failed](err); ok {
		c, err = brokenArm(r.roles[failed.Arm], failed), nil
	}
	c.OrderSeed, c.Measured = o.Seed, measured
	if len(conditions) > 0 {
		c.Conditions = conditions
	}
	return c, err
}

func (r *run) compare(ctx context.Context) (Comparison, error) {
	analyses, refused, err := r.plan(ctx)
	if err != nil {
		return Comparison{}, err
	}
	if refused != nil {
		return Comparison{Method: Interleaved, Decision: *refused}, nil
	}
	w, err := r.untilClear(ctx, analyses...)
	switch {
	case err != nil:
		return Comparison{}, err
	case w == nil: // the budget was over before the first analysis
		first := analyses[0].Rounds
		return Comparison{Method: Interleaved, Decision: r.tooSmall(time.Duration(first)*r.pace.round(1), first)}, nil
	}
	d := r.policy.judge(*w)
	if d.Verdict != Regression && !w.analysis.canProve() {
		fewest := max(analyses[0].Rounds, fewestRounds(r.policy.Alarm))
		d = r.tooSmall(time.Duration(fewest)*r.pace.round(1), fewest)
	}
	c := r.comparison(*w, d)
	if c.Verdict == Improvement {
		return r.confirm(ctx, c, w.analysis.Rounds)
	}
	return c, nil
}

// brokenArm is the end of a comparison of which an arm failed while it was measured. Seen from outside that is a
// verdict and no error.
func brokenArm(arm Arm, failed *experiment.Failed) Comparison {
	if arm == Candidate {
		return Comparison{Method: Interleaved, Decision: Broken(failed.Failure)}
	}
	return Comparison{Method: Interleaved, Decision: Decision{Verdict: Inconclusive, Reason: failed.Error()}}
}

// Broken is the decision about a candidate that failed: it is wrong, unless the
// failure is the machine's, or only says that it does not run here or in the time
// allowed: a limit of the device or of the command line is no wrong result.
func Broken(failure *objective.Failure) Decision {
	switch failure.Reason {
	case objective.Throttled, string(worker.NoMemory):
		return Decision{Verdict: Inconclusive, Reason: failure.String()}
	case objective.Infeasible:
		return Decision{Verdict: Infeasible, Reason: failure.String() + "; choose a point that this device can run"}
	case objective.CompileTimeout:
		return Decision{Verdict: Infeasible, Reason: failure.String() + "; --compile-timeout allows more"}
	case string(worker.Hung):
		return Decision{Verdict: Infeasible, Reason: failure.String() + "; --run-timeout allows more, if it would end at all"}
	}
	return Decision{Verdict: Wrong, Reason: failure.String()}
}

func (r *run) comparison(w weighed, d Decision) Comparison {
	c := Comparison{
		Decision: d, Method: Interleaved, Evidence: &w.between, Control: &w.control, Best: w.best, Tails: w.tails,
		Mean:      w.mean,
		Candidate: r.samples[Candidate],
	}
	// Where the measurement cannot be trusted, nothing is known about what it
	// would have seen.
	if !r.options.VerdictOnly && r.policy.judgeConditions(w) == nil {
		c.SmallestRegression = w.smallest()
	}
	c.Notes = append(r.policy.notes(w.between), r.policy.tailNotes(w.tails)...)
	if note := w.meanNote(d.Verdict, r.samples); note != "" {
		c.Notes = append(c.Notes, note)
	}
	if r.each < r.want() {
		c.Notes = append(c.Notes,
			fmt.Sprintf("%d instead of %d samples a process, so that the rounds fit in the budget of %v", r.each, r.want(),
				r.policy.Budget))
	}
	if r.over || !slices.Contains(r.policy.Rounds, w.analysis.Rounds) {
		c.Notes = append(c.Notes,
			fmt.Sprintf("the budget of %v was over after %d rounds", r.policy.Budget, r.samples.rounds()))
	}
	return c
}

// notes are warnings beside a result.
func (p Policy) notes(e Evidence) []string {
	var notes []string
	for i, side := range []Side{e.Baseline, e.Candidate} {
		if side.Variation > p.Variation {
			notes = append(notes,
				fmt.Sprintf("the %s's times vary by %s inside a process, more than %s", sideNames[i], page.Percent(side.Variation),
					page.Percent(p.Variation)))
		}
	}
	if e.Statistic == FasterHalf {
		notes = append(notes,
			fmt.Sprintf("the baseline's own samples vary by more than %s inside a process, so the faster half of each "+
				"process was compared", page.Percent(disturbed)))
	}
	return notes
}
