package objective

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"pawl/internal/collect"
	"pawl/kernels"
	"pawl/kernels/arguments"
	"pawl/objective/check"
	"pawl/objective/worker"
	"pawl/space"
)

// Tester checks the points of a workload on cases.
type Tester struct {
	kernel   *kernels.Kernel
	workload kernels.Workload
	seed     uint64
	full     uint64 // the seed of the full tier
	quick    int    // cases of the quick tier
	checker  check.Checker
	notes    *check.Notes
	runner   *runner

	discerning sync.Mutex
	discerned  bool   // whether the check was seen to tell a kernel that does nothing
	blind      string // which elements are no evidence; empty for hardly any
}

// Finding is what checking a point on many cases came to.
type Finding struct {
	// Checked is the number of cases that were run.
	Checked int
	// Evidence is what passed; nil where nothing was run.
	Evidence *check.Evidence
	// Failure is what went wrong at Case; nil if nothing did.
	Failure *Failure
	Case    check.Case
}

// WorkloadCase is the workload.
func (t *Tester) WorkloadCase() check.Case {
	return check.Case{Dims: t.workload.Dims, Seed: t.seed, Layout: worker.Aligned}
}

// QuickCases returns the quick tier of a point. The workload comes last.
func (t *Tester) QuickCases(point space.Point) []check.Case {
	return append(check.Quick(t.kernel, t.workload, point, t.quick, t.seed), t.WorkloadCase())
}

// FullCases returns the full tier of a point.
func (t *Tester) FullCases(point space.Point) []check.Case {
	return check.Full(t.kernel, t.workload, point, t.full)
}

// Note returns what was noticed about a point beside failures, and which sizes it
// was not checked with; or nothing.
func (t *Tester) Note(point space.Point) string {
	return sentences(t.noticed(point), check.Unchecked(t.kernel, t.workload))
}

// noticed is what was noticed about a point, and which elements of every point are no evidence.
func (t *Tester) noticed(point space.Point) string {
	t.discerning.Lock()
	defer t.discerning.Unlock()
	return sentences(t.notes.Of(point), t.blind)
}

func sentences(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), ". ")
}

// plan plans the check of a point. One whose scratch has no size at a case fails.
func (t *Tester) plan(ctx context.Context, p Prepared, cases ...check.Case) (check.Plan, *Failure, error) {
	plan, err := check.NewPlan(ctx, t.checker, p.subject(), cases...)
	if unbound, ok := errors.AsType[*arguments.BindError](err); ok && unbound.Scratch {
		return plan, Unfit("%s", unbound), nil
	}
	return plan, nil, err
}

// foresee has answers to cases worked out that no device computes, to so many at a time. It returns how many of the
// cases need not wait for one.
func (t *Tester) foresee(point space.Point, cases []check.Case, most int) int {
	if device, ok := t.checker.(check.OnDevice); ok {
		return device.Foresee(point, cases, most)
	}
	return len(cases)
}

func (t *Tester) follow(ctx context.Context, s *worker.Session, plan check.Plan) (*Failure, error) {
	fault, err := t.checker.Check(ctx, s, plan)
	return t.runner.failure(fault), err
}

func (t *Tester) check(ctx context.Context, s *worker.Session, p Prepared, cases ...check.Case) (*Failure, error) {
	plan, failure, err := t.plan(ctx, p, cases...)
	if failure != nil || err != nil {
		return failure, err
	}
	return t.follow(ctx, s, plan)
}

// Try checks a point on cases in one fresh worker, and stops at the first that
// fails. Observe is called before each case; it may be nil.
func (t *Tester) Try(ctx context.Context, p Prepared, cases iter.Seq[check.Case],
	observe func(check.Case)) (Finding, error) {
	finding := Finding{Failure: p.Failure}
	if p.Failure != nil {
		return finding, nil
	}
	var passed []check.Case
	var cut *check.Case // begun, and kept from its end by the machine
	next, stop := iter.Pull(cases)
	defer stop()
	finding.Evidence = &check.Evidence{
		Tolerance: t.kernel.Tolerance, Unchecked: check.Unchecked(t.kernel, t.workload), Unscaled: check.Unscaled(t.kernel),
	}
	failure, err := t.runner.run(ctx, p.subject(), func(s *worker.Session) error {
		c, more := finding.Case, true
		switch last := len(passed) - 1; {
		case cut != nil:
			c = *cut
		case finding.Failure != nil: // the case that failed once more, in another worker
			finding.Failure, finding.Checked = nil, finding.Checked-1
		case last >= 0: // the last once more, since the kernel's file was damaged meanwhile
			c, passed, finding.Checked = passed[last], passed[:last], finding.Checked-1
		default:
			c, more = next()
		}
		for ; more; c, more = next() {
			if cut = &c; observe != nil {
				observe(c)
			}
			plan, failure, err := t.plan(ctx, p, c)
			plan.Evidence = finding.Evidence
			if failure == nil && err == nil {
				failure, err = t.follow(ctx, s, plan)
			}
			if err != nil {
				return err
			}
			cut = nil
			finding.Checked++
			if failure != nil {
				finding.Failure, finding.Case = t.explained(ctx, s, c, failure), c
				return nil
			}
			passed = append(passed, c)
		}
		if !s.Slot.Watched() || len(passed) == 0 {
			return nil
		}
		finding.Case = passed[len(passed)-1]
		fault, err := check.Conclude(ctx, s, finding.Case)
		finding.Failure = faultFailure(Fuzz, fault)
		return err
	})
	if failure != nil {
		finding.Failure = failure
		return finding, nil
	}
	if err != nil || finding.Failure == nil || len(passed) < finding.Checked || finding.Checked == 1 {
		return finding, err
	}
	return t.blame(ctx, p, passed, finding)
}

