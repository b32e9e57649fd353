// Package across measures the winner of a study on the kernel's other workloads: a
// default holds for all of them, and what is fast for one may be slow for another.
//
//  1. The kernel must be the one that was tuned, on the same machine with the same tools:
//     only then are its points those of the study.
//  2. On each other workload the winner and the default are checked in full and measured
//     in rounds, interleaved, in fresh processes, by the confirmation's own machinery.
//  3. Every round is recorded before the next. A workload that was measured in full is not
//     measured again, so that what was stopped, or ran out of time, goes on where it was.
//
// What came of it is in the study's report.
package across

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/devices"
	"pawl/search/trial"
	"pawl/space"
	"pawl/studies"
	"pawl/studies/report"
)

// Options say how much is measured, and who hears of it.
type Options struct {
	// Kernel is the kernel's folder, where that is not the one that the study names any more. Empty means the study's.
	Kernel string
	// Rounds per workload; 0 means as many as the study's confirmation wanted.
	Rounds int
	// Budget is the time for all workloads, 0 for no limit. Each has its share, in which it
	// gets at least the fewest rounds that say anything, unless the whole time is over:
	// what is not measured by then is left for another time.
	Budget time.Duration
	Tools  devices.Tools
	// Begin is called before each workload that is not measured yet; it may be nil.
	Begin func(workload studies.WorkloadFacts)
	// Stop ends the measuring early when it is closed: what runs is finished.
	Stop <-chan struct{}
}

// Run measures the winner of a study on the other workloads. A study that another process
// is running is studies.ErrBusy, one without a winner or other workloads a *devices.NothingError.
func Run(ctx context.Context, store *studies.Store, study int64, o Options) error {
	if err := store.Writable(); err != nil {
		return err
	}
	unlock, err := store.Lock(study)
	if err != nil {
		return err
	}
	defer unlock()
	return Measure(ctx, store, study, o)
}

// Measure is Run for a caller that has locked the study.
func Measure(ctx context.Context, store *studies.Store, study int64, o Options) error {
	summary, err := report.Read(ctx, store, study)
	if err != nil {
		return err
	}
	if summary.Evidence == nil {
		return devices.Nothingf("study %d has no winner beside the default that was confirmed: there is nothing "+
			"to measure on other workloads", study)
	}
	m := &measuring{
		Options: o,
		store:   store,
		study:   summary.Study,
		points:  []space.Point{summary.Default.Point, summary.Winner.Point},
	}
	if err := m.load(ctx); err != nil {
		return err
	}
	others := m.study.Others()
	if len(others) == 0 {
		return devices.Nothingf("kernel %s has no other workload", m.study.Kernel)
	}
	defer m.machine.LockClocks(ctx, m.kernel, m.study.Options.LockClocks, o.Stop)()
	return m.all(ctx, others)
}

// measuring is the winner and the default on their way through the workloads.
type measuring struct {
	Options
	store   *studies.Store
	study   studies.Study
	points  []space.Point // the default, and the winner
	machine *devices.Machine
	kernel  *kernels.Kernel
	limits  Limits
}

// load reads the kernel and makes sure that its files are those that were tuned.
func (m *measuring) load(ctx context.Context) (err error) {
	m.machine = Machine(m.study, m.Tools)
	m.kernel, err = m.machine.Load(ctx, cmp.Or(m.Kernel, m.study.Origin), m.study.Backend)
	if err != nil {
		return err
	}
	source, err := m.kernel.Digest()
	if err != nil {
		return err
	}
	if m.kernel.Name != m.study.Kernel || source != m.study.Source {
		return fmt.Errorf("the files of kernel %s are not those of study %d (digest %s then, %s now): tune again with "+
			"--across", m.kernel.Name, m.study.ID, m.study.Source, source)
	}
	if len(m.study.Workloads) == 0 { // recorded by an older pawl
		m.study.Workloads = studies.NewWorkloadFacts(m.kernel)
		return m.store.Continue(ctx, m.study)
	}
	return nil
}

// all measures one workload after the other, small ones first: if the time is not enough,
// it is for most of them. Each has its share of the time that is left.
func (m *measuring) all(ctx context.Context, others []studies.WorkloadFacts) error {
	slices.SortStableFunc(others, func(a, b studies.WorkloadFacts) int { return cmp.Compare(m.size(a), m.size(b)) })
	if m.limits.Stop = m.Stop; m.Budget > 0 {
		m.limits.End = time.Now().Add(m.Budget)
	}
	for i, w := range others {
		if m.limits.Stopped() {
			return nil
		}
		m.limits.Share = Share(m.limits.End, len(others)-i)
		if err := m.one(ctx, w); err != nil {
			return fmt.Errorf("measuring the winner on workload %s: %w", w.Name, err)
		}
	}
	return nil
}

// size is the product of a workload's sizes, which stands for how long it takes.
func (m *measuring) size(w studies.WorkloadFacts) float64 {
	product := 1.0
	if workload, err := m.kernel.Workload(w.Name); err == nil {
		for _, size := range workload.Dims {
			product *= float64(max(1, size))
		}
	}
	return product
}

func (m *measuring) one(ctx context.Context, w studies.WorkloadFacts) error {
	target, err := devices.NewTarget(m.kernel, w.Name)
	if err != nil {
		return err
	}
	all, err := m.store.Across(ctx, m.study.ID)
	if err != nil {
		return err
	}
	rounds := all[w.Name]
	record := func(r trial.Round) error {
		return m.store.Recorder(m.study.ID).MeasuredAcross(w.Name, r)
	}
	for _, point := range m.points {
		if invalid := target.Space.Check(point); invalid != nil {
			return m.impossible(rounds, record, point, invalid)
		}
	}
	c := Comparison{
		Limits: m.limits, Phase: trial.Across, Points: m.points, Wanted: m.Rounds, Recorded: rounds, Keep: record,
		Begin: func() {
			if m.Begin != nil {
				m.Begin(w)
			}
		},
	}
	_, err = c.Run(ctx, m.machine, m.study, target)
	return err
}

func (m *measuring) impossible(rounds []trial.Round, record func(trial.Round) error, point space.Point,
	invalid error) error {
	for _, r := range trial.Latest(rounds) {
		if r.Point == point && r.Outcome.Failure != nil && r.Outcome.Failure.Stage == objective.Preflight {
			return nil
		}
	}
	round := trial.Round{Phase: trial.Across, Point: point, Outcome: objective.Outcome{
		Failure: &objective.Failure{Stage: objective.Preflight, Reason: objective.Infeasible, Detail: invalid.Error()},
	}}
	for _, r := range rounds {
		round.Run, round.Number = max(round.Run, r.Run+1), max(round.Number, r.Number+1)
	}
	return record(round)
}
