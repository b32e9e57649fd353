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
	Open(ctx context.Context, k *kernels.Kernel, workload, at string) (*devices.Bench, objective.Prepared, error)
	// Do has a task done with configurations that it has opened, on one device that does
	// nothing else meanwhile. The candidate is the first of them.
	Do(ctx context.Context, sides []*Configuration, t Task) (Done, error)
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
func (t Task) Do(ctx context.Context, sides []*Configuration) (done Done, err error) {
	switch {
	case len(sides) == 0:
		return done, fmt.Errorf("a task without a candidate")
	case t.Kind == CheckTask:
		done.Failure, err = sides[0].Verify(ctx, sides[0].Prepared)
		return done, err
	case t.Kind == AloneTask:
		done.Samples = gate.Samples{}
		done.Samples[gate.Candidate], done.Conditions, done.Failure, err = sides[0].measureAlone(ctx, t.Policy)
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

// Verify checks the configuration in full, where it is.
func (c *Configuration) Verify(ctx context.Context, p objective.Prepared) (*objective.Failure, error) {
	if c.elsewhere == nil {
		return c.Bench.Verify(ctx, p)
	}
	if p.Failure != nil {
		return p.Failure, nil
	}
	done, err := c.elsewhere.Do(ctx, []*Configuration{c}, Task{Kind: CheckTask})
	return done.Failure, err
}

// comparison measures the candidate, its baseline and the best entry, which may be nil, in
// rounds, where they are. The samples and conditions are of all that was measured.
func (r *run) comparison(ctx context.Context, c, base, best *Configuration,
	p gate.Policy) (gate.Comparison, gate.Samples, gate.Conditions, error) {
	if c.elsewhere != nil {
		sides := []*Configuration{c, base}
		if best != nil {
			sides = append(sides, best)
		}
		done, err := c.elsewhere.Do(ctx, sides, Task{Kind: CompareTask, Policy: p, Seed: r.Seed, Samples: c.samples(0)})
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
		gate.Options{Seed: r.Seed, Samples: c.samples(0), Best: best != nil, Observe: func(round, ceiling int) {
			if r.Observe != nil {
				r.Observe(c.Kernel.Name, c.Workload.Name, round, ceiling)
			}
		}})
	return compared, measurer.samples, measurer.conditions, err
}
