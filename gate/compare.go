package gate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"pawl/internal/stats"
	"pawl/objective"
	"pawl/objective/worker"
)

// Options says how a comparison is run. Their zero values are usable.
type Options struct {
	// Seed fixes the order of measurements.
	Seed uint64
	// Oldest says that the oldest accepted release is not the baseline and is to
	// be measured too.
	Oldest bool
	// Bootstrap is how intervals are made.
	Bootstrap stats.Bootstrap
	// Now is the clock that the budget is held against. Nil means time.Now.
	Now func() time.Time
	// Observe is told about each finished round; nil for nobody.
	Observe func(round, ceiling int)
}

// Method says how the two sides were measured.
type Method string

// The methods.
const (
	// Interleaved: in the same rounds. The only one with teeth.
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
	// Rule is what two files were judged by; empty elsewhere.
	Rule Rule `json:"rule,omitempty"`
	// Evidence is missing where nothing was compared.
	Evidence *Evidence `json:"evidence,omitempty"`
	Control  *Evidence `json:"control,omitempty"`
	// Oldest compares with the oldest accepted release, where that is not the
	// baseline.
	Oldest *Evidence `json:"oldest,omitempty"`
	// Confirmation is the second measurement of an improvement.
	Confirmation *Evidence `json:"confirmation,omitempty"`
	// SmallestRegression is the smallest slowdown that would have been called a
	// regression nine times of ten, as a share; 0 where that is not known.
	SmallestRegression float64  `json:"smallest_regression,omitempty"`
	Notes              []string `json:"notes,omitempty"`
	// Candidate holds the candidate's samples by process; those of the
	// confirmation where there was one, which luck did not choose.
	Candidate [][]float64 `json:"-"`
}

