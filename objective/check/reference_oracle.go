package check

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"pawl/internal/collect"
	"pawl/internal/process"
	"pawl/kernels"
	"pawl/kernels/arguments"
	"pawl/kernels/inputs"
	"pawl/objective/worker"
	"pawl/space"
)

// Oracle knows the right answers: it compiles the kernel's reference, runs it in a
// worker of its own and remembers the results. Its methods may be called at the same
// time. A checker on a device needs no more of it than the compiled reference.
type Oracle struct {
	kernel *kernels.Kernel
	// buildReference compiles the reference, with the parameters that the result depends on.
	buildReference func(context.Context, space.Point) (Module, error)

	mu     sync.Mutex
	client *worker.Client
	loads  string // the compiled reference that client may read
	// references are compiled with what the result depends on.
	references map[space.Point]Module
	answers    []remembered // least recently used first
	retained   int          // bytes in answers
	// python answers for a reference in Python as long as open is not canceled; asked are its answers by question.
	python *Python
	open   context.Context
	close  context.CancelFunc
	asked  sync.Map
	asking sync.WaitGroup
	// furtherSeeds are those of contents that timed launches see beside the one that is checked.
	furtherSeeds [3]uint64
	tried        sync.Map // formulas of inputs, by binding and seed; errors or nil
}

// referenceTimeout is how long a reference may take. It is slow on purpose.
const referenceTimeout = 5 * time.Minute

// answerLimit bounds the answers that are remembered, in bytes, and mostAnswers their number: they are looked through.
const answerLimit, mostAnswers = 256 << 20, 1000

// NewOracle returns the oracle of a kernel. Python computes references that are written in it.
// Close the oracle to end its worker.
func NewOracle(k *kernels.Kernel, reference func(context.Context, space.Point) (Module, error),
	python *Python) *Oracle {
	open, cancel := context.WithCancel(context.Background())
	return &Oracle{
		python:         python,
		open:           open,
		close:          cancel,
		furtherSeeds:   [3]uint64{rand.Uint64(), rand.Uint64(), rand.Uint64()},
		kernel:         k,
		buildReference: reference,
		references:     map[space.Point]Module{},
	}
}

// Ready compiles the reference of a point, again where its file is not what was compiled. It comes
// before a device is reserved, because compiling needs a core too.
func (o *Oracle) Ready(ctx context.Context, point space.Point) (err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	given := o.kernel.ReferencePoint(point)
	known, there := o.references[given]
	if o.kernel.Answered() || there && known.Damaged(false) == nil {
		return nil
	}
	var built Module
	if o.kernel.PythonReference() {
		if o.python == nil {
			panic("check: a reference in Python without a Python")
		}
	} else if built, err = o.buildReference(ctx, given); err != nil {
		return &ReferenceError{fmt.Errorf("reference of %s: %w", o.kernel.Name, err)}
	}
	o.references[given] = built
	return nil
}

// Reference returns the compiled reference of a point that the oracle is ready for.
func (o *Oracle) Reference(point space.Point) Module {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.references[o.kernel.ReferencePoint(point)]
}

// ReferenceError says that the reference itself does not compile or run: without an oracle nothing can be judged.
type ReferenceError struct{ error }

func (e *ReferenceError) Unwrap() error { return e.error }

// question is a case at a point, as far as the right answer depends on it.
type question struct {
	Case
	given space.Point
}

func (q question) key() string { return q.given.String() + " " + q.Case.key() }

// place says where a question is asked, for people.
func (q question) place() string {
	if q.given == (space.Point{}) {
		return q.Dims.String()
	}
	return q.Dims.String() + " with " + q.given.String()
}

// Answer is the right answer for a case: an output's bytes and tolerance for every
// argument that the kernel writes.
type Answer struct {
	kernel *kernels.Kernel
	want   [][]byte
	bounds []arguments.Tolerance
	// special says that results may be infinite, or no numbers.
	special bool
}

