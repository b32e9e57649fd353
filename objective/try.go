package objective

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"pawl/space"
)

// Finding is what checking a point on many cases came to.
type Finding struct {
	// Checked is the number of cases that were run.
	Checked int
	// Evidence is what passed; nil where nothing was run.
	Evidence *Evidence
	// Failure is what went wrong at Case; nil if nothing did.
	Failure *Failure
	Case    Case
}

// Try checks a point on cases in one fresh worker, and stops at the first that
// fails. Observe is called before each case; it may be nil.
func (e *Evaluator) Try(ctx context.Context, p Prepared, cases iter.Seq[Case], observe func(Case)) (Finding, error) {
	finding := Finding{Failure: p.Failure}
	if p.Failure != nil {
		return finding, nil
	}
	var passed []Case
	next, stop := iter.Pull(cases)
	defer stop()
	finding.Evidence = &Evidence{Tolerance: e.kernel.Tolerance, Unchecked: Unchecked(e.kernel, e.workload)}
	err := e.onDevice(ctx, p, func(s *session) error {
		s.evidence = finding.Evidence
		c, more := finding.Case, true
		if finding.Failure == nil {
			c, more = next()
		} else { // the case that failed once more, in another worker
			finding.Failure, finding.Checked = nil, finding.Checked-1
		}
		for ; more; c, more = next() {
			if observe != nil {
				observe(c)
			}
			made, err := e.plan(p, c)
			if err != nil {
				return err
			}
			made.bitwise = true
			failure, err := e.follow(ctx, s, made)
			if err != nil {
				return err
			}
			finding.Checked++
			if failure != nil {
				finding.Failure, finding.Case = failure, c
				return nil
			}
			passed = append(passed, c)
		}
		if len(s.slot.Worker.Under) == 0 || len(passed) == 0 {
			return nil
		}
		fault, err := split(s.client.Conclude(ctx))
		finding.Case = passed[len(passed)-1]
		finding.Failure = caseFailure(fault, finding.Case)
		return err
	})
	if err != nil || finding.Failure == nil || len(passed) < finding.Checked || finding.Checked == 1 {
		return finding, err
	}
	return e.blame(ctx, p, passed, finding)
}

// blame finds out which case it was that a tool has reported on at the end of the
// worker, after all of them: it tries them one by one. Where none fails alone, it
// stays with the last.
func (e *Evaluator) blame(ctx context.Context, p Prepared, cases []Case, found Finding) (Finding, error) {
	for i, c := range cases {
		one, err := e.Try(ctx, p, slices.Values([]Case{c}), nil)
		one.Checked += i
		if err != nil || one.Failure != nil {
			return one, err
		}
	}
	return found, nil
}

// QuickCases returns the quick tier of a point, the workload included.
func (e *Evaluator) QuickCases(point space.Point) []Case { return e.quick(point) }

// TryQuick checks a point on what every trial is checked on, the workload
// included.
func (e *Evaluator) TryQuick(ctx context.Context, p Prepared) (Finding, error) {
	return e.Try(ctx, p, slices.Values(e.quick(p.Point)), nil)
}

// FullCases returns the full tier of a point.
func (e *Evaluator) FullCases(point space.Point) []Case {
	return Full(e.kernel, e.workload, point, e.options.Seed)
}

// quick returns the quick tier of a point. The workload comes last, with the
// very inputs that are timed next.
func (e *Evaluator) quick(point space.Point) []Case {
	cases := Quick(e.kernel, e.workload, point, e.options.QuickCases, e.options.Seed)
	return append(cases, e.workloadCase())
}

// failed describes a failure at a case.
func failed(reason, detail string, c Case) *Failure {
	at := fmt.Sprintf("at %s, seed %d, family %s, %s buffers", c.Dims, c.Seed, c.family(), c.layout())
	if detail != "" {
		at = detail + " " + at
	}
	return &Failure{Stage: Fuzz, Reason: reason, Detail: at}
}
