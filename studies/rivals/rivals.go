// Package rivals measures other programs that do what a kernel does, a vendor's library say,
// beside the kernel's own points, so that "faster than" is a measurement.
//
//  1. A rival is a command of the manifest. It stays alive, reads one request a line and answers
//     each with raw samples (rival_protocol.go); docs/rivals.md tells its authors.
//  2. It gets the very inputs that the kernel is timed with, and what its timed launches have
//     computed is held against the kernel's reference, before the rounds and after them: no
//     verified output, no timing.
//  3. Rounds are interleaved: each measures every side once, in an order drawn for it, so that
//     what the machine does meanwhile happens to all. Ours run in processes as in pawl bench.
//  4. A rival that is not there, dies, is late or wrong is named with its reason, and the others
//     go on.
package rivals

import (
	"cmp"
	"context"
	_ "embed" // for rivals in Python
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"pawl/internal/collect"
	"pawl/internal/process"
	"pawl/kernels"
	"pawl/kernels/arguments"
	"pawl/kernels/inputs"
	"pawl/objective"
	"pawl/objective/check"
	"pawl/objective/devices"
	"pawl/objective/experiment"
	"pawl/objective/worker"
)

// Options says what is measured.
type Options struct {
	Kernel *kernels.Kernel
	// Workload is one of the kernel; empty means its first.
	Workload string
	// Points are ours, by name in the order of the table; what a point leaves out has its
	// default.
	Points []Point
	// Rounds is how often every side is measured, Samples how many times each gives then.
	Rounds, Samples int
	// Seed draws the orders of the sides.
	Seed uint64
	// Patience is how long a rival may take for one answer.
	Patience time.Duration
	// Observe gets the rounds under way; it may be nil.
	Observe func(round, rounds int)
}

// Point is one of ours. Study is the one that it has won, 0 for none.
type Point struct {
	Name, At string
	Study    int64
}

// helper is a Python module for rivals that are written with PyTorch.
//
//go:embed pawl_rival.py
var helper []byte

// Impossible says why a kernel cannot be measured beside others; empty where it can.
func Impossible(k *kernels.Kernel) string {
	if k.On().Program {
		return "it is a program of its own, which has no inputs to share"
	}
	if len(k.ReferenceParams) > 0 {
		return fmt.Sprintf("what it computes depends on its parameters (%s), and rivals compute one thing",
			strings.Join(k.ReferenceParams, ", "))
	}
	if objective.ObjectiveOf(k) != nil {
		return "its points are compared by another quantity, and rivals answer with times"
	}
	bindings, err := k.Bind(k.Workloads[0].Dims)
	if err != nil {
		return err.Error()
	}
	for _, b := range bindings {
		if b.Out && b.Restored {
			return fmt.Sprintf("it changes %s, which a rival would have to be given afresh for every launch", b.Name)
		}
	}
	return ""
}

// rest is the pause before each of a rival's samples: that of our own (objective/cuda).
const rest = 4 * time.Millisecond

// Run measures all sides. An error says that the machinery broke; a side that does not work
// says so itself.
func Run(ctx context.Context, b *devices.Builder, o Options) (*Result, error) {
	r := &race{Options: o, builder: b}
	defer r.close()
	if err := r.openOurs(ctx); err != nil {
		return nil, err
	}
	if err := r.openRivals(ctx); err != nil {
		return nil, err
	}
	if err := r.measure(ctx); err != nil {
		return nil, err
	}
	if err := r.checkRivals(ctx); err != nil {
		return nil, err
	}
	return r.result(), nil
}

// race is a comparison under way.
type race struct {
	Options
	builder *devices.Builder
	sides   []*side
	// ours is the first of our configurations; it knows the answer.
	ours    *devices.Configuration
	folder  string // of inputs and outputs
	modules string // what rivals in Python may import
	request request
	answer  *check.Outputs
}

// side is a program that is measured: one of our points, or a rival.
type side struct {
	Side
	ours  *devices.Configuration
	rival *process.Process
}

func (s *side) out(reason string) { s.Missing, s.Rounds = reason, nil }

func (r *race) close() {
	for _, s := range r.sides {
		if s.ours != nil {
			s.ours.Close()
		}
		if s.rival != nil {
			s.rival.Kill()
			s.rival.Close()
		}
	}
	if r.folder != "" {
		os.RemoveAll(r.folder)
	}
}

// openOurs compiles our points and checks them in full.
func (r *race) openOurs(ctx context.Context) error {
	for _, p := range r.Points {
		c, err := r.builder.Open(ctx, r.Kernel, r.Workload, p.At)
		if err != nil {
			return err
		}
		s := &side{Side: Side{Name: p.Name, Point: c.Prepared.Point.String(), Ours: true}, ours: c}
		r.sides = append(r.sides, s)
		failure, err := c.Evaluator.Verify(ctx, c.Prepared)
		switch {
		case err != nil:
			return err
		case failure != nil:
			s.out(failure.String())
		case r.ours == nil:
			r.ours = c
		}
	}
	if r.ours == nil {
		return fmt.Errorf("none of the kernel's own points works (%s): there is nothing to compare with", r.sides[0].Missing)
	}
	return nil
}

