package check

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"pawl/kernels"
	"pawl/objective/worker"
)

// Oracle knows the right answers: it compiles the kernel's reference, runs it in a
// worker of its own and remembers the results. Its methods may be called at the same
// time. A checker on a device needs no more of it than the compiled reference.
type Oracle struct {
	kernel                     *kernels.Kernel
	buildReference, buildNaive Build

	mu        sync.Mutex
	client    *worker.Client
	reference Module
	naive     Module // where the tolerance is derived from it
	derived   map[string][]kernels.Tolerance
	answers   map[string][][]byte
	order     []string // keys of answers, least recently used first
	retained  int      // bytes in answers
	tried     sync.Map // formulas of inputs, by binding and seed; errors or nil
}

// Build compiles one of a kernel's plain implementations.
type Build func(context.Context) (Module, error)

// referenceTimeout is how long a reference may take. It is slow on purpose.
const referenceTimeout = 5 * time.Minute

// answerLimit bounds the answers that are remembered, in bytes.
const answerLimit = 256 << 20

// NewOracle returns the oracle of a kernel. Naive builds its plain implementation in
// the kernel's own precision, for a tolerance that is derived from it; it is nil where
// the backend cannot. Close the oracle to end its worker.
func NewOracle(k *kernels.Kernel, reference, naive Build) *Oracle {
	return &Oracle{kernel: k, buildReference: reference, buildNaive: naive, answers: map[string][][]byte{}, derived: map[string][]kernels.Tolerance{}}
}

// Ready compiles the reference. It comes before a device is reserved, because
// compiling needs a core too.
func (o *Oracle) Ready(ctx context.Context) (err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.reference.Path != "" || o.kernel.Answered() {
		return nil
	}
	if o.reference, err = o.buildReference(ctx); err != nil {
		return fmt.Errorf("reference of %s: %w", o.kernel.Name, err)
	}
	if o.kernel.Tolerance.Derived == 0 {
		return nil
	}
	if o.buildNaive == nil {
		return fmt.Errorf("the tolerance of %s is derived from a naive implementation, which this backend cannot build: state atol and rtol for it", o.kernel.Name)
	}
	o.naive, err = o.buildNaive(ctx)
	return err
}

// Reference returns the compiled reference of an oracle that is ready.
func (o *Oracle) Reference() Module { return o.reference }

// Answer is the right answer for a case: an output's bytes and tolerance for every
// argument that the kernel writes.
type Answer struct {
	kernel *kernels.Kernel
	want   [][]byte
	bounds []kernels.Tolerance
}

// Bytes is the size of all outputs.
func (a Answer) Bytes() int { return size(a.want) }

// Know returns the right answer for a case. Any failure here is an error: without an
// oracle nothing can be judged.
func (o *Oracle) Know(ctx context.Context, command worker.Command, c Case, bindings []kernels.Binding) (a Answer, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	a = Answer{kernel: o.kernel}
	if a.want, err = o.answer(ctx, command, c, bindings); err != nil {
		return a, err
	}
	a.bounds, err = o.bounds(ctx, command, c, bindings, a.want)
	return a, err
}

// answer returns the reference's outputs for a case.
func (o *Oracle) answer(ctx context.Context, command worker.Command, c Case, bindings []kernels.Binding) ([][]byte, error) {
	key := c.key()
	if outputs, ok := o.answers[key]; ok {
		at := slices.Index(o.order, key)
		o.order = append(slices.Delete(o.order, at, at+1), key)
		return outputs, nil
	}
	if o.kernel.Answered() {
		outputs, err := o.read(c, bindings)
		if err != nil {
			return nil, fmt.Errorf("kernel %s: %w", o.kernel.Name, err)
		}
		o.remember(key, outputs)
		return outputs, nil
	}
	outputs, err := o.compute(ctx, command, o.reference, c, bindings)
	if err != nil {
		o.stop()
		return nil, fmt.Errorf("reference of %s at %s: %w%s", o.kernel.Name, c.Dims, err, rangeAdvice(o.kernel))
	}
	o.remember(key, outputs)
	return outputs, nil
}

// rangeAdvice is what else to say when a reference does not bear its inputs: it may
// have taken any integer for an index.
func rangeAdvice(k *kernels.Kernel) string {
	for _, a := range k.Arguments {
		if a.DrawnFromAll() {
			return fmt.Sprintf("; %s is drawn from all of %s: if it is an index, state its range in the manifest, such as [0, N - 1]", a.Name, a.Element.Name)
		}
	}
	return ""
}

func (o *Oracle) compute(ctx context.Context, command worker.Command, m Module, c Case, bindings []kernels.Binding) ([][]byte, error) {
	if o.client == nil {
		var err error
		if o.client, err = worker.Start(command); err != nil {
			return nil, err
		}
	}
	ctx, cancel := worker.Allow(ctx, referenceTimeout)
	defer cancel()
	load := worker.Load{Module: m.Path, Support: m.Support, Arguments: bindings, Folder: o.kernel.Dir, Seed: c.Seed, Layout: worker.Guarded}
	if err := o.client.Load(ctx, load); err != nil {
		return nil, err
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

// Close ends the oracle's worker.
func (o *Oracle) Close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.stop()
}

// bounds returns the tolerance of every output for a case. A derived one is so
// many times the largest error that the naive implementation makes there, and one
// step of the type: no implementation can do better than round.
func (o *Oracle) bounds(ctx context.Context, command worker.Command, c Case, bindings []kernels.Binding, want [][]byte) ([]kernels.Tolerance, error) {
	stated := o.kernel.Tolerance
	bounds := make([]kernels.Tolerance, len(want))
	for i, argument := range outputs(o.kernel) {
		bounds[i] = o.kernel.ToleranceOf(argument)
	}
	if stated.Derived == 0 {
		return bounds, nil
	}
	if known, ok := o.derived[c.key()]; ok {
		return known, nil
	}
	got, err := o.compute(ctx, command, o.naive, c, bindings)
	if err != nil {
		o.stop()
		return nil, fmt.Errorf("naive implementation of %s at %s: %w", o.kernel.Name, c.Dims, err)
	}
	// One that is far off would excuse everything.
	mismatch, err := Answer{o.kernel, want, bounds}.Compare(got)
	if err != nil {
		return nil, err
	}
	if mismatch != nil {
		return nil, fmt.Errorf("naive implementation of %s at %s must keep atol and rtol itself: %s", o.kernel.Name, c.Dims, mismatch)
	}
	for i, argument := range outputs(o.kernel) {
		if argument.Tolerance != nil {
			continue
		}
		bounds[i] = kernels.Tolerance{Absolute: stated.Derived * worst(argument.Element, got[i], want[i]), Relative: argument.Element.Step()}
	}
	o.derived[c.key()] = bounds
	return bounds, nil
}

// worst returns the largest error of a result.
func worst(e kernels.Element, got, want []byte) float64 {
	largest := 0.0
	for at := 0; at < len(want); at += e.Size {
		largest = math.Max(largest, math.Abs(e.Load(got[at:])-e.Load(want[at:])))
	}
	return largest
}

// outputs returns the arguments that a kernel writes.
func outputs(k *kernels.Kernel) []kernels.Argument {
	var found []kernels.Argument
	for _, a := range k.Arguments {
		if a.Out {
			found = append(found, a)
		}
	}
	return found
}
