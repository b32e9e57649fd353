package across

import (
	"cmp"
	"context"
	"runtime"
	"time"

	"pawl/internal/stats"
	"pawl/objective/devices"
	"pawl/search"
	"pawl/search/confirm"
	"pawl/search/trial"
	"pawl/space"
	"pawl/studies"
)

// Comparison measures points of a study beside each other on a workload.
type Comparison struct {
	Limits
	Phase  trial.Phase
	Points []space.Point
	// Wanted is the number of rounds; 0 means as many as the study's confirmation wanted.
	Wanted int
	// Recorded are the rounds so far, and Keep makes one more durable.
	Recorded []trial.Round
	Keep     func(trial.Round) error
	// Begin is called before the first round.
	Begin func()
	begun bool
}

// Limits say when measuring ends early.
type Limits struct {
	// Share is the end of a workload's share of the time, after which no round begins. At End nothing does. Zero is never.
	Share, End time.Time
	// Stop is closed where the user has had enough.
	Stop <-chan struct{}
}

// Left is the time of the share that is left.
func (l Limits) Left() time.Duration {
	if l.Share.IsZero() {
		return confirm.Unlimited
	}
	return time.Until(l.Share)
}

// Stopped reports whether the user has had enough, or the time is over.
func (l Limits) Stopped() bool {
	select {
	case <-l.Stop:
		return true
	default:
		return !l.End.IsZero() && !time.Now().Before(l.End)
	}
}

// Share returns the end of the share of the next of so many workloads of the time until an end; zero for no limit.
func Share(end time.Time, workloads int) time.Time {
	if end.IsZero() {
		return end
	}
	return time.Now().Add(time.Until(end) / time.Duration(workloads))
}

// WantedRounds are how many rounds are measured where so many are asked for, 0 for none.
func WantedRounds(study studies.Study, asked int) int { return cmp.Or(asked, study.Options.Rounds, 10) }

// samples per round, as in a confirmation.
const samples = 10

// Run opens the workload and measures what is missing; through says that it was not stopped.
func (c *Comparison) Run(ctx context.Context, machine *devices.Machine, study studies.Study,
	target devices.Target) (through bool, err error) {
	bench, err := open(ctx, machine, study, target)
	if err != nil {
		return false, err
	}
	defer bench.Close()
	return confirm.Compare(ctx, search.RetryHung(bench.Evaluator), c, confirm.Options{
		Rounds: WantedRounds(study, c.Wanted), Samples: samples, Seed: stats.FreshSeed(), Lanes: runtime.NumCPU(),
	}, c.Phase, c.Points...)
}

// Rounds returns those that are recorded.
func (c *Comparison) Rounds() []trial.Round { return c.Recorded }

// Record makes one more durable.
func (c *Comparison) Record(r trial.Round) error {
	err := c.Keep(r)
	if err == nil {
		c.Recorded = append(c.Recorded, r)
	}
	return err
}

// Progress says that the first round begins.
func (c *Comparison) Progress(trial.Phase, int) {
	if !c.begun {
		c.begun = true
		c.Begin()
	}
}