// Compare measures the arms in rounds until a look is clear, the ceiling is
// reached or the budget is spent, and judges. An arm that does not work is a
// verdict; an error means that the machinery broke.
func Compare(ctx context.Context, m Measurer, p Policy, o Options) (Comparison, error) {
	if err := p.Validate(); err != nil {
		return Comparison{}, fmt.Errorf("policy: %w", err)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	run := &run{measurer: m, policy: p, options: o, deadline: o.Now().Add(p.Budget)}
	w, broken, err := run.untilClear(ctx, p.looks(), 0)
	if err != nil || broken != nil {
		return brokenComparison(broken), err
	}
	decision := p.judge(w)
	c := run.comparison(w, decision)
	if decision.Verdict == Improvement {
		return run.confirm(ctx, c, w.look.Rounds)
	}
	return c, nil
}

// broken is an arm that failed while it was measured.
type broken struct {
	arm     Arm
	failure *objective.Failure
}

// Broken is the decision about a candidate that failed: it is wrong, unless the
// failure is the machine's.
func Broken(failure *objective.Failure) Decision {
	switch failure.Reason {
	case objective.Throttled, string(worker.NoMemory):
		return Decision{Verdict: Inconclusive, Reason: failure.String()}
	}
	return Decision{Verdict: Wrong, Reason: failure.String()}
}

func brokenComparison(b *broken) Comparison {
	switch {
	case b == nil:
		return Comparison{}
	case b.arm == Candidate:
		return Comparison{Method: Interleaved, Decision: Broken(b.failure)}
	}
	return Comparison{Method: Interleaved, Decision: Decision{Verdict: Inconclusive, Reason: fmt.Sprintf("the %s itself fails: %s", b.arm, b.failure)}}
}

// run is a comparison under way.
type run struct {
	measurer Measurer
	policy   Policy
	options  Options
	deadline time.Time
	samples  Samples
	arms     []Arm // in the order of the last round
	random   *rand.Rand
}

// untilClear measures up to each look in turn and judges there. A budget that
// ends between two looks makes a last look of what there is: time does not know
// what the samples say, so the level of the next look holds.
func (r *run) untilClear(ctx context.Context, looks []Look, stream uint64) (weighed, *broken, error) {
	r.samples, r.arms = Samples{}, []Arm{Baseline, Candidate, Control}
	if r.options.Oldest {
		r.arms = append(r.arms, Oldest)
	}
	r.random = rand.New(rand.NewPCG(r.options.Seed, stream))
	for i, look := range looks {
		late, failed, err := r.measure(ctx, look.Rounds, looks[len(looks)-1].Rounds)
		if err != nil || failed != nil {
			return weighed{}, failed, err
		}
		look.Rounds = r.samples.rounds()
		w := weighAt(r.options.Bootstrap, r.samples, look, late || i == len(looks)-1)
		if w.last || r.policy.judge(w).clear {
			return w, nil, nil
		}
	}
	panic("gate: a comparison without a last look")
}

// fewestRounds are measured even when the budget is over: fewer say nothing.
const fewestRounds = 6

// measure adds rounds up to a number, or until the budget is over.
func (r *run) measure(ctx context.Context, until, ceiling int) (late bool, failed *broken, err error) {
	for round := r.samples.rounds(); round < until; round++ {
		if round >= fewestRounds && !r.options.Now().Before(r.deadline) {
			return true, nil, nil
		}
		// Mirrored pairs of rounds make the order ABBA: a steady drift adds to
		// one ratio what it takes from the next.
		if round%2 == 0 {
			r.random.Shuffle(len(r.arms), func(i, j int) { r.arms[i], r.arms[j] = r.arms[j], r.arms[i] })
		} else {
			slices.Reverse(r.arms)
		}
		for _, arm := range r.arms {
			samples, failure, err := r.measurer.Measure(ctx, arm, r.policy.Samples)
			if err != nil {
				return false, nil, fmt.Errorf("measuring the %s: %w", arm, err)
			}
			if failure != nil {
				return false, &broken{arm, failure}, nil
			}
			r.samples[arm] = append(r.samples[arm], samples)
		}
		if r.options.Observe != nil {
			r.options.Observe(round+1, ceiling)
		}
	}
	return false, nil, nil
}

// confirm measures an improvement again, as many rounds as it took to see it, and
// as many more where they leave a doubt.
func (r *run) confirm(ctx context.Context, c Comparison, rounds int) (Comparison, error) {
	r.deadline = r.options.Now().Add(r.policy.Budget)
	level := r.policy.Alarm / 2
	w, failed, err := r.untilClear(ctx, []Look{{rounds, level}, {2 * rounds, level}}, 1)
	if err != nil || failed != nil {
		return brokenComparison(failed), err
	}
	second := r.policy.judge(w)
	c.Confirmation, c.Candidate = &w.between, r.samples[Candidate]
	if second.Verdict == Improvement {
		c.Reason += fmt.Sprintf("; the second measurement says %s", percent(w.between.Change))
		return c, nil
	}
	c.Verdict = Inconclusive
	if w.proven(w.between) && w.between.Change > 0 {
		c.Verdict = Maintained
	}
	c.Reason += fmt.Sprintf("; not confirmed by the second measurement, which says: %s", second.Reason)
	return c, nil
}

// comparison puts the result together.
func (r *run) comparison(w weighed, d Decision) Comparison {
	c := Comparison{
		Decision: d, Method: Interleaved, Evidence: &w.between, Control: &w.control, Oldest: w.oldest,
		SmallestRegression: r.policy.SmallestRegression(w.between.Spread, w.look),
		Candidate:          r.samples[Candidate],
	}
	c.Notes = r.policy.notes(w.between)
	if !slices.Contains(r.policy.Rounds, w.look.Rounds) {
		c.Notes = append(c.Notes, fmt.Sprintf("the budget of %v was over after %d rounds", r.policy.Budget, w.look.Rounds))
	}
	return c
}

// notes are warnings beside a result.
func (p Policy) notes(e Evidence) []string {
	var notes []string
	for name, side := range map[string]Side{"baseline": e.Baseline, "candidate": e.Candidate} {
		if side.Variation > p.Variation {
			notes = append(notes, fmt.Sprintf("the %s's times vary by %s inside a process, more than %s", name, percent(side.Variation), percent(p.Variation)))
		}
	}
	slices.Sort(notes)
	if e.Statistic == FasterHalf {
		notes = append(notes, fmt.Sprintf("the baseline's own samples vary by more than %s inside a process, so the faster half of each process was compared", percent(disturbed)))
	}
	return notes
}
