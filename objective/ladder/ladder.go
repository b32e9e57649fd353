// Package ladder walks a kernel up from its manifest to its workload, in the order in which
// things go wrong, and stops at the first rung that does not hold: there is no point in
// measuring what is wrong, in checking what does not compile, or in searching a space in which
// the default cannot be launched. It is what a person runs before a search takes its time.
//
//  1. The machine can launch the default; how many points it rules out.
//  2. The reference and the default compile.
//  3. The default is right on small shapes.
//  4. It is right on every shape and family of inputs that finalists are checked on.
//  5. It runs at the workload, in this time.
//
// A program of its own has other rungs in the middle: it is built, and its check passes it.
package ladder

import (
	"context"
	"fmt"
	"os"

	"pawl/internal/page"
	"pawl/internal/stats"
	"pawl/objective"
	"pawl/objective/devices"
	"pawl/space"
)

// Rung is one thing that must hold.
type Rung struct {
	Name string `json:"name"`
	// Found says what holds. It is empty where the rung does not hold; Failure says why
	// then, and Advice what to do.
	Found   string `json:"found,omitempty"`
	Failure string `json:"failure,omitempty"`
	Advice  string `json:"advice,omitempty"`
}

// Ladder is how far a kernel came.
type Ladder struct {
	Kernel   string `json:"kernel"`
	Workload string `json:"workload"`
	Device   string `json:"device"`
	Rungs    []Rung `json:"rungs"`
}

// Holds reports whether every rung does.
func (l *Ladder) Holds() bool {
	return len(l.Rungs) > 0 && l.Rungs[len(l.Rungs)-1].Failure == ""
}

// climber is a kernel on its way.
type climber struct {
	devices.Target
	machine  *devices.Machine
	options  objective.Options
	bench    *devices.Bench
	prepared objective.Prepared
	folder   string // for what a profiler writes
}

// step is one rung under way.
type step func(context.Context) (Rung, error)

// Climb walks up until a rung does not hold. Observe gets each rung as it is reached, and may be nil.
// An error means that the machinery broke.
func Climb(ctx context.Context, m *devices.Machine, t devices.Target, o objective.Options,
	observe func(Rung)) (*Ladder, error) {
	return climb(ctx, m, t, o, observe, func(c *climber) []step {
		if program, ok := c.bench.Backend.(objective.Program); ok {
			return c.programSteps(program)
		}
		return []step{c.launch, c.compile, c.small, c.full, c.run}
	})
}

