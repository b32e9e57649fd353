package ratchet

import (
	"context"
	"os"
	"slices"

	"pawl/gate"
	"pawl/gate/policy"
	"pawl/objective/devices"
	"pawl/objective/profile"
)

// explain says why a candidate is slower or faster than its baseline, both of which can be run
// here. What the compiler knows always counts; a profiler looks at one launch of either where the
// policy's triggers ask for it and where it can. What goes wrong there takes nothing from the
// verdict: the report says less.
func (r *run) explain(ctx context.Context, base, c *devices.Configuration,
	compared gate.Comparison) *profile.Comparison {
	var trigger policy.Trigger
	switch compared.Verdict {
	case gate.Regression:
		trigger = policy.OnRegression
	case gate.Improvement:
		trigger = policy.OnImprovement
	default:
		return nil
	}
	if _, local := r.On.(here); !local || compared.Evidence == nil || ctx.Err() != nil {
		return nil
	}
	var facts []profile.Facts
	before, after := compared.Evidence.Times()
	profiled := r.Policy != nil && slices.Contains(r.Policy.Profile, trigger)
	for _, side := range []struct {
		*devices.Configuration
		milliseconds float64
	}{{base, before}, {c, after}} {
		p, err := r.profile(ctx, side.Configuration, side.milliseconds, profiled)
		if err != nil {
			return nil
		}
		// One side alone cannot be compared: the other is not kept waiting for.
		if p.NoMetrics != "" {
			profiled, p.Metrics = false, nil
		}
		facts = append(facts, p.Facts)
	}
	why := profile.Compare(facts[0], facts[1])
	if !why.Profiled && len(why.Changes) == 0 {
		return nil // nothing is known
	}
	return &why
}

// profile describes one side.
func (r *run) profile(ctx context.Context, c *devices.Configuration, milliseconds float64,
	profiled bool) (*profile.Profile, error) {
	o := profile.Options{Seed: r.Builder.Options.Seed, Caches: r.Builder.Options.Caches, Static: !profiled}
	if profiled {
		folder, err := os.MkdirTemp("", "pawl-profile-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(folder) // what counts stands in the report
		o.Folder = folder
	}
	return profile.Of(ctx, r.Machine.Subject(c.Bench), c.Prepared, milliseconds, o)
}
