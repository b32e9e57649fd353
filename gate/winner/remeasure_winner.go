package winner

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

// Cause is what a changed time is put down to.
type Cause string

const (
	Nothing  Cause = "nothing" // no change was shown
	Code     Cause = "code"
	Compiler Cause = "compiler"
	Both     Cause = "code or compiler"
	Driver   Cause = "driver"
	Machine  Cause = "machine"
)

// Fact is something that is not as it was then.
type Fact struct {
	What string `json:"what"`
	Then string `json:"then"`
	Now  string `json:"now"`
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

// The facts that decide.
const (
	factCode     = "code"
	factMachine  = "machine code"
	factCompiler = "compiler"
	factFlags    = "flags"
	factDriver   = "driver"
)

// differences lists what is not as it was.
func differences(then *earlier, now *devices.PointMeasurement, source string) (facts []Fact) {
	for _, f := range []Fact{
		{factCode, then.study.Source, source},
		{factCompiler, then.study.Environment.Compiler, now.Environment.Compiler},
		{factFlags, then.study.Environment.Flags, now.Environment.Flags},
		{factMachine, then.binary, now.Binary},
		{factDriver, then.study.Environment.Driver, now.Environment.Driver},
		{"system", then.study.Environment.System, now.Environment.System},
		{"cores", fmt.Sprint(then.study.Environment.Cores), fmt.Sprint(now.Environment.Cores)},
	} {
		if f.Then != f.Now && f.Then != "" && f.Now != "" {
			facts = append(facts, f)
		}
	}
	return facts
}

func (o *Remeasured) differs(what string) bool {
	return slices.ContainsFunc(o.Facts, func(f Fact) bool { return f.What == what })
}

// cause puts a change down to what can have made it.
func (o *Remeasured) cause() Cause {
	moved := o.Failure != nil || o.Comparison.Verdict == gate.Regression || o.Comparison.Verdict == gate.Improvement
	code, compiler := o.differs(factCode), o.differs(factCompiler) || o.differs(factFlags)
	// A point that does not compile any more has no machine code to compare.
	same := !o.differs(factMachine) && o.Failure == nil
	switch {
	case !moved:
		return Nothing
	case !same && code && compiler:
		return Both
	case !same && code:
		return Code
	case !same && compiler:
		return Compiler
	case o.differs(factDriver):
		return Driver
	}
	return Machine
}

var advice = map[Cause]string{
	Nothing:  "No change was shown since.",
	Code:     "The kernel's code has changed since, and the machine code with it: the gate says what that was worth.",
	Compiler: "The code is the same and the compiler is not: it makes other machine code of it.",
	Both: "Code and compiler have both changed since: the gate, which compiles both sides with one compiler, tells " +
		"them apart.",
	Driver: "The machine code is the same and the driver is not: times of before it cannot be compared with times of " +
		"after it.",
	Machine: "Machine code and driver are the same: the machine is in another state (heat, clocks, a neighbor), or " +
		"its surroundings have changed.",
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
