package ratchet

import (
	"context"
	"fmt"

	"pawl/gate"
	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/devices"
)

// Elsewhere compiles and measures configurations on another machine, of one kind of device.
type Elsewhere interface {
	// Load reads a kernel for that device. Another backend is a *devices.ArgumentError.
	Load(name, backend string) (*kernels.Kernel, error)
	// Open prepares a point, as [devices.Machine.OpenAt] does. The bench knows its kernel and
	// its device, and runs nothing.
	Open(ctx context.Context, k *kernels.Kernel, workload, at string) (*devices.Configuration, error)
	// Do has a task done with configurations that it has opened, on one device that does
	// nothing else meanwhile. The candidate is the first of them.
	Do(ctx context.Context, sides []*devices.Configuration, t Task) (Done, error)
}

// TaskKind is what is asked of another machine.
type TaskKind string

// The kinds: the candidate is checked in full, measured alone, or compared.
const (
	CheckTask   TaskKind = "check"
	AloneTask   TaskKind = "alone"
	CompareTask TaskKind = "compare"
)

// Task is what is asked of another machine.
type Task struct {
	Kind   TaskKind    `json:"kind"`
	Policy gate.Policy `json:"policy"`
	// Seed and Samples are those of gate.Options.
	Seed    uint64 `json:"seed"`
	Samples int    `json:"samples"`
}

// Done is what came of a task.
type Done struct {
	Failure    *objective.Failure `json:"failure,omitempty"`
	Comparison *gate.Comparison   `json:"comparison,omitempty"`
	// Candidate are the comparison's samples of that name, Samples and Conditions all that
	// were taken.
	Candidate  [][]float64     `json:"candidate,omitempty"`
	Samples    gate.Samples    `json:"samples,omitempty"`
	Conditions gate.Conditions `json:"conditions,omitempty"`
}

// Do does a task on this machine. The sides are the candidate, its baseline and the best
// accepted entry; each kind needs the first ones.
func (t Task) Do(ctx context.Context, sides []*devices.Configuration) (done Done, err error) {
	switch {
	case len(sides) == 0:
		return done, fmt.Errorf("a task without a candidate")
	case t.Kind == CheckTask:
		done.Failure, err = sides[0].Verify(ctx, sides[0].Prepared)
		return done, err
	case t.Kind == AloneTask:
		done.Samples = gate.Samples{}
		done.Samples[gate.Candidate], done.Conditions, done.Failure, err = measureAlone(ctx, sides[0], t.Policy)
		return done, err
	case t.Kind != CompareTask || len(sides) < 2:
		return done, fmt.Errorf("a task of the kind %q with %d sides", t.Kind, len(sides))
	}
	measurer := newArms(sides[1], sides[0])
	if len(sides) > 2 {
		measurer.sides[gate.Best] = sides[2]
	}
	compared, err := gate.Compare(ctx, measurer, t.Policy,
		gate.Options{Seed: t.Seed, Samples: t.Samples, Best: len(sides) > 2})
	return Done{
		Comparison: &compared,
		Candidate:  compared.Candidate,
		Samples:    measurer.samples,
		Conditions: measurer.conditions,
	}, err
}

// Load reads a kernel for the device that it is measured on: elsewhere, or here where that is nil.
func Load(ctx context.Context, m *devices.Machine, elsewhere Elsewhere, name, backend string) (*kernels.Kernel, error) {
	if elsewhere != nil {
		return elsewhere.Load(name, backend)
	}
	return m.Load(ctx, name, backend)
}

// openSide prepares a point of a kernel, where it is measured. Who opens it closes it.
func (r *run) openSide(ctx context.Context, k *kernels.Kernel, workload, at string) (*devices.Configuration, error) {
	if r.Elsewhere != nil {
		return r.Elsewhere.Open(ctx, k, workload, at)
	}
	return r.Open(ctx, k, workload, at)
}

// verify checks a configuration in full, where it is.
func (r *run) verify(ctx context.Context, c *devices.Configuration) (*objective.Failure, error) {
	switch {
	case r.Elsewhere == nil:
		return c.Verify(ctx, c.Prepared)
	case c.Prepared.Failure != nil:
		return c.Prepared.Failure, nil
	}
	done, err := r.Elsewhere.Do(ctx, []*devices.Configuration{c}, Task{Kind: CheckTask})
	return done.Failure, err
}

// alone measures a configuration by itself, where it is.
func (r *run) alone(ctx context.Context, c *devices.Configuration,
	p gate.Policy) ([][]float64, gate.Conditions, *objective.Failure, error) {
	if r.Elsewhere == nil {
		return measureAlone(ctx, c, p)
	}
	done, err := r.Elsewhere.Do(ctx, []*devices.Configuration{c}, Task{Kind: AloneTask, Policy: p})
	return done.Samples[gate.Candidate], done.Conditions, done.Failure, err
}

// comparison measures the candidate, its baseline and the best entry, which may be nil, in
// rounds, where they are. The samples and conditions are of all that was measured.
func (r *run) comparison(ctx context.Context, c, base, best *devices.Configuration,
	p gate.Policy) (gate.Comparison, gate.Samples, gate.Conditions, error) {
	if r.Elsewhere != nil {
		sides := []*devices.Configuration{c, base}
		if best != nil {
			sides = append(sides, best)
		}
		done, err := r.Elsewhere.Do(ctx, sides, Task{Kind: CompareTask, Policy: p, Seed: r.Seed, Samples: samplesOf(c, 0)})
		if err != nil {
			return gate.Comparison{}, nil, nil, err
		}
		done.Comparison.Candidate = done.Candidate
		return *done.Comparison, done.Samples, done.Conditions, nil
	}
	measurer := newArms(base, c)
	if best != nil {
		measurer.sides[gate.Best] = best
	}
	compared, err := gate.Compare(ctx, measurer, p,
		gate.Options{Seed: r.Seed, Samples: samplesOf(c, 0), Best: best != nil, Observe: func(round, ceiling int) {
			if r.Observe != nil {
				r.Observe(c.Kernel.Name, c.Workload.Name, round, ceiling)
			}
		}})
	return compared, measurer.samples, measurer.conditions, err
}
