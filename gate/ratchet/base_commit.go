package ratchet

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	folder   string // temporary
	root     string // of the repository
	here     string // the working folder as seen from the repository's root
	kernels  []baseKernel
	programs []policy.Program
	// decided are the decisions of people that the branch adds.
	decided []baseline.Event
}

// baseKernel is a kernel as the base has it, and how it is gated there.
type baseKernel struct {
	rule policy.Kernel
	// kernel is nil where the base's files have none: it is embedded, outside of the repository, or cannot be read, and
	// then problem says why.
	kernel  *kernels.Kernel
	problem error
	// files are what the base's machine code is made of, as they were before any code of the branch ran.
	files []kernels.File
}

// workloads are those that the base gates; a candidate stands in for a kernel that it cannot read.
func (k *baseKernel) workloads(candidate *kernels.Kernel) []string {
	known := cmp.Or(k.kernel, candidate)
	switch {
	case len(k.rule.Workloads) > 0:
		return k.rule.Workloads
	case known == nil:
		return []string{""}
	}
	return []string{known.Workloads[0].Name}
}

// unchanged is an error where the base's files are no longer those that were exported: the branch's programs run as
// the same user.
func (k *baseKernel) unchanged() error {
	files, _, err := k.kernel.Depends()
	if err != nil {
		return err
	}
	same := func(a, b kernels.File) bool { return a.Name == b.Name && bytes.Equal(a.Content, b.Content) }
	if !slices.EqualFunc(files, k.files, same) {
		return fmt.Errorf("the files of the base's kernel %s were changed while the gate ran", k.kernel.Name)
	}
	return nil
}

// openBase unpacks the base. Who calls it calls close.
func (r *run) openBase(ctx context.Context) (err error) {
	b := &baseCommit{}
	r.base = b
	root, _, err := inRepository(ctx, r.Baseline)
	if err != nil {
		return err
	}
	b.root = root
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
	b.programs = rules.Programs
	for _, rule := range rules.Kernels {
		b.kernels = append(b.kernels, r.baseKernel(ctx, rule))
	}
	return nil
}

func (b *baseCommit) close() error {
	if b == nil {
		return nil
	}
	return os.RemoveAll(b.folder)
}

// baseKernel loads a kernel of the base. One that is embedded is in pawl and not in the repository.
func (r *run) baseKernel(ctx context.Context, rule policy.Kernel) (old baseKernel) {
	old.rule = rule
	if filepath.IsAbs(rule.Name) || slices.Contains(kernels.Names(), rule.Name) {
		return old
	}
	folder := filepath.Join(r.base.folder, "files", r.base.here, rule.Name)
	if old.kernel, old.problem = r.On.Load(ctx, folder, cmp.Or(rule.Backend, r.Backend)); old.problem == nil {
		old.files, _, old.problem = old.kernel.Depends()
	}
	if old.problem != nil {
		old.kernel = nil
	}
	return old
}

// unchanged reports whether a candidate has the machine code, the arguments and the checks of the base: then there is
// nothing to check or to measure.
func (r *run) unchanged(ctx context.Context, c *devices.Configuration, old *baseKernel) (bool, error) {
	if err := old.unchanged(); err != nil || c.Prepared.Failure != nil {
		return false, err
	}
	files, _, err := c.Kernel.JudgedBy(old.kernel, r.base.root, filepath.Join(r.base.folder, "files"))
	if err != nil || len(files) > 0 {
		return false, err
	}
	base, err := r.On.Open(ctx, old.kernel, c.Workload.Name, old.rule.At)
	if err != nil {
		return false, nil // which its comparison says
	}
	defer base.Close()
	if base.Prepared.Failure != nil {
		return false, nil
	}
	problem, err := base.Evaluator.Problem()
	if err != nil {
		return false, err
	}
	return sameCode(c, baseline.Entry{Binary: base.Prepared.Binary.Digest, Problem: problem})
}

// againstBase compares a candidate with what the base commit has of it, built here: that takes no
// stored baseline, whatever the device is. Where main is no longer what its baseline was, the
// candidate is compared with that as well, so that small losses do not add up.
func (r *run) againstBase(ctx context.Context, c *devices.Configuration, old *baseKernel, o outcome) (outcome, error) {
	if err := old.unchanged(); err != nil {
		return o, err
	}
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
	files, changed, err := c.Kernel.JudgedBy(rules, r.base.root, filepath.Join(r.base.folder, "files"))
	if err != nil || len(files) == 0 {
		return c, err
	}
	result.Changed = changed
	// As deep as in the repository, so that an include may leave the folder.
	tree, err := os.MkdirTemp(r.base.folder, "judged-")
	if err != nil {
		return nil, err
	}
	where, err := filepath.EvalSymlinks(c.Kernel.Dir)
	if err != nil {
		return nil, err
	}
	place, err := filepath.Rel(r.base.root, where)
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(tree, place)
	for _, f := range files {
		path := filepath.Join(folder, filepath.FromSlash(f.Name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, f.Content, 0o644)); err != nil {
			return nil, err
		}
	}
	for _, name := range c.Kernel.Include {
		if err := os.MkdirAll(filepath.Join(folder, filepath.FromSlash(name)), 0o755); err != nil {
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
	if failure != nil && failure.Reason == brokenReference {
		// It says nothing about the candidate, which has passed its own checks; what it changes needs a person.
		result.Notes = append(result.Notes, fmt.Sprintf("%s itself cannot be checked: %s", r.Base, failure.Detail))
		if len(changed) == 0 {
			result.Changed = []string{"reference"}
		}
		return c, nil
	}
	if failure != nil {
		result.Decision, result.Stage = gate.Broken(failure), failure.Stage
		result.Reason = fmt.Sprintf("by the checks of %s: %s", r.Base, result.Reason)
	}
	return nil, err
}

func errorLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// accepted fills in who has accepted a result of exactly these files: a loss, changed checks, or checks that fit no
// more. A wrong result is never accepted.
func (r *run) accepted(result *reporting.Result) {
	if r.base == nil || result.Verdict == gate.Wrong {
		return
	}
	about := ""
	if len(result.Changed) > 0 {
		about = fmt.Sprintf("this branch changes how %s %s is checked (%s); it was checked by the rules of %s, too",
			result.Kernel, result.Workload, strings.Join(result.Changed, ", "), r.Base)
	}
	if about == "" && !result.Verdict.Fails() {
		return
	}
	stale := false
	for _, e := range r.base.decided {
		if e.Verdict != baseline.Accepted || e.Kernel != result.Kernel || e.Workload != result.Workload {
			continue
		}
		if stale = e.Sources == "" || e.Sources != result.Sources; !stale {
			result.AcceptedBy, result.AcceptedWhy = cmp.Or(e.By, "somebody"), e.Reason
			return
		}
	}
	if stale {
		result.Notes = append(result.Notes, "what was accepted in this branch are other files: it does not count for these")
	}
	if about != "" {
		r.warn(fmt.Sprintf("%s. It needs a person: pawl baseline accept %s --reason \"…\"", about, result.Kernel))
	}
}
