package console

import (
	"context"
	"fmt"

	"pawl/gate/policy"
	"pawl/gate/ratchet"
	"pawl/gate/remote"
	"pawl/gate/winner"
	"pawl/objective/devices"
	"pawl/studies"
)

// GateFlags are the flags that pawl gate and pawl tune --gate share.
type GateFlags struct {
	Common
	Base  string
	Study int64 // whose winner is gated; 0 for the policy's kernels
	// On is the label of the farm's device that measures; empty for this machine.
	On string
}

// Setting returns the builder of what is gated, and where and with what it is compared. End ends
// both.
func (o *GateFlags) Setting(ctx context.Context) (b *devices.Builder, s ratchet.Setting, end func(), err error) {
	s = ratchet.Setting{Baseline: o.Baseline, LockClocks: o.LockClocks, Seed: o.Order(), Observe: o.countRounds}
	if s.Base, err = o.MergeBase(ctx); err != nil {
		return nil, s, nil, err
	}
	if b, err = o.Builder(); err != nil {
		return nil, s, nil, err
	}
	if s.On = ratchet.Here(b); o.On == "" {
		return b, s, func() { b.Close() }, nil
	}
	if o.LockClocks > 0 {
		return nil, s, nil, Usagef("--lock-clocks is for this machine's GPU: leave it out with --on")
	}
	where, err := FarmIn(o.Database(), o.Farm)
	if err != nil {
		return nil, s, nil, err
	}
	there, err := remote.Open(ctx, remote.Options{
		Farm: where, On: o.On, Definition: o.Definition, Notice: o.Notice,
	})
	if err != nil {
		return nil, s, nil, err
	}
	s.On = there
	return b, s, func() { b.Close(); there.Close() }, nil
}

// MergeBase returns the commit whose baseline counts. In a pull request that is by default where
// its branch left the branch that it is to be merged into.
func (o *GateFlags) MergeBase(ctx context.Context) (string, error) {
	base, err := o.Base, error(nil)
	if target := o.Getenv("GITHUB_BASE_REF"); base == "" && target != "" {
		base, err = ratchet.MergeBase(ctx, o.Baseline, "refs/remotes/origin/"+target)
	}
	if err != nil || base == "" {
		return base, err
	}
	return ratchet.MergeParent(ctx, o.Baseline, base, o.Getenv("GITHUB_REF"), o.Getenv("GITHUB_SHA"))
}

// HoldWinner gates a point of a study as the flags say, and records what came of it.
func (o *GateFlags) HoldWinner(ctx context.Context, store *studies.Store, kernel string) (winner.Outcome, error) {
	var rules *policy.File
	if path := PolicyPath(o.Policy); path != "" {
		var err error
		if rules, err = policy.Read(path); err != nil {
			return winner.Outcome{}, err
		}
	}
	b, setting, end, err := o.Setting(ctx)
	if err != nil {
		return winner.Outcome{}, err
	}
	defer end()
	return winner.Gate(ctx, b, store, winner.Options{
		Setting: setting, Study: o.Study, Kernel: kernel, Workload: o.Workload, At: o.At, Policy: rules,
	})
}

// countRounds says how far a comparison is. A log has no bar: one line per ten rounds.
func (o *GateFlags) countRounds(kernel, workload string, round, ceiling int) {
	if round%10 == 0 {
		fmt.Fprintf(o.Stderr, "%s %s: %d of up to %d rounds\n", kernel, workload, round, ceiling)
	}
}
