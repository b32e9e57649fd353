package objective

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"pawl/kernels"
	"pawl/objective/worker"
)

// oracle knows the right answers: it runs the kernel's reference in a worker
// of its own and remembers what it said.
type oracle struct {
	kernel  *kernels.Kernel
	backend Backend

	mu       sync.Mutex
	client   *worker.Client
	binary   Binary
	plain    Binary // the naive implementation, if the tolerance needs it
	derived  map[string][]kernels.Tolerance
	answers  map[string][][]byte
	order    []string // keys of answers, least recently used first
	retained int      // bytes in answers
}

// referenceTimeout is how long a reference may take. It is slow on purpose.
const referenceTimeout = 5 * time.Minute

// answerLimit bounds the answers that are remembered, in bytes.
const answerLimit = 256 << 20

func newOracle(k *kernels.Kernel, b Backend) *oracle {
	return &oracle{kernel: k, backend: b, answers: map[string][][]byte{}, derived: map[string][]kernels.Tolerance{}}
}

// ready compiles the reference. It comes before a device is reserved, because
// compiling needs a core too.
func (o *oracle) ready(ctx context.Context) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.binary.Path != "" {
		return nil
	}
	var err error
	if o.binary, err = o.backend.Reference(ctx); err != nil {
		return fmt.Errorf("reference of %s: %w", o.kernel.Name, err)
	}
	o.plain, err = o.naive(ctx)
	return err
}

// know returns the right answer for a case, and how far off a result may be.
func (o *oracle) know(ctx context.Context, command worker.Command, c Case, bindings []kernels.Binding) (want [][]byte, bounds []kernels.Tolerance, err error) {
	if want, err = o.answer(ctx, command, c, bindings); err != nil {
		return nil, nil, err
	}
	bounds, err = o.bounds(ctx, command, c, bindings, want)
	return want, bounds, err
}

// answer returns the reference's outputs for a case. Any failure here is an
// error: without an oracle nothing can be judged.
func (o *oracle) answer(ctx context.Context, command worker.Command, c Case, bindings []kernels.Binding) ([][]byte, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := c.key()
	if outputs, ok := o.answers[key]; ok {
		at := slices.Index(o.order, key)
		o.order = append(slices.Delete(o.order, at, at+1), key)
		return outputs, nil
	}
	outputs, err := o.compute(ctx, command, o.binary, c, bindings)
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
		if !a.Out && a.Value == nil && !a.Element.Float && a.Low == nil {
			return fmt.Sprintf("; %s is drawn from all of %s: if it is an index, state its range in the manifest, such as [0, N - 1]", a.Name, a.Element.Name)
		}
	}
	return ""
}

func (o *oracle) compute(ctx context.Context, command worker.Command, binary Binary, c Case, bindings []kernels.Binding) ([][]byte, error) {
	if o.client == nil {
		var err error
		if o.client, err = worker.Start(command); err != nil {
			return nil, err
		}
	}
	ctx, cancel := worker.Allow(ctx, referenceTimeout)
	defer cancel()
	load := worker.Load{Module: binary.Path, Support: binary.Support, Arguments: bindings, Seed: c.Seed, Layout: worker.Guarded}
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

func (o *oracle) remember(key string, outputs [][]byte) {
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

// judge compares all outputs of a run with the reference's.
func (o *oracle) judge(got, want [][]byte, bounds []kernels.Tolerance) (*Mismatch, error) {
	for i, argument := range outputs(o.kernel) {
		if i >= len(got) || i >= len(want) {
			return nil, fmt.Errorf("output %s is missing", argument.Name)
		}
		if mismatch, err := compare(argument, got[i], want[i], bounds[i]); mismatch != nil || err != nil {
			return mismatch, err
		}
	}
	return nil, nil
}

func (o *oracle) stop() {
	if o.client != nil {
		o.client.Close()
		o.client = nil
	}
}

func (o *oracle) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.stop()
}
