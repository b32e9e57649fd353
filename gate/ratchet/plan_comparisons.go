package ratchet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"pawl/gate"
	"pawl/gate/baseline"
	"pawl/gate/policy"
	"pawl/internal/collect"
	"pawl/kernels"
	"pawl/objective/devices"
)

// Only says what of a policy a command line asks for; empty is all.
type Only struct {
	// Kernels are named as the policy names them.
	Kernels      []string
	Workload, At string
}

// names reports whether one of some folders or embedded kernels is asked for.
func (o Only) names(names ...string) bool {
	return len(o.Kernels) == 0 || slices.ContainsFunc(o.Kernels, func(asked string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return place(name) == place(asked) })
	})
}

// place is a folder, however it is written.
func place(name string) string {
	if slices.Contains(kernels.Names(), name) {
		return name
	}
	return "./" + filepath.Clean(name)
}

// planned is a comparison that a run makes.
type planned struct {
	// Kernel has one workload, or none for the manifest's first.
	policy.Kernel
	// old is what the base has in its place; nil without a base, or where it has nothing.
	old *baseKernel
	// called names the workload in the report, where that is not its own name.
	called string
	// refused is the result where there is nothing to compare.
	refused *reportedRefusal
}

// reportedRefusal is a verdict without a comparison.
type reportedRefusal struct {
	key      baseline.Key
	decision gate.Decision
}

// plan returns the comparisons of a run. Without a base they are the policy's. With one, what the base gates is gated,
// found by the base's own folders and kernels' names, at the base's points and by its limits, whatever the branch's
// policy says; then comes what the branch adds. A kernel has moved only where its old folder is gone.
func (r *run) plan(ctx context.Context) (all []planned) {
	if r.base == nil {
		return collect.Each(r.Policy.Configurations(), func(k policy.Kernel) planned { return planned{Kernel: k} })
	}
	taken := map[string]string{} // by a kernel's name, the folder that the base knows it by, or that it has moved to
	covered := map[string]bool{}
	var refused []planned
	for i := range r.base.kernels {
		old := &r.base.kernels[i]
		candidate, where, gone := r.successor(ctx, old)
		if !r.Only.names(old.rule.Name, where) {
			continue
		}
		if old.kernel != nil {
			taken[old.kernel.Name] = where
		}
		for _, workload := range old.workloads(candidate) {
			if r.Only.Workload != "" && workload != r.Only.Workload {
				continue
			}
			if gone != "" {
				refused = append(refused, r.vanished(old, workload, gone)...)
				continue
			}
			rule := old.rule
			rule.Name, rule.Workloads = where, []string{workload}
			r.differs(old, rule)
			if r.Only.At != "" {
				rule.At = r.Only.At
			}
			covered[place(where)+" "+workload] = true
			all = append(all, planned{Kernel: rule, old: old})
			if rule.At != "" && r.Only.At == "" && otherDefault(old.kernel, candidate, workload) {
				shipped := *old
				rule.At, shipped.rule.At = "", ""
				all = append(all, planned{Kernel: rule, old: &shipped, called: workload + " at the default"})
			}
		}
	}
	for _, rule := range r.Policy.Configurations() {
		k, err := r.On.Load(ctx, rule.Name, cmp.Or(rule.Backend, r.Backend))
		if err != nil { // which its comparison says, unless it is one of the base's, whose comparison does
			if workload := append(slices.Clone(rule.Workloads), "")[0]; !covered[place(rule.Name)+" "+workload] {
				all = append(all, planned{Kernel: rule})
			}
			continue
		}
		workload := append(slices.Clone(rule.Workloads), k.Workloads[0].Name)[0]
		if covered[place(rule.Name)+" "+workload] {
			continue
		}
		if other, known := taken[k.Name]; known && place(other) != place(rule.Name) {
			refused = append(refused, planned{refused: &reportedRefusal{
				baseline.Key{
					Kernel: fmt.Sprintf("%s in %s", k.Name, filepath.Clean(rule.Name)), Workload: workload, Type: typeOf(k),
				},
				gate.Decide(gate.Inconclusive, "another kernel is called %s, in %s, and baselines are kept by name: rename one",
					k.Name, filepath.Clean(other)),
			}})
			continue
		}
		taken[k.Name] = rule.Name
		all = append(all, planned{Kernel: rule, old: r.ungated(ctx, rule, k, workload)})
	}
	return append(all, refused...)
}

