package check

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"pawl/kernels"
	"pawl/kernels/arguments"
	"pawl/kernels/element"
	"pawl/kernels/inputs"
	"pawl/objective/worker"
	"pawl/space"
)

// Oracle knows the right answers: it compiles the kernel's reference, runs it in a
// worker of its own and remembers the results. Its methods may be called at the same
// time. A checker on a device needs no more of it than the compiled reference.
type Oracle struct {
	kernel                     *kernels.Kernel
	buildReference, buildNaive Build

	mu       sync.Mutex
	client   *worker.Client
	plain    map[space.Point]plain
	derived  map[string][]arguments.Tolerance
	answers  map[string][][]byte
	order    []string // keys of answers, least recently used first
	retained int      // bytes in answers
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

// plain are a kernel's plain implementations, compiled with what the result depends on.
type plain struct {
	reference Module
	naive     Module // where the tolerance is derived from it
}

// Build compiles one of a kernel's plain implementations, with the parameters that the
// result depends on.
type Build func(context.Context, space.Point) (Module, error)

// referenceTimeout is how long a reference may take. It is slow on purpose.
const referenceTimeout = 5 * time.Minute

// answerLimit bounds the answers that are remembered, in bytes.
const answerLimit = 256 << 20

// NewOracle returns the oracle of a kernel. Naive builds its plain implementation in
// the kernel's own precision, for a tolerance that is derived from it; it is nil where
// the backend cannot. Python computes references that are written in it. Close the oracle to end
// its worker.
func NewOracle(k *kernels.Kernel, reference, naive Build, python *Python) *Oracle {
	open, cancel := context.WithCancel(context.Background())
	return &Oracle{
		python:         python,
		open:           open,
		close:          cancel,
		furtherSeeds:   [3]uint64{rand.Uint64(), rand.Uint64(), rand.Uint64()},
		kernel:         k,
		buildReference: reference,
		buildNaive:     naive,
		plain:          map[space.Point]plain{},
		answers:        map[string][][]byte{},
		derived:        map[string][]arguments.Tolerance{},
	}
}

// Ready compiles the reference of a point, again where its file is not what was compiled. It comes
// before a device is reserved, because compiling needs a core too.
func (o *Oracle) Ready(ctx context.Context, point space.Point) (err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	given := o.kernel.ReferencePoint(point)
	known, there := o.plain[given]
	if o.kernel.Answered() || there && known.reference.Damaged(false) == nil && known.naive.Damaged(false) == nil {
		return nil
	}
	var built plain
	if o.kernel.PythonReference() {
		if o.python == nil {
			panic("check: a reference in Python without a Python")
		}
	} else if built.reference, err = o.buildReference(ctx, given); err != nil {
		return fmt.Errorf("reference of %s: %w", o.kernel.Name, err)
	}
	if o.kernel.Tolerance.Derived != 0 {
		if o.buildNaive == nil {
			return fmt.Errorf("the tolerance of %s is derived from a naive implementation, which this backend cannot build: "+
				"state atol and rtol for it", o.kernel.Name)
		}
		if built.naive, err = o.buildNaive(ctx, given); err != nil {
			return err
		}
	}
	o.plain[given] = built
	return nil
}

// Reference returns the compiled reference of a point that the oracle is ready for.
func (o *Oracle) Reference(point space.Point) Module {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.plain[o.kernel.ReferencePoint(point)].reference
}

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
	bindings []arguments.Binding) (a Answer, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	a = Answer{kernel: o.kernel, special: c.special()}
	q := question{c, o.kernel.ReferencePoint(point)}
	if a.want, err = o.answer(ctx, command, q, bindings); err != nil {
		return a, err
	}
	a.bounds, err = o.bounds(ctx, command, q, bindings, a.want)
	return a, err
}

// answer returns the reference's outputs.
func (o *Oracle) answer(ctx context.Context, command worker.Command, q question,
	bindings []arguments.Binding) ([][]byte, error) {
	key := q.key()
	if outputs, ok := o.answers[key]; ok {
		at := slices.Index(o.order, key)
		o.order = append(slices.Delete(o.order, at, at+1), key)
		return outputs, nil
	}
	outputs, err := o.refer(ctx, command, q, bindings)
	if err != nil {
		o.stop()
		return nil, err
	}
	o.remember(key, outputs)
	return outputs, nil
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
		return splitOutputs(entry.Path, bindings)
	default:
		if outputs, err = o.compute(ctx, command, o.plain[q.given].reference, q.Case, bindings); err != nil {
			err = fmt.Errorf("reference of %s at %s: %w%s", o.kernel.Name, q.place(), err, rangeAdvice(o.kernel))
		}
	}
	return outputs, err
}

// rangeAdvice is what else to say when a reference does not bear its inputs: it may
// have taken any integer for an index.
func rangeAdvice(k *kernels.Kernel) string {
	for _, a := range k.Arguments {
		if a.DrawnFromAll() {
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
	if o.client == nil {
		var err error
		if o.client, err = worker.Start(command); err != nil {
			return nil, err
		}
	}
	ctx, cancel := worker.Allow(ctx, referenceTimeout)
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
		return nil, err
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

func (o *Oracle) remember(key string, outputs [][]byte) {
	o.answers[key] = outputs
	o.order = append(o.order, key)
	o.retained += size(outputs)
	for o.retained > answerLimit && len(o.order) > 1 {
		oldest := o.order[0]
		o.order = o.order[1:]
		o.retained -= size(o.answers[oldest])
		delete(o.answers, oldest)
	}
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

// bounds returns the tolerance of every output for a case. A derived one is so
// many times the largest error that the naive implementation makes there, and one
// step of the type: no implementation can do better than round.
func (o *Oracle) bounds(ctx context.Context, command worker.Command, q question, bindings []arguments.Binding,
	want [][]byte) ([]arguments.Tolerance, error) {
	stated := o.kernel.Tolerance
	bounds := make([]arguments.Tolerance, len(want))
	for i, argument := range o.kernel.Arguments.Outputs() {
		bounds[i] = o.kernel.ToleranceOf(argument)
	}
	if stated.Derived == 0 {
		return bounds, nil
	}
	if known, ok := o.derived[q.key()]; ok {
		return known, nil
	}
	got, err := o.compute(ctx, command, o.plain[q.given].naive, q.Case, bindings)
	if err != nil {
		o.stop()
		return nil, fmt.Errorf("naive implementation of %s at %s: %w", o.kernel.Name, q.place(), err)
	}
	// One that is far off would excuse everything.
	mismatch, err := Answer{o.kernel, want, bounds, q.special()}.Compare(got)
	if err != nil {
		return nil, err
	}
	if mismatch != nil {
		return nil,
			fmt.Errorf("naive implementation of %s at %s must keep atol and rtol itself: %s", o.kernel.Name, q.place(), mismatch)
	}
	for i, argument := range o.kernel.Arguments.Outputs() {
		if argument.Tolerance != nil {
			continue
		}
		bounds[i] = arguments.Tolerance{
			Absolute: stated.Derived * worst(argument.Element, got[i], want[i]),
			Relative: argument.Element.Step(),
		}
	}
	o.derived[q.key()] = bounds
	return bounds, nil
}

// worst returns the largest error of a result.
func worst(e element.Type, got, want []byte) float64 {
	largest := 0.0
	for at := 0; at < len(want); at += e.Size {
		if deviation := math.Abs(e.Load(got[at:]) - e.Load(want[at:])); deviation > largest { // NaN is in both
			largest = deviation
		}
	}
	return largest
}
