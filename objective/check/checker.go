// Package check holds a kernel's results against a reference in higher precision.
//
//  1. Quick, Full and Random choose cases for a point: shapes with tails and primes,
//     families of inputs that break kernels, layouts of buffers that show overruns.
//     The seed fixes all of them, and points with the same tiles share cases, because
//     what costs most is the right answer.
//  2. NewPlan says what a worker is asked for on each case, ahead of the check.
//  3. A Checker runs the plan: every case twice, on differently poisoned outputs. It
//     stops at the first case that fails.
//  4. Evidence is what passed and how close it came to the tolerance; Shrink walks
//     from a failing case to a smaller one.
//
// There are two checkers. Here gets the outputs of a worker and compares them with
// what the Oracle knows: kernels on the processor share the worker's memory, so that
// its word is theirs. OnDevice lets a GPU keep the right answers and compare, because
// copying a result out costs more than computing it.
//
// Its arrows: check imports worker; package objective imports check and
// says which point is checked when. Backends do not know it.
package check

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"pawl/kernels"
	"pawl/kernels/arguments"
	"pawl/kernels/inputs"
	"pawl/objective/worker"
	"pawl/space"
)

// WrongResult is the kind of fault of a kernel whose results are outside the tolerance.
const WrongResult worker.FaultKind = "wrong result"

// Subject is what is checked: a point and its compiled kernel.
type Subject struct {
	Point  space.Point
	Module Module
}

// Checker compares results with right answers. Its methods may be called at the same
// time, each with a session of its own. An error means that nothing was learned about
// the kernel: the oracle is broken, or the worker.
type Checker interface {
	// Load says how a worker gets a subject ready for a case.
	Load(context.Context, Subject, Case) (worker.Load, error)
	// Check runs a plan and returns what the kernel did wrong, nil for nothing.
	Check(context.Context, *worker.Session, Plan) (*worker.Fault, error)
	// Outputs runs a subject once, for a picture. It returns nil if the kernel dies.
	Outputs(context.Context, *worker.Session, Subject, Case) (*Outputs, error)
}

// Plan is what a point is checked on, and what a worker is asked for.
type Plan struct {
	Point space.Point
	Cases []Case
	Loads []worker.Load
	// Evidence collects what passes, and lets a device tell whether two runs give the
	// same bits. Nil is for checks that nobody asks that of.
	Evidence *Evidence
}

// NewPlan plans the check of a subject on some cases.
func NewPlan(ctx context.Context, checker Checker, s Subject, cases ...Case) (Plan, error) {
	plan := Plan{Point: s.Point, Cases: cases}
	for _, c := range cases {
		load, err := checker.Load(ctx, s, c)
		if err != nil {
			return plan, err
		}
		plan.Loads = append(plan.Loads, load)
	}
	return plan, nil
}

// Conclude ends a worker that a tool watches and returns what the tool found, at the
// case that was run last.
func Conclude(ctx context.Context, s *worker.Session, last Case) (*worker.Fault, error) {
	fault, err := s.Conclude(ctx)
	return at(last, fault), err
}

// Target is what both checkers need: the kernel, the workload that is timed, the oracle,
// and where to write what is no failure.
type Target struct {
	Kernel   *kernels.Kernel
	Workload kernels.Workload
	Oracle   *Oracle
	Notes    *Notes
}

// load is the part of a load that does not depend on who compares.
func (t Target) load(s Subject, c Case) (worker.Load, error) {
	bindings, err := c.Bind(t.Kernel.At(s.Point))
	if err == nil {
		err = t.Oracle.try(c, bindings)
	}
	return worker.Load{
		Module:    s.Module.Path,
		Support:   s.Module.Support,
		Arguments: bindings,
		Folder:    t.Kernel.Dir,
		Seed:      c.Seed,
		Layout:    c.layout(),
	}, err
}

// at returns a fault with the case that it happened at; nil for nil.
func at(c Case, fault *worker.Fault) *worker.Fault {
	if fault == nil {
		return nil
	}
	detail := fmt.Sprintf("at %s, seed %d, family %s, %s buffers", c.Dims, c.Seed, c.family(), c.layout())
	if explanation := fault.Explanation(); explanation != "" {
		detail = explanation + " " + detail
	}
	return &worker.Fault{Kind: fault.Kind, Detail: detail}
}

// at says also what a fault may mean at a size that nobody has named.
func (t Target) at(c Case, fault *worker.Fault) *worker.Fault {
	placed := at(c, fault)
	if placed != nil && placed.Kind != worker.Hung && t.Kernel.Unfuzzed &&
		!strings.Contains(placed.Detail, "at "+t.Workload.Dims.String()+",") {
		placed.Detail += fmt.Sprintf("; the manifest has no fuzz section, so sizes of %s were generated: if the kernel "+
			"does not promise this one, state what it does promise as domain", strings.Join(t.Kernel.Varying(), ", "))
	}
	return placed
}

func (t Target) wrong(c Case, m *worker.Comparison) *worker.Fault {
	detail := m.String()
	if t.Kernel.Answered() {
		detail = strings.Replace(detail, "the reference says", "the answer is", 1)
	}
	return t.at(c, &worker.Fault{Kind: WrongResult, Detail: detail})
}

func environment(dims kernels.Dims, point space.Point) space.Environment {
	env := dims.Environment()
	env.Set(point)
	return env
}

// Case is one check of a kernel's results: the sizes of a problem, its inputs,
// and where they lie.
type Case struct {
	Dims kernels.Dims `json:"shape"`
	// Seed and Family fix the inputs; the empty family is the declared one.
	Seed   uint64 `json:"seed"`
	Family string `json:"family,omitempty"`
	// Layout is where the buffers lie; the empty one is worker.Guarded.
	Layout worker.Layout `json:"layout,omitempty"`
	// Timed says which inputs a timed launch has, in place of those of Seed; zero for none.
	Timed inputs.Content `json:"timed,omitzero"`
}

// String returns the flags of pawl fuzz that repeat the case.
func (c Case) String() string {
	return fmt.Sprintf("--shape %s --seed %d --family %s --layout %s", c.Dims, c.Seed, c.family(), c.layout())
}

// key identifies the right answer, which does not depend on the layout.
func (c Case) key() string {
	return fmt.Sprintf("%s seed=%d %v %s", c.Dims, c.Seed, c.Timed, c.family())
}

func (c Case) family() string { return cmp.Or(c.Family, arguments.Declared) }

// special says that inputs are no numbers, or infinite: a reference defines results that are.
func (c Case) special() bool { return c.Family == arguments.Special }

func (c Case) layout() worker.Layout { return cmp.Or(c.Layout, worker.Guarded) }

// Bind evaluates the kernel's arguments for the case.
func (c Case) Bind(k *kernels.Kernel) ([]arguments.Binding, error) {
	return k.BindFamily(c.Dims, c.family())
}
