package ratchet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"pawl/gate"
	"pawl/gate/baseline"
	"pawl/gate/policy"
	"pawl/gate/reporting"
	"pawl/internal/git"
	"pawl/kernels"
	"pawl/objective/devices"
)

// baseCommit is what a change began from: its files, on disk, and what it gates.
type baseCommit struct {
	folder  string // temporary
	here    string // the working folder as seen from the repository's root
	kernels []baseKernel
	// decided are the decisions of people that the branch adds.
	decided []baseline.Event
}

// baseKernel is a kernel as the base has it, and how it is gated there.
type baseKernel struct {
	rule   policy.Kernel
	kernel *kernels.Kernel
}

func (k baseKernel) workloads() []string {
	if len(k.rule.Workloads) > 0 {
		return k.rule.Workloads
	}
	return []string{k.kernel.Workloads[0].Name}
}

// openBase unpacks the base. Who calls it calls close.
func (r *run) openBase(ctx context.Context) (err error) {
	b := &baseCommit{}
	r.base = b
	root, _, err := inRepository(ctx, r.Baseline)
	if err != nil {
		return err
	}
	if b.folder, err = os.MkdirTemp("", "pawl-base-"); err != nil {
		return err
	}
	if err := git.Export(ctx, root, r.report.Base, filepath.Join(b.folder, "files")); err != nil {
		return err
	}
	if _, b.here, _, err = git.Locate(ctx, "."); err != nil {
		return err
	}
	if b.decided, err = readDecisions(ctx, baseline.HistoryPath(r.Baseline), r.report.Base); err != nil {
		return err
	}
	rules, err := readBasePolicy(ctx, r.PolicyFile, r.report.Base)
	if err != nil || rules == nil {
		return err
	}
	for _, rule := range rules.Kernels {
		if k := r.baseKernel(ctx, rule); k != nil {
			b.kernels = append(b.kernels, baseKernel{rule, k})
		}
	}
	return nil
}

func (b *baseCommit) close() error {
	if b == nil {
		return nil
	}
	return os.RemoveAll(b.folder)
}

// baseKernel loads a kernel of the base; nil where it has none that can be read. One that is
// embedded is in pawl and not in the repository.
func (r *run) baseKernel(ctx context.Context, rule policy.Kernel) *kernels.Kernel {
	if filepath.IsAbs(rule.Name) || slices.Contains(kernels.Names(), rule.Name) {
		return nil
	}
	folder := filepath.Join(r.base.folder, "files", r.base.here, rule.Name)
	k, err := r.On.Load(ctx, folder, cmp.Or(rule.Backend, r.Backend))
	if err != nil {
		return nil
	}
	return k
}

// inBase returns what the base has of a configuration, by the names of kernel and workload,
// whatever the folder; nil where it has nothing. A kernel that the base does not gate is compared
// by the branch's limits.
func (r *run) inBase(ctx context.Context, rule policy.Kernel, c *devices.Configuration) *baseKernel {
	if r.base == nil {
		return nil
	}
	same := func(k *kernels.Kernel) bool { return k.Name == c.Kernel.Name && k.Backend == c.Kernel.Backend }
	for _, k := range r.base.kernels {
		if !same(k.kernel) || !slices.Contains(k.workloads(), c.Workload.Name) {
			continue
		}
		if !reflect.DeepEqual(k.rule.Policy, rule.Policy) {
			r.warn(fmt.Sprintf("this branch's %s has other limits for %s %s; they were not used: those of %s count",
				r.PolicyFile, c.Kernel.Name, c.Workload.Name, r.Base))
		}
		return &k
	}
	if k := r.baseKernel(ctx, rule); k != nil && same(k) {
		if _, err := k.Workload(c.Workload.Name); err == nil {
			return &baseKernel{rule, k}
		}
	}
	return nil
}

// againstBase compares a candidate with what the base commit has of it, built here: that takes no
// stored baseline, whatever the device is. Where main is no longer what its baseline was, the
// candidate is compared with that as well, so that small losses do not add up.
func (r *run) againstBase(ctx context.Context, c *devices.Configuration, old *baseKernel, o outcome) (outcome, error) {
	judged, err := r.judged(ctx, c, old.kernel, &o.result)
	if judged == nil || err != nil {
		return o, err
	}
	if judged != c {
		defer judged.Close()
	}
	base, err := r.On.Open(ctx, old.kernel, c.Workload.Name, old.rule.At)
	switch {
	case ctx.Err() != nil:
		return o, context.Cause(ctx)
	case err == nil && base.Prepared.Failure != nil:
		base.Close()
		err = errors.New(base.Prepared.Failure.String())
	}
	if err != nil {
		o.result.Notes = append(o.result.Notes, fmt.Sprintf("%s itself does not build here: %v", r.Base, err))
		return r.againstEntry(ctx, c, o)
	}
	defer base.Close()
	o.result.BaselinePoint, o.result.BaselineCommit = base.Prepared.Point.String(), r.report.Base
	baseProblem, err := base.Evaluator.Problem()
	if err != nil {
		return o, err
	}
	code := baseline.Entry{Binary: base.Prepared.Binary.Digest, Problem: baseProblem}
	if same, err := sameCode(judged, code); same || err != nil {
		o.result.Decision = gate.Decide(gate.Maintained, "the machine code is that of the base: there is nothing to measure")
		return o, err
	}
	entry, known := r.file.Find(o.result.Key)
	p := o.result.Policy
	switch {
	case !known || entry.Dims != base.Workload.Dims.String():
		entry = baseline.Entry{}
	case entry.Binary == code.Binary:
		entry, _ = r.file.FindBest(entry.Key)
	default:
		p.Erosion = p.Regression
	}
	if o.result.Comparison, o.result.Why, err = r.interleaved(ctx, judged, base, entry, p); err != nil {
		return o, err
	}
	return r.described(c, judged == c, o)
}