// Know returns the right answer for a point at a case. Any failure here is an error: without
// an oracle nothing can be judged.
func (o *Oracle) Know(ctx context.Context, command worker.Command, point space.Point, c Case,
	bindings []arguments.Binding) (Answer, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	q := question{c, o.kernel.ReferencePoint(point)}
	known := remembered{key: q.key()}
	if at := slices.IndexFunc(o.answers, func(a remembered) bool { return a.key == known.key }); at >= 0 {
		known = o.answers[at]
		o.answers = slices.Delete(o.answers, at, at+1)
	} else {
		var err error
		if known.outputs, err = o.refer(ctx, command, q, bindings); err != nil {
			o.stop()
			return Answer{}, err
		}
		o.retained += size(known.outputs)
	}
	o.answers = append(o.answers, known)
	for len(o.answers) > mostAnswers || o.retained > answerLimit && len(o.answers) > 1 {
		o.retained -= size(o.answers[0].outputs)
		o.answers = slices.Delete(o.answers, 0, 1)
	}
	return Answer{o.kernel, known.outputs, o.bounds(), c.special()}, nil
}

// refer asks the reference, or reads what the manifest says.
func (o *Oracle) refer(ctx context.Context, command worker.Command, q question,
	bindings []arguments.Binding) (outputs [][]byte, err error) {
	switch {
	case o.kernel.Answered():
		if outputs, err = o.read(q.Case, bindings); err != nil {
			err = fmt.Errorf("kernel %s: %w", o.kernel.Name, err)
		}
	case o.kernel.PythonReference():
		entry, err := o.ask(q, bindings).wait(ctx)
		if err != nil {
			return nil, err
		}
		if outputs, err = splitOutputs(entry.Path, bindings); err != nil {
			o.asked.Delete(q.key()) // the file is gone
		}
		return outputs, err
	default:
		if outputs, err = o.compute(ctx, command, o.references[q.given], q.Case, bindings); err != nil {
			err = &ReferenceError{fmt.Errorf("reference of %s at %s: %w%s", o.kernel.Name, q.place(), err,
				rangeAdvice(o.kernel))}
		}
	}
	return outputs, err
}

// rangeAdvice is what else to say when a reference does not bear its inputs: it may
// have taken any integer for an index.
func rangeAdvice(k *kernels.Kernel) string {
	for _, a := range k.Arguments {
		if a.DrawnFromAll() && a.Element.Size > 1 { // a table for bytes has room for all
			return fmt.Sprintf("; %s is drawn from all of %s: if it is an index, state its range in the manifest, such as "+
				"[0, N - 1]", a.Name, a.Element.Name)
		}
	}
	return ""
}

func (o *Oracle) compute(ctx context.Context, command worker.Command, m Module, c Case,
	bindings []arguments.Binding) ([][]byte, error) {
	if err := m.Damaged(false); err != nil {
		return nil, err
	}
	if o.loads != m.Path { // the worker may read no other
		o.stop()
	}
	if o.client == nil {
		var err error
		command.Access = m.Access(command.Access)
		if o.client, err = worker.Start(command); err != nil {
			return nil, err
		}
		o.loads = m.Path
	}
	ctx, cancel := process.Allow(ctx, referenceTimeout)
	defer cancel()
	load := worker.Load{
		Module:    m.Path,
		Support:   m.Support,
		Arguments: bindings,
		Folder:    o.kernel.Dir,
		Seed:      c.Seed,
		Layout:    worker.Guarded,
	}
	if err := o.client.Load(ctx, load); err != nil {
		return nil, cmp.Or(m.Damaged(false), err) // where a file was removed meanwhile, that is why
	}
	if c.Timed != (inputs.Content{}) {
		arranged := worker.Arrange{Pool: c.Timed.Pool, Seeds: []uint64{c.Timed.Seed}}
		if _, err := o.client.Arrange(ctx, arranged); err != nil {
			return nil, err
		}
	}
	result, err := o.client.Run(ctx, worker.Run{})
	if err != nil {
		return nil, err
	}
	if result.Damage != nil {
		return nil, result.Damage
	}
	return result.Outputs, nil
}

// remembered is the answer to a question, by its key.
type remembered struct {
	key     string
	outputs [][]byte
}

func size(outputs [][]byte) int {
	total := 0
	for _, output := range outputs {
		total += len(output)
	}
	return total
}

func (o *Oracle) stop() {
	if o.client != nil {
		o.client.Close()
		o.client = nil
	}
}

// Close ends the oracle's worker, and what Python works out.
func (o *Oracle) Close() {
	o.close()
	o.asking.Wait()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.stop()
}

func (o *Oracle) bounds() (bounds []arguments.Tolerance) {
	return collect.Each(o.kernel.Arguments.Outputs(), o.kernel.ToleranceOf)
}