// deal returns the part of a job, from 1 on.
func deal(all []planned, job, jobs int) (part []planned) {
	for i := job - 1; i < len(all); i += jobs {
		part = append(part, all[i])
	}
	return part
}

// successor returns what the branch has of a kernel that the base gates, and where; gone says why it has nothing.
// What cannot be read is nil, and still where it was.
func (r *run) successor(ctx context.Context, old *baseKernel) (k *kernels.Kernel, where, gone string) {
	where = old.rule.Name
	k, err := r.On.Load(ctx, where, cmp.Or(old.rule.Backend, r.Backend))
	switch {
	case old.kernel == nil: // embedded, or unreadable in the base
		return k, where, ""
	case err == nil && k.Name == old.kernel.Name:
		return k, where, ""
	case err == nil:
		return nil, where, fmt.Sprintf("%s has the kernel %s now", filepath.Clean(where), k.Name)
	}
	if _, err := os.Lstat(filepath.Join(where, kernels.ManifestName)); !errors.Is(err, fs.ErrNotExist) {
		return nil, where, ""
	}
	for _, rule := range r.Policy.Kernels {
		known := func(b baseKernel) bool { return place(b.rule.Name) == place(rule.Name) }
		if slices.ContainsFunc(r.base.kernels, known) {
			continue
		}
		if k, err := r.On.Load(ctx, rule.Name, cmp.Or(old.rule.Backend, r.Backend)); err == nil && k.Name == old.kernel.Name {
			return k, rule.Name, ""
		}
	}
	return nil, where, fmt.Sprintf("%s is gone, and no other folder of the policy has the kernel", filepath.Clean(where))
}

// otherDefault reports whether a branch ships another default than its base.
func otherDefault(old, now *kernels.Kernel, workload string) bool {
	if old == nil || now == nil {
		return false
	}
	before, err := devices.NewTarget(old, workload)
	after, failed := devices.NewTarget(now, workload)
	return err == nil && failed == nil && before.Space.Default().String() != after.Space.Default().String()
}

// differs warns that the branch's policy says something else about what the base gates.
func (r *run) differs(old *baseKernel, rule policy.Kernel) {
	for _, own := range r.Policy.Kernels {
		if place(own.Name) != place(rule.Name) {
			continue
		}
		called := rule.Name
		if old.kernel != nil {
			called = old.kernel.Name + " " + rule.Workloads[0]
		}
		if !reflect.DeepEqual(own.Policy, rule.Policy) {
			r.warn(fmt.Sprintf("this branch's %s has other limits for %s; they were not used: those of %s count", r.PolicyFile,
				called, r.Base))
		}
		if r.Only.At == "" && own.At != rule.At {
			r.warn(fmt.Sprintf("this branch's %s gates %s at %s; that was not used: what %s gates counts", r.PolicyFile, called,
				cmp.Or(own.At, "the default"), r.Base))
		}
	}
}

// ungated returns what the base has of a kernel and workload that it does not gate, to be compared by the branch's
// limits; nil where it has nothing.
func (r *run) ungated(ctx context.Context, rule policy.Kernel, k *kernels.Kernel, workload string) *baseKernel {
	old := r.baseKernel(ctx, rule)
	if old.kernel == nil || old.kernel.Name != k.Name || old.kernel.Backend != k.Backend {
		return nil
	}
	if _, err := old.kernel.Workload(workload); err != nil {
		return nil
	}
	return &old
}

// vanished is what the base gates and the branch has nothing of: a kernel that a branch renames does not pass as a new
// one. It may be removed by a person, who says why.
func (r *run) vanished(old *baseKernel, workload, gone string) []planned {
	if e := r.removal(old); e != nil {
		r.warn(fmt.Sprintf("%s %s is removed by %s: %s", old.kernel.Name, workload, e.By, e.Reason))
		return nil
	}
	return []planned{{refused: &reportedRefusal{
		baseline.Key{Kernel: old.kernel.Name, Workload: workload, Type: typeOf(old.kernel)},
		gate.Decide(gate.Vanished, "%s; %s gates it: bring it back, or run pawl baseline remove %s --reason \"…\"", gone,
			r.Base, old.kernel.Name),
	}}}
}

// removal returns a person's decision to remove a kernel.
func (r *run) removal(old *baseKernel) *baseline.Event {
	at := slices.IndexFunc(r.base.decided,
		func(e baseline.Event) bool { return e.Verdict == baseline.Removed && e.Kernel == old.kernel.Name })
	if at < 0 {
		return nil
	}
	return &r.base.decided[at]
}
