package ratchet

import (
	"context"
	"errors"
	"fmt"

	"pawl/gate"
	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/check"
	"pawl/objective/devices"
)

// Device compiles and measures configurations: here, or on a machine elsewhere.
type Device interface {
	// Load reads a kernel for the device. A backend that it does not have is a
	// *devices.ArgumentError.
	Load(ctx context.Context, name, backend string) (*kernels.Kernel, error)
	// Open prepares a point, as [devices.Machine.OpenAt] does. Elsewhere the bench knows its
	// kernel and its device, and runs nothing.
	Open(ctx context.Context, k *kernels.Kernel, workload, at string) (*devices.Configuration, error)
	// Do has a task done with configurations that it has opened, on one device that does
	// nothing else meanwhile. The candidate is the first of them.
	Do(ctx context.Context, sides []*devices.Configuration, t Task) (Done, error)
}

type here struct{ *devices.Builder }

// Here returns this machine as a device.
func Here(b *devices.Builder) Device { return here{b} }

func (h here) Load(ctx context.Context, name, backend string) (*kernels.Kernel, error) {
	return h.Machine.Load(ctx, name, backend)
}

func (h here) Do(ctx context.Context, sides []*devices.Configuration, t Task) (Done, error) {
	return t.Do(ctx, sides)
}

// TaskKind is what is asked of a device.
type TaskKind string

// The kinds: the candidate is checked in full, measured alone, or compared.
const (
	CheckTask   TaskKind = "check"
	AloneTask   TaskKind = "alone"
	CompareTask TaskKind = "compare"
)

// Task is what is asked of a device.
type Task struct {
	Kind   TaskKind    `json:"kind"`
	Policy gate.Policy `json:"policy"`
	// Seed and Samples are those of gate.Options.
	Seed    uint64 `json:"seed"`
	Samples int    `json:"samples"`

	observe func(round, ceiling int) // nil elsewhere
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
		done.Failure, err = sides[0].Evaluator.Verify(ctx, sides[0].Prepared)
		if blind := objective.BlindFailure(err); blind != nil {
			done.Failure, err = blind, nil // nothing shows that it is right
		}
		if broken, ok := errors.AsType[*check.ReferenceError](err); ok && ctx.Err() == nil {
			// One kernel's mistake, and no reason to leave out the others.
			done.Failure, err = &objective.Failure{Stage: objective.Fuzz, Reason: brokenReference, Detail: broken.Error()}, nil
		}
		return done, err
	case t.Kind == AloneTask:
		return measureAlone(ctx, sides[0], t.Policy)
	case t.Kind != CompareTask || len(sides) < 2:
		return done, fmt.Errorf("a task of the kind %q with %d sides", t.Kind, len(sides))
	}
	arms := gate.Arms{gate.Candidate: sides[0].Arm(), gate.Baseline: sides[1].Arm()}
	if len(sides) > 2 {
		arms[gate.Best] = sides[2].Arm()
	}
	compared, err := gate.Compare(ctx, arms, t.Policy,
		gate.Options{Seed: t.Seed, Samples: t.Samples, Observe: t.observe})
	return Done{
		Comparison: &compared,
		Candidate:  compared.Candidate,
		Samples:    compared.Measured,
		Conditions: compared.Conditions,
	}, err
}

// brokenReference is the reason of a failure where nothing can be judged.
const brokenReference = "broken reference"

// verify checks a configuration in full, where it is.
func (r *run) verify(ctx context.Context, c *devices.Configuration) (*objective.Failure, error) {
	if c.Prepared.Failure != nil {
		return c.Prepared.Failure, nil
	}
	done, err := r.On.Do(ctx, []*devices.Configuration{c}, Task{Kind: CheckTask})
	return done.Failure, err
}

// alone measures a configuration by itself, where it is.
func (r *run) alone(ctx context.Context, c *devices.Configuration, p gate.Policy) (Done, error) {
	return r.On.Do(ctx, []*devices.Configuration{c}, Task{Kind: AloneTask, Policy: p})
}

// comparison measures the candidate, its baseline and the best entry, which may be nil, in
// rounds, where they are. The samples and conditions are of all that was measured.
func (r *run) comparison(ctx context.Context, c, base, best *devices.Configuration,
	p gate.Policy) (Done, error) {
	sides := []*devices.Configuration{c, base}
	if best != nil {
		sides = append(sides, best)
	}
	done, err := r.On.Do(ctx, sides, Task{
		Kind: CompareTask, Policy: p,
		Seed:    gate.OrderSeed(r.Seed, c.Kernel.Name, c.Workload.Name, r.attempt),
		Samples: samplesOf(c, 0),
		observe: func(round, ceiling int) {
			if r.Observe != nil {
				r.Observe(c.Kernel.Name, c.Workload.Name, round, ceiling)
			}
		},
	})
	if err == nil {
		done.Comparison.Candidate = done.Candidate
		done.Comparison.OrderSeed = r.Seed // with which this run draws the same orders again
	}
	return done, err
}
