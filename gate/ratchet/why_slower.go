package ratchet

import (
	"context"
	"path/filepath"
	"slices"

	"pawl/gate"
	"pawl/internal/escape"
	"pawl/objective/devices"
	"pawl/objective/profile"
)

// profilesName is the folder beside the baseline with what a profiler has seen, its own reports among it.
const profilesName = "profiles"

// explain says why a candidate is slower or faster than its baseline. What the compiler knows always counts; a profiler
// looks at one launch of either where the policy asks for it and where it can, which is on this machine. What
// goes wrong there takes nothing from the verdict: the report says less.
func (r *run) explain(ctx context.Context, base, c *devices.Configuration,
	compared *gate.Comparison) *profile.Comparison {
	moved := compared.Verdict == gate.Regression || compared.Verdict == gate.Improvement
	if !moved || compared.Evidence == nil || ctx.Err() != nil {
		return nil
	}
	var facts []profile.Facts
	before, after := compared.Evidence.Times()
	profiled := r.Policy != nil && slices.Contains(r.Policy.Profile, compared.Verdict)
	if _, local := r.On.(here); profiled && !local {
		profiled = false
		compared.Notes = append(compared.Notes, "no profiler has looked at it: it was measured on a farm")
	}
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

func (r *run) profile(ctx context.Context, c *devices.Configuration, milliseconds float64,
	profiled bool) (*profile.Profile, error) {
	o := profile.Options{Seed: r.Builder.Options.Seed, Caches: r.Builder.Options.Caches, Static: !profiled}
	o.Folder = filepath.Join(filepath.Dir(r.Baseline), profilesName, escape.FileName(c.Kernel.Name),
		escape.FileName(c.Workload.Name))
	p, err := profile.Of(ctx, r.Machine.Subject(c.Bench), c.Prepared, milliseconds, o)
	if err == nil && p.NoMetrics == "" {
		_, err = p.Write(o.Folder)
	}
	return p, err
}