func climb(ctx context.Context, m *devices.Machine, t devices.Target, o objective.Options, observe func(Rung),
	steps func(*climber) []step) (*Ladder, error) {
	bench, err := m.Open(ctx, t, o)
	if err != nil {
		return nil, err
	}
	defer bench.Close()
	folder, err := os.MkdirTemp("", "pawl-preflight-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	c := &climber{Target: t, machine: m, options: o, bench: bench, folder: folder}
	l := &Ladder{Kernel: t.Kernel.Name, Workload: t.Workload.Name, Device: bench.Backend.Facts().Environment.Device}
	for _, step := range steps(c) {
		rung, err := step(ctx)
		if err != nil {
			return l, err
		}
		l.Rungs = append(l.Rungs, rung)
		if observe != nil {
			observe(rung)
		}
		if rung.Failure != "" {
			break
		}
	}
	return l, nil
}

// launch holds the default to the machine's limits.
func (c *climber) launch(context.Context) (Rung, error) {
	r := Rung{Name: "the default can be launched"}
	if failure := c.bench.Backend.Preflight(c.Space.Default()); failure != nil {
		r.Failure, r.Advice = failure.String(), "choose defaults in the manifest that every machine can launch"
		return r, nil
	}
	pool, err := c.Space.Pool(space.PoolOptions{})
	if err != nil {
		return r, err
	}
	_, removed, err := devices.Feasible(pool, c.bench.Backend)
	if err != nil {
		return r, err
	}
	ruledOut := 0
	for _, n := range removed {
		ruledOut += n
	}
	r.Found = page.Count(pool.Len(), "point")
	if ruledOut > 0 {
		r.Found += fmt.Sprintf(", %d of which this machine cannot launch", ruledOut)
	}
	return r, nil
}

func (c *climber) compile(ctx context.Context) (r Rung, err error) {
	r.Name = "reference and default compile"
	if c.Kernel.Answered() {
		r.Name = "default compiles"
	} else if _, err := c.bench.Backend.Reference(ctx, c.Kernel.ReferencePoint(c.Space.Default())); err != nil {
		if ctx.Err() != nil {
			return r, err
		}
		r.Failure, r.Advice = err.Error(),
			"mend the reference: it takes the arguments of the manifest, in that order, and sees only parameters that have "+
				"reference: true"
		return r, nil
	}
	if c.prepared, err = c.bench.Prepare(ctx, c.Space.Default()); err != nil {
		return r, err
	}
	if failure := c.prepared.Failure; failure != nil {
		r.Failure, r.Advice = failure.String(), "mend the source or the flags in the manifest"
		return r, nil
	}
	r.Found = c.bench.Backend.Facts().Environment.Compiler
	return r, nil
}

// programSteps are the rungs of a program of its own.
func (c *climber) programSteps(program objective.Program) []step {
	return []step{c.launch, c.build, func(ctx context.Context) (Rung, error) { return c.checked(ctx, program) }, c.run}
}

// build builds a program at its default.
func (c *climber) build(ctx context.Context) (r Rung, err error) {
	r.Name = "the default is built"
	if c.prepared, err = c.bench.Prepare(ctx, c.Space.Default()); err != nil {
		return r, err
	}
	if failure := c.prepared.Failure; failure != nil {
		r.Failure, r.Advice = failure.String(),
			"mend the build command in the manifest: it runs in the kernel's folder, without a shell"
		return r, nil
	}
	r.Found = c.bench.Backend.Facts().Environment.Compiler
	return r, nil
}

// checked runs a program once and has its own check look at it.
func (c *climber) checked(ctx context.Context, program objective.Program) (Rung, error) {
	r := Rung{Name: "its check passes the default"}
	if !program.Checked() {
		r.Name = "the default runs"
	}
	failure, err := c.bench.Verify(ctx, c.prepared)
	if err != nil {
		return r, err
	}
	if failure != nil {
		r.Failure, r.Advice = failure.String(),
			advice(failure,
				"run the commands of the manifest by hand, in the kernel's folder; nothing of them goes through a shell")
		return r, nil
	}
	if r.Found = "exit status 0"; !program.Checked() {
		r.Found = "nothing is checked, because the manifest has no check command: a point that computes nonsense may win"
	}
	return r, nil
}

// wrong is the advice where results differ from the reference's.
const wrong = "pawl fuzz shrinks this to the smallest shape that fails. If every point fails in the same way, " +
	"suspect the reference or the arguments of the manifest"

func (c *climber) small(ctx context.Context) (Rung, error) {
	r := Rung{Name: "the default is right on small shapes"}
	found, err := c.bench.TryQuick(ctx, c.prepared)
	if err != nil {
		return r, err
	}
	if found.Failure != nil {
		r.Failure, r.Advice = found.Failure.String(), wrong
		return r, nil
	}
	r.Found = page.Count(len(c.bench.QuickCases(c.prepared.Point)), "case")
	return r, nil
}

func (c *climber) full(ctx context.Context) (Rung, error) {
	r := Rung{Name: "the default is right on every shape and family"}
	failure, err := c.bench.Verify(ctx, c.prepared)
	if err != nil {
		return r, err
	}
	if failure != nil {
		r.Failure, r.Advice = failure.String(), wrong
		return r, nil
	}
	r.Found = page.Count(len(c.bench.FullCases(c.prepared.Point)), "case")
	if note := c.bench.Note(c.prepared.Point); note != "" {
		r.Found += "; " + note
	}
	return r, nil
}

// samples is how many say what a launch takes, roughly.
const samples = 5

func (c *climber) run(ctx context.Context) (Rung, error) {
	r := Rung{Name: "it runs at the workload"}
	outcome, err := c.bench.SampleAlone(ctx, c.prepared, samples)
	if err != nil {
		return r, err
	}
	if outcome.Failure != nil {
		r.Failure, r.Advice = outcome.Failure.String(), advice(outcome.Failure, "pawl bench says more")
		return r, nil
	}
	if measure := c.bench.Backend.Facts().Environment.Measure; measure != nil {
		r.Found = fmt.Sprintf("%s is about %s", measure.Formula, measure.Text(stats.Median(outcome.Samples)))
		return r, nil
	}
	r.Found = fmt.Sprintf("about %s a launch", page.Milliseconds(stats.Median(outcome.Samples)))
	return r, nil
}
