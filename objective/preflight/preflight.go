// Package preflight tries a kernel before a search takes its time: from its manifest to its workload, in the order
// in which things go wrong. It stops at the first step that fails: there is no point in measuring what is wrong, in
// checking what does not compile, or in searching a space in which the default cannot be launched.
//
//  1. The manifest makes sense, and the machine has what it takes.
//  2. The machine can launch the default; how many points it rules out.
//  3. The reference and the default compile.
//  4. The default is right on small shapes.
//  5. It is right on every shape and family of inputs that finalists are checked on.
//  6. It runs at the workload, in this time.
//
// A program of its own has other steps in the middle: it is built, and its check passes it.
package preflight

import (
	"context"
	"fmt"
	"io"

	"pawl/internal/page"
	"pawl/objective"
	"pawl/objective/devices"
)

// Step is one thing that must hold.
type Step struct {
	Name string `json:"name"`
	// Found says what holds. It is empty where the step fails; Failure says why
	// then, and Advice what to do.
	Found   string `json:"found,omitempty"`
	Failure string `json:"failure,omitempty"`
	Advice  string `json:"advice,omitempty"`
}

// Report is how far a kernel came.
type Report struct {
	Kernel   string `json:"kernel"`
	Workload string `json:"workload"`
	Device   string `json:"device"`
	Steps    []Step `json:"steps"`
}

// JSON writes the report for programs.
func (r *Report) JSON(w io.Writer) error { return page.JSON(w, "pawl check", 1, r) }

// Holds reports whether every step does.
func (r *Report) Holds() bool {
	return len(r.Steps) > 0 && r.Steps[len(r.Steps)-1].Failure == ""
}

// trial is a kernel that is being tried.
type trial struct {
	devices.Target
	machine  *devices.Machine
	options  Options
	bench    *devices.Bench
	prepared objective.Prepared
}

// named is a step that is still to be done. What it returns has no name yet.
type named struct {
	name string
	do   func(context.Context) (Step, error)
}

// Options say how a kernel is tried.
type Options struct {
	objective.Options
	// Unrun ends after compiling, for a device that is not here.
	Unrun bool
}

// Run takes the steps until one fails. Observe gets each as it is done, and may be nil. An error means that the
// machinery broke.
func Run(ctx context.Context, m *devices.Machine, target devices.Target, o Options,
	observe func(Step)) (*Report, error) {
	bench, err := m.Open(ctx, target, o.Options)
	if err != nil {
		return nil, err
	}
	defer bench.Close()
	t := &trial{Target: target, machine: m, options: o, bench: bench}
	r := &Report{
		Kernel: target.Kernel.Name, Workload: target.Workload.Name, Device: bench.Backend.Facts().Environment.Device,
	}
	for _, next := range t.steps() {
		step, err := next.do(ctx)
		if err != nil {
			return r, err
		}
		step.Name = next.name
		r.Steps = append(r.Steps, step)
		if observe != nil {
			observe(step)
		}
		if step.Failure != "" {
			break
		}
	}
	return r, nil
}

// steps are those of a kernel, or of a program of its own.
func (t *trial) steps() []named {
	steps := []named{
		{"the manifest makes sense", t.manifest},
		{"the machine has what it takes", t.environment},
		{"the default can be launched", t.launch},
	}
	if program, ok := t.bench.Backend.(objective.Program); ok {
		checked := "its check passes the default"
		if !program.Checked() {
			checked = "the default runs"
		}
		return append(steps, named{"the default is built", t.build},
			named{checked, func(ctx context.Context) (Step, error) { return t.checked(ctx, program) }},
			named{"it runs at the workload", t.run})
	}
	compiled := "reference and default compile"
	if t.Kernel.Answered() || t.Kernel.PythonReference() {
		compiled = "default compiles"
	}
	steps = append(steps, named{compiled, t.compile})
	if t.options.Unrun {
		return steps
	}
	return append(steps, named{"the default is right on small shapes", t.small},
		named{"the default is right on every shape and family", t.full}, named{"it runs at the workload", t.run})
}

func found(format string, arguments ...any) (Step, error) {
	return Step{Found: fmt.Sprintf(format, arguments...)}, nil
}

// fails is a step that does not, with what to do.
func fails(failure fmt.Stringer, advice string) (Step, error) {
	return Step{Failure: failure.String(), Advice: advice}, nil
}