// openRivals starts the rivals, gives them their inputs and checks what they compute.
func (r *race) openRivals(ctx context.Context) error {
	if err := r.ask(ctx); err != nil {
		return err
	}
	folder, err := r.kernelFolder()
	if err != nil {
		return err
	}
	for _, declared := range r.Kernel.Rivals {
		s := &side{Side: Side{Name: declared.Name}}
		r.sides = append(r.sides, s)
		s.rival, err = start(declared, folder, r.modules)
		if err := s.leave(err); err != nil {
			return err
		}
	}
	return r.checkRivals(ctx)
}

// kernelFolder is where the kernel's files are.
func (r *race) kernelFolder() (string, error) {
	return r.Kernel.Materialise(filepath.Join(r.builder.Cache, "kernels"))
}

// measure measures all sides that are there. One that fails on the way has no times.
func (r *race) measure(ctx context.Context) error {
	present := collect.Where(r.sides, func(s *side) bool { return s.Missing == "" })
	e := experiment.Experiment{Seed: r.Seed}
	for _, s := range present {
		if s.rival != nil {
			e.Arms = append(e.Arms, rivalArm{r, s})
		} else {
			e.Arms = append(e.Arms, s.ours.ArmAlone())
		}
	}
	rounds, err := e.Run(ctx, experiment.Fixed{Rounds: r.Rounds, Samples: r.Samples, Observe: r.Observe})
	for i, s := range present {
		for _, round := range rounds {
			if f := round.Sample(i).Outcome.Failure; f != nil && s.rival == nil {
				s.out(f.String())
			}
		}
		if s.Missing == "" {
			s.Rounds = experiment.Times(rounds, i)
		}
	}
	return err
}

// rivalArm is a rival as an arm: a process that answers with times of its own.
type rivalArm struct {
	*race
	side *side
}

// Renew leaves the rival's process as it is: what it has prepared is its own.
func (rivalArm) Renew() {}

func (a rivalArm) String() string { return a.side.Name }

// Sample asks the rival. One that cannot answer is missing from then on.
func (a rivalArm) Sample(ctx context.Context, _ int) (o objective.Outcome, err error) {
	answer, err := ask(ctx, a.side.rival, a.request, a.Patience)
	if err = a.side.leave(err); a.side.Missing != "" {
		o.Failure = objective.Failed(objective.Bench, "missing", "%s", a.side.Missing)
	}
	o.Samples = answer.Samples
	return o, err
}

// result sums up.
func (r *race) result() *Result {
	result := &Result{
		Kernel: r.Kernel.Name, Workload: r.ours.Workload.Name, Environment: r.ours.Backend.Facts().Environment,
		Measured: time.Now().UTC(),
	}
	for _, s := range r.sides {
		s.summarise()
		result.Sides = append(result.Sides, s.Side)
	}
	result.compare()
	return result
}

// ask prepares what every rival is asked: the inputs of the workload as files, and the right
// answer.
func (r *race) ask(ctx context.Context) (err error) {
	c := r.ours.Evaluator.Tester.WorkloadCase()
	bindings, err := c.Bind(r.Kernel)
	if err != nil {
		return err
	}
	if r.folder, err = os.MkdirTemp("", "pawl-rivals-"); err != nil {
		return err
	}
	r.modules = filepath.Join(r.folder, "modules")
	if err := errors.Join(os.Mkdir(r.modules, 0o755),
		os.WriteFile(filepath.Join(r.modules, "pawl_rival.py"), helper, 0o644)); err != nil {
		return err
	}
	caches := cmp.Or(r.builder.Options.Caches, worker.Caches(r.Kernel.On().Caches)) // as our timed launches find them
	r.request = request{
		Folder: r.folder, Workload: r.ours.Workload.Name, Sizes: maps.Clone(c.Dims), Samples: r.Samples,
		Caches: string(caches), Rest: float64(rest) / float64(time.Millisecond),
	}
	r.request.Arguments = newArguments(bindings)
	folder, err := r.kernelFolder()
	if err != nil {
		return err
	}
	source := &inputs.Source{Folder: folder}
	for _, b := range bindings {
		if !b.IsBuffer() || b.Out || b.Scratch {
			continue
		}
		if err := writeInput(source, r.folder, b, c.Seed); err != nil {
			return err
		}
	}
	if r.answer, err = r.ours.Evaluator.Tester.Outputs(ctx, r.ours.Prepared, c); err == nil && r.answer == nil {
		err = fmt.Errorf("%s died when its results were asked for", r.ours.Prepared.Point)
	}
	return err
}

func writeInput(source *inputs.Source, folder string, b arguments.Binding, seed uint64) error {
	content := make([]byte, b.Bytes())
	err := source.Fill(content, b, seed)
	contents := b.Parts(content)
	for i, part := range parts([]arguments.Binding{b}) {
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, fileOf(part)), contents[i], 0o644)
		}
	}
	return err
}
