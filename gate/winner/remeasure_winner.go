package winner

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"pawl/gate"
	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/objective"
	"pawl/objective/devices"
	"pawl/objective/worker"
	"pawl/search/trial"
	"pawl/studies"
	"pawl/studies/report"
)

// A time that differs from last week's has one of four causes: the code, the compiler,
// the driver, or the state of the machine. A search cannot tell them apart, because
// all its points move together. One point can, if it is measured first: the last confirmed winner, with the sources and
// the tools of today, in as many fresh processes as then. Where the machine code is the same, neither code nor compiler
// can be the cause. Nothing is recorded and no baseline moves.

// RemeasureOptions say whose winner is measured.
type RemeasureOptions struct {
	// Kernel is an embedded kernel or a folder, Workload one of its workloads; empty is
	// the manifest's first.
	Kernel, Workload string
	// Backend is where it runs, as for tune.
	Backend string
	// Policy has the limits.
	Policy gate.Policy
}

// Remeasured is a winner then and now. Times are milliseconds.
type Remeasured struct {
	Study      int64           `json:"study"`
	Kernel     string          `json:"kernel"`
	Workload   string          `json:"workload"`
	Point      string          `json:"point"`
	Then       float64         `json:"then"`
	Now        float64         `json:"now,omitempty"`
	Comparison gate.Comparison `json:"comparison,omitzero"`
	// Failure says why the point does not work any more, nil where it does.
	Failure *objective.Failure `json:"failure,omitempty"`
	Facts   []Fact             `json:"facts,omitempty"`
	Cause   Cause              `json:"cause"`

	measure *page.Objective // what it is compared by
}

// ErrNoEarlier says that there is no earlier winner to measure.
var ErrNoEarlier = errors.New("no earlier study here has a confirmed winner of it")

// earlier is a winner as it was measured.
type earlier struct {
	study  studies.Study
	winner *report.Timed
	// rounds are its samples by process, binary its machine code.
	rounds [][]float64
	binary string
}

// Remeasure measures the last winner again, and compares both by the rule for sides that were not measured together
// ([gate.CompareApart]): small differences between two days prove nothing. The error is ErrNoEarlier where there is
// none.
func Remeasure(ctx context.Context, b *devices.Builder, store *studies.Store, o RemeasureOptions) (*Remeasured, error) {
	k, err := b.Machine.Load(ctx, o.Kernel, o.Backend)
	if err != nil {
		return nil, err
	}
	target, err := devices.NewTarget(k, o.Workload)
	if err != nil {
		return nil, err
	}
	last, c, err := find(ctx, b, store, target)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	outcome := &Remeasured{
		Study:    last.study.ID,
		Kernel:   k.Name,
		Workload: target.Workload.Name,
		Point:    last.winner.Point.String(),
		Then:     last.winner.Milliseconds,
		measure:  last.study.Environment.Objective,
	}
	now, failure, err := devices.MeasurePoint(ctx, c, len(last.rounds), len(last.rounds[0]))
	if err != nil {
		return nil, err
	}
	source, err := k.Digest()
	if err != nil {
		return nil, err
	}
	outcome.Facts = differences(last, now, source)
	if outcome.Failure = failure; failure == nil {
		outcome.Now = now.Milliseconds
		outcome.Comparison = gate.CompareApart(last.rounds, now.Rounds, o.Policy, gate.Stored)
	}
	outcome.Cause = outcome.cause()
	return outcome, nil
}

// find returns the newest winner of a kernel's workload on this device, and its point as it is
// now. A damaged study is passed over: it is no answer to what was measured.
func find(ctx context.Context, b *devices.Builder, store *studies.Store,
	target devices.Target) (*earlier, *devices.Configuration, error) {
	all, err := store.List(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, s := range all {
		w := target.Workload
		if !s.Of(target.Kernel, w) {
			continue
		}
		found, err := read(ctx, store, s)
		if err != nil {
			return nil, nil, err
		}
		if found == nil {
			continue
		}
		b.Options.Caches = worker.Caches(s.Options.Caches)
		c, err := b.Open(ctx, target.Kernel, w.Name, found.winner.Point.String())
		if errors.As(err, new(*devices.ArgumentError)) {
			return nil, nil,
				fmt.Errorf("%w: that of study %d, %s, is no point of the kernel any more", ErrNoEarlier, s.ID, found.winner.Point)
		}
		if err != nil {
			return nil, nil, err
		}
		if c.Backend.Facts().Environment.Device == s.Environment.Device {
			return found, c, nil
		}
		c.Close()
	}
	return nil, nil, ErrNoEarlier
}

// read returns a study's winner with its samples, nil where it has none.
func read(ctx context.Context, store *studies.Store, s studies.Study) (*earlier, error) {
	summary, err := report.Read(ctx, store, s.ID)
	if err != nil || summary.Winner == nil {
		return nil, err
	}
	past, err := store.Past(ctx, s.ID)
	if err != nil {
		return nil, err
	}
	found := &earlier{study: s, winner: summary.Winner}
	for _, r := range past.Standing() {
		if r.Phase == trial.Confirmation && r.Point == summary.Winner.Point && len(r.Outcome.Samples) > 0 {
			found.rounds, found.binary = append(found.rounds, r.Outcome.Samples), r.Outcome.Binary
		}
	}
	if len(found.rounds) == 0 {
		return nil, nil
	}
	return found, nil
}

// Sentence says it in one line.
func (o *Remeasured) Sentence() string {
	what := fmt.Sprintf("the winner of study %d, %s, workload %s:", o.Study, o.Kernel, o.Workload)
	if o.Failure != nil {
		return fmt.Sprintf("%s %s then, and now it fails: %s. %s", what, o.measure.Text(o.Then), o.Failure.Reason,
			advice[o.Cause])
	}
	meaning := advice[o.Cause]
	if o.Comparison.Verdict.Undecided() {
		meaning = "Nothing could be decided: " + o.Comparison.Reason + "."
	}
	return fmt.Sprintf("%s %s then, %s now (%s). %s", what, o.measure.Text(o.Then), o.measure.Text(o.Now),
		o.Comparison.Verdict, meaning)
}

// Markdown is the same for the page of a run, with what differs.
func (o *Remeasured) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "**Last time's winner, measured again:** %s\n\n", escape.Markdown(o.Sentence()))
	if len(o.Facts) > 0 {
		b.WriteString("| | then | now |\n|---|---|---|\n")
	}
	for _, f := range o.Facts {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", f.What, escape.Cell(escape.Code(f.Then)), escape.Cell(escape.Code(f.Now)))
	}
	return b.String() + "\n"
}
