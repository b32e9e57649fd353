package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"pawl/objective"
	"pawl/space"
)

// FewestRounds is the number of rounds below which nothing is claimed, and so
// the number that is measured even when the time is over.
const FewestRounds = 3

// confirm measures the finalists against the default, and then the way from
// the default to the winner. A search that the user stopped, or that found
// nothing, has nothing to confirm.
func (e *engine) confirm(ctx context.Context) error {
	if e.ended == Stopped {
		return nil
	}
	contenders, err := e.contenders(ctx)
	if err != nil || len(contenders) < 2 {
		return ignoreStop(err)
	}
	confirmBy := searchTime(e.options.Budget) + (e.options.Budget-searchTime(e.options.Budget))*2/3
	if err := e.measureRounds(ctx, Confirmation, contenders, confirmBy); err != nil {
		return ignoreStop(err)
	}
	path, err := e.ablationPath(ctx, contenders)
	if err != nil || len(path) < 2 {
		return ignoreStop(err)
	}
	return ignoreStop(e.measureRounds(ctx, Ablation, path, e.options.Budget))
}

// errStopped unwinds a confirmation that the user has stopped.
var errStopped = errors.New("stopped by the user")

func ignoreStop(err error) error {
	if errors.Is(err, errStopped) {
		return nil
	}
	return err
}

// contenders returns the default and the finalists, each checked in full. A
// finalist that fails the full check is struck out and the next one takes its
// place.
func (e *engine) contenders(ctx context.Context) ([]objective.Prepared, error) {
	var chosen []objective.Prepared
	binaries := map[string]bool{}
	admit := func(t Trial) error {
		if e.stopped() {
			return errStopped
		}
		p, failure, err := e.checkInFull(ctx, t.Point)
		if err == nil {
			err = sameBinary(t.Outcome, p)
		}
		switch {
		case err != nil:
			return err
		case failure != nil:
			return e.strike(t, failure)
		case binaries[p.Binary.Digest] && p.Binary.Digest != "":
			return nil // the same machine code contends already
		}
		binaries[p.Binary.Digest] = true
		chosen = append(chosen, p)
		return nil
	}
	for _, t := range e.candidates() {
		if len(chosen) > e.options.Finalists {
			break
		}
		if err := admit(t); err != nil {
			return nil, err
		}
	}
	return chosen, nil
}

func (e *engine) checkInFull(ctx context.Context, point space.Point) (objective.Prepared, *objective.Failure, error) {
	p, err := e.evaluator.Prepare(ctx, point)
	if err != nil || p.Failure != nil {
		return p, p.Failure, err
	}
	failure, err := e.evaluator.Verify(ctx, p)
	return p, failure, err
}

// strike takes a trial that passed the quick check out of the running.
func (e *engine) strike(t Trial, failure *objective.Failure) error {
	if err := e.recorder.Struck(t.Number, failure); err != nil {
		return fmt.Errorf("striking out trial %d: %w", t.Number, err)
	}
	struck, err := e.study.strike(t.Number, failure)
	if err != nil {
		return err
	}
	best := 0.0
	if leader, found := e.study.best(); found {
		best = leader.Outcome.Milliseconds()
	}
	e.known.strike(struck, best)
	e.progress.failures = with(e.progress.failures, failure.Reason, e.progress.failures[failure.Reason]+1)
	return nil
}

// candidates returns the default and then the trials with a verified time, fastest
// first by all that was measured of them.
func (e *engine) candidates() []Trial {
	trials := slices.Clone(e.study.trials)
	for number, samples := range e.second.samples {
		if trials[number].OK() {
			trials[number].Outcome.Samples = slices.Concat(trials[number].Outcome.Samples, samples)
		}
	}
	ranked := Ranking(trials)
	if at := slices.IndexFunc(ranked, func(t Trial) bool { return t.Number == 0 }); at > 0 {
		initial := ranked[at]
		copy(ranked[1:at+1], ranked[:at])
		ranked[0] = initial
	}
	return ranked
}

// Ranking returns the trials with a verified time, fastest first.
func Ranking(trials []Trial) []Trial {
	var ranked []Trial
	times := map[int]float64{}
	for _, t := range trials {
		if t.OK() {
			ranked = append(ranked, t)
			times[t.Number] = t.Outcome.Milliseconds()
		}
	}
	slices.SortStableFunc(ranked, func(a, b Trial) int { return cmp.Compare(times[a.Number], times[b.Number]) })
	return ranked
}

// measureRounds measures every contender once per round, in an order drawn
// anew for each round, until the rounds are done or the time is over. What an
// earlier run has measured in full, of these very contenders, is not measured
// again; anything less of it does not count.
func (e *engine) measureRounds(ctx context.Context, phase Phase, contenders []objective.Prepared, until time.Duration) error {
	late := func() bool { return e.options.Budget > 0 && e.elapsed() > until }
	if measured, err := e.measuredBefore(phase, contenders, late()); measured || err != nil {
		return err
	}
	run := 1 + max(lastRun(e.rounds, Confirmation), lastRun(e.rounds, Ablation))
	first := 1 + highest(e.rounds, phase)
	for round := range e.options.Rounds {
		if late() && round >= FewestRounds {
			return nil
		}
		e.observeRound(phase, round, e.options.Rounds)
		e.evaluator.Refresh()
		rng := rand.New(rand.NewPCG(e.options.Seed, uint64(round)))
		for _, i := range rng.Perm(len(contenders)) {
			if e.stopped() {
				return errStopped
			}
			if err := e.measureOnce(ctx, Round{Phase: phase, Run: run, Number: first + round}, contenders[i]); err != nil {
				return err
			}
		}
	}
	e.observeRound(phase, e.options.Rounds, e.options.Rounds)
	return nil
}

// measuredBefore reports whether the phase's latest run, in an earlier process, was
// one of exactly these contenders and has as many rounds as are wanted, or as there
// is time for.
func (e *engine) measuredBefore(phase Phase, contenders []objective.Prepared, late bool) (bool, error) {
	counts := map[space.Point]int{}
	for _, r := range latest(e.rounds) {
		if r.Phase != phase {
			continue
		}
		at := slices.IndexFunc(contenders, func(p objective.Prepared) bool { return p.Point == r.Point })
		if at < 0 {
			return false, nil
		}
		if err := sameBinary(r.Outcome, contenders[at]); err != nil {
			return false, err
		}
		counts[r.Point]++
	}
	enough := e.options.Rounds
	if late {
		enough = min(enough, FewestRounds)
	}
	for _, p := range contenders {
		if counts[p.Point] < enough {
			return false, nil
		}
	}
	return true, nil
}

func (e *engine) measureOnce(ctx context.Context, round Round, p objective.Prepared) (err error) {
	round.Point = p.Point
	if round.Outcome, err = e.evaluator.Sample(ctx, p, e.options.Samples); err != nil {
		return fmt.Errorf("measuring %s again: %w", p.Point, err)
	}
	return e.record(round)
}

func (e *engine) record(round Round) error {
	if err := e.recorder.Measured(round); err != nil {
		return fmt.Errorf("recording round %d of the %s: %w", round.Number, round.Phase, err)
	}
	e.rounds = append(e.rounds, round)
	return nil
}
