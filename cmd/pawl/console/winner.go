package console

import (
	"context"
	"fmt"

	"pawl/gate/policy"
	"pawl/gate/ratchet"
	"pawl/gate/winner"
	"pawl/studies"
)

// GateFlags are the flags that pawl gate and pawl tune --gate share.
type GateFlags struct {
	Common
	Policy, Baseline string
	Base             string
	Study            int64 // whose winner is gated; 0 for the policy's kernels
}

// MergeBase returns the commit whose baseline counts. In a pull request that is by default where
// its branch left the branch that it is to be merged into.
func (o GateFlags) MergeBase(ctx context.Context, env Environment) (string, error) {
	if target := env.Getenv("GITHUB_BASE_REF"); o.Base == "" && target != "" {
		return ratchet.MergeBase(ctx, o.Baseline, "refs/remotes/origin/"+target)
	}
	return o.Base, nil
}

// HoldWinner gates a point of a study as the flags say, and records what came of it.
func (o GateFlags) HoldWinner(ctx context.Context, env Environment, store *studies.Store, kernel string) (winner.Outcome, error) {
	commit, err := o.MergeBase(ctx, env)
	if err != nil {
		return winner.Outcome{}, err
	}
	var rules *policy.File
	if path := PolicyPath(o.Policy); path != "" {
		if rules, err = policy.Read(path); err != nil {
			return winner.Outcome{}, err
		}
	}
	b, err := o.Builder(env)
	if err != nil {
		return winner.Outcome{}, err
	}
	defer b.Close()
	return winner.Gate(ctx, b, store, winner.Options{
		Study: o.Study, Kernel: kernel, Workload: o.Workload, At: o.At, Policy: rules, Baseline: o.Baseline, Base: commit,
		Seed: o.Seed, LockClocks: o.LockClocks, Observe: CountRounds(env),
	})
}

// CountRounds says how far a comparison is. A log has no bar: one line per ten rounds.
func CountRounds(env Environment) func(kernel, workload string, round, ceiling int) {
	return func(kernel, workload string, round, ceiling int) {
		if round%10 == 0 {
			fmt.Fprintf(env.Stderr, "%s %s: %d of up to %d rounds\n", kernel, workload, round, ceiling)
		}
	}
}