// discern returns a [check.BlindError] where the check would pass a kernel that does nothing, as any kernel shows that
// computes. It asks once.
func (t *Tester) discern(ctx context.Context, p Prepared) error {
	t.discerning.Lock()
	defer t.discerning.Unlock()
	if t.discerned || p.Failure != nil {
		return nil
	}
	var same string
	for _, c := range append([]check.Case{t.WorkloadCase()}, t.FullCases(p.Point)...) {
		outputs, err := t.Outputs(ctx, p, c)
		if err != nil || outputs == nil {
			return err
		}
		var other *check.Outputs
		if !t.kernel.Answered() && !t.kernel.PythonReference() { // which would take as long again
			again := c
			again.Seed = ^c.Seed
			if other, err = t.Outputs(ctx, p, again); err != nil || other == nil {
				return err
			}
		}
		if same, t.blind, err = outputs.Blind(c, other); err != nil {
			return err
		}
		if same == "" {
			t.discerned = true
			return nil
		}
	}
	outputs := collect.Each(t.kernel.Arguments.Outputs(), func(a arguments.Argument) string { return a.Name })
	inputs := cmp.Or(strings.Join(t.kernel.Arguments.Drawn(), " or "), "its inputs")
	return &check.BlindError{Case: t.WorkloadCase(), Result: "a kernel that never reads " + inputs, Reason: fmt.Sprintf(
		"the reference's %s is %s here and in every other case: repair the reference, or give %s content that leads to "+
			"other answers (fill, range)", strings.Join(outputs, " and "), same, inputs)}
}

// BlindFailure is the failure of a configuration whose check is blind, for who judges one; nil for other errors.
func BlindFailure(err error) *Failure {
	if blind, ok := errors.AsType[*check.BlindError](err); ok {
		return &Failure{Fuzz, "blind check", blind.Error()}
	}
	return nil
}

// explained is a wrong result, or what a tool that watches has found in its case: that says
// where it comes from.
func (t *Tester) explained(ctx context.Context, s *worker.Session, c check.Case, failure *Failure) *Failure {
	if !s.Slot.Watched() || failure.Reason != string(check.WrongResult) {
		return failure
	}
	// An error says that the tool knows nothing.
	if fault, err := check.Conclude(ctx, s, c); err == nil && fault != nil {
		return faultFailure(Fuzz, fault)
	}
	return failure
}

// blame finds out which case it was that a tool has reported on at the end of the
// worker, after all of them: it tries them one by one. Where none fails alone, it
// stays with the last.
func (t *Tester) blame(ctx context.Context, p Prepared, cases []check.Case, found Finding) (Finding, error) {
	for i, c := range cases {
		one, err := t.tryOne(ctx, p, c)
		one.Checked += i
		if err != nil || one.Failure != nil {
			return one, err
		}
	}
	return found, nil
}

func (t *Tester) tryOne(ctx context.Context, p Prepared, c check.Case) (Finding, error) {
	return t.Try(ctx, p, slices.Values([]check.Case{c}), nil)
}

// TryQuick checks a point on what every trial is checked on, the workload
// included.
func (t *Tester) TryQuick(ctx context.Context, p Prepared) (Finding, error) {
	return t.Try(ctx, p, slices.Values(t.QuickCases(p.Point)), nil)
}

// Shrink looks for the smallest shape, and the plainest inputs, at which a
// point fails in the same way. Every attempt runs in a fresh worker. It returns
// the finding itself where nothing smaller fails, and again = false where not
// even the case itself does when it is repeated alone: then the failure depends
// on what ran before it, or on the scheduling of threads.
func (t *Tester) Shrink(ctx context.Context, p Prepared, finding Finding) (smallest Finding, again bool, err error) {
	runs := check.ShrinkRuns
	if finding.Failure.Reason == string(worker.Hung) {
		runs = 4 // each costs the whole time allowed
	}
	smallest = finding
	fails := func(c check.Case) bool {
		if err != nil || runs == 0 {
			return false
		}
		runs--
		var found Finding
		if found, err = t.tryOne(ctx, p, c); err != nil || found.Failure == nil ||
			found.Failure.Reason != finding.Failure.Reason {
			return false
		}
		smallest.Failure, smallest.Case, again = found.Failure, c, true
		return true
	}
	if fails(finding.Case) {
		check.Shrink(t.kernel, t.workload, p.Point, finding.Case, fails)
	}
	return smallest, again, err
}

// Outputs runs a point on a case and returns the right answer to it; nil where it died.
func (t *Tester) Outputs(ctx context.Context, p Prepared, c check.Case) (outputs *check.Outputs, err error) {
	_, err = t.runner.run(ctx, p.subject(), func(s *worker.Session) (err error) {
		outputs, err = t.checker.Outputs(ctx, s, p.subject(), c)
		return err
	})
	return outputs, err
}