// judged returns a candidate under the base's rules, which is the candidate itself where the branch
// has not changed them; nil where it fails them, and the result says so.
func (r *run) judged(ctx context.Context, c *devices.Configuration, rules *kernels.Kernel,
	result *reporting.Result) (*devices.Configuration, error) {
	files, changed, err := c.Kernel.JudgedBy(rules)
	if err != nil || len(files) == 0 {
		return c, err
	}
	if result.Changed = changed; len(changed) > 0 {
		result.AcceptedBy = r.acceptance(result)
	}
	folder, err := os.MkdirTemp(r.base.folder, "judged-")
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		path := filepath.Join(folder, filepath.FromSlash(f.Name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, f.Content, 0o644)); err != nil {
			return nil, err
		}
	}
	k, err := kernels.Load(folder, c.Kernel.Backend)
	var judged *devices.Configuration
	if err == nil {
		judged, err = r.On.Open(ctx, k, c.Workload.Name, c.Prepared.Point.String())
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		result.Decision = gate.Decide(gate.Vanished,
			"the checks of %s do not fit it any more, so that a person has to decide: %v", r.Base,
			errorLine(err))
		return nil, nil
	}
	failure, err := r.verify(ctx, judged)
	if err == nil && failure == nil {
		return judged, nil
	}
	judged.Close()
	if failure != nil {
		result.Decision = gate.Broken(failure)
		result.Reason = fmt.Sprintf("by the checks of %s: %s", r.Base, result.Reason)
	}
	return nil, err
}

func errorLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// acceptance warns that the branch changes what its kernel is checked by, and returns who has
// accepted that.
func (r *run) acceptance(result *reporting.Result) (by string) {
	about := fmt.Sprintf("this branch changes how %s %s is checked (%s); it was checked by the rules of %s, too",
		result.Kernel, result.Workload, strings.Join(result.Changed, ", "), r.Base)
	for _, e := range r.base.decided {
		if e.Verdict == baseline.Accepted && e.Kernel == result.Kernel && e.Workload == result.Workload {
			r.warn(fmt.Sprintf("%s. Accepted by %s: %s", about, e.By, e.Reason))
			return cmp.Or(e.By, "somebody")
		}
	}
	r.warn(fmt.Sprintf("%s. It needs a person: pawl baseline accept %s --reason \"…\"", about, result.Kernel))
	return ""
}

// vanished are the configurations that the base gates and the run has not compared: a kernel that
// a branch renames, or no longer gates, does not pass as a new one. One whose folder is gone may be
// removed by a person, who says why.
func (r *run) vanished() (results []reporting.Result) {
	for _, k := range r.base.kernels {
		for _, workload := range k.workloads() {
			compared := func(s reporting.Result) bool { return s.Kernel == k.kernel.Name && s.Workload == workload }
			if slices.ContainsFunc(r.report.Results, compared) {
				continue
			}
			if e := r.removal(k); e != nil {
				r.warn(fmt.Sprintf("%s %s is removed by %s: %s", k.kernel.Name, workload, e.By, e.Reason))
				continue
			}
			result := reporting.Result{Key: baseline.Key{
				Device: r.report.Device, Kernel: k.kernel.Name, Workload: workload, Type: typeOf(k.kernel),
			}}
			result.Decision = gate.Decide(gate.Vanished,
				"%s gates it, and this run compares nothing with it: gate it again, or delete its folder "+
					"and run pawl baseline remove %s --reason \"…\"", r.Base, k.kernel.Name)
			results = append(results, result)
		}
	}
	return results
}

// removal returns a person's decision to remove a kernel, where its manifest is gone.
func (r *run) removal(k baseKernel) *baseline.Event {
	if _, err := os.Stat(filepath.Join(k.rule.Name, kernels.ManifestName)); !errors.Is(err, os.ErrNotExist) {
		return nil
	}
	at := slices.IndexFunc(r.base.decided,
		func(e baseline.Event) bool { return e.Verdict == baseline.Removed && e.Kernel == k.kernel.Name })
	if at < 0 {
		return nil
	}
	return &r.base.decided[at]
}
