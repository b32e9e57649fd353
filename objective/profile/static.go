// Package profile says why a point is as fast as it is.
//
// Static needs no profiler and no device: it is what the compiler, the manifest's formulas
// and the machine code say about a point before it has run. Run adds the time of a launch and
// what a profiler counts in exactly one: Nsight Compute on a GPU, the processor's own counters on
// the host. Where there is none, what is known without one stays, and the reason beside it.
// Package explain makes advice of it.
package profile

import (
	"context"
	"errors"
	"fmt"

	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/cuda/disassembly"
	"pawl/objective/devices"
	"pawl/objective/explain"
	"pawl/space"
)

// Static is what is known about a point without running it.
type Static struct {
	Kernel   string      `json:"kernel"`
	Workload string      `json:"workload"`
	Dims     string      `json:"dims"`
	Point    space.Point `json:"point"`
	// Environment is what it was compiled with and for.
	Environment objective.Environment `json:"environment"`
	// Binary is the file with the machine code, Digest what executes in it.
	Binary string `json:"binary"`
	Digest string `json:"digest"`
	// Resources is what the compiler says; nil on the processor.
	Resources *objective.Resources `json:"resources,omitempty"`
	// Flops and Bytes are of one launch, by the manifest's formulas; 0 where it has none.
	Flops float64 `json:"flops,omitempty"`
	Bytes float64 `json:"bytes,omitempty"`
	// Floor is the shortest time of one launch that the device allows, in milliseconds, and
	// Bound what allows no shorter: compute or memory. Both are empty where that is unknown.
	Floor float64 `json:"floor,omitempty"`
	Bound string  `json:"bound,omitempty"`
	// Roofline is the best that the device can do; unknown of a processor.
	Roofline objective.Roofline `json:"roofline,omitzero"`
	// Memory is what the arguments take on the device, in bytes.
	Memory int64 `json:"memory"`
	// Mix is what the machine code consists of; nil where NoMix says why not.
	Mix   *disassembly.Mix `json:"mix,omitempty"`
	NoMix string           `json:"no_mix,omitempty"`
}

// NewStatic compiles a point and describes it. A failure is the point's own.
func NewStatic(ctx context.Context, m *devices.Machine, t devices.Target,
	point space.Point) (*Static, *objective.Failure, error) {
	bench, err := m.Open(ctx, t, objective.Options{})
	if err != nil {
		return nil, nil, err
	}
	defer bench.Close()
	prepared, err := bench.Prepare(ctx, point)
	if err != nil || prepared.Failure != nil {
		return nil, prepared.Failure, err
	}
	s, err := newStatic(ctx, m, bench, prepared)
	return s, nil, err
}

// newStatic describes a point that was compiled.
func newStatic(ctx context.Context, m *devices.Machine, bench *devices.Bench,
	prepared objective.Prepared) (s *Static, err error) {
	t, facts := bench.Target, bench.Backend.Facts()
	s = &Static{
		Kernel: t.Kernel.Name, Workload: t.Workload.Name, Dims: t.Workload.Dims.String(), Point: prepared.Point,
		Environment: facts.Environment,
		Binary:      prepared.Binary.Path, Digest: prepared.Binary.Digest, Resources: prepared.Binary.Resources,
	}
	if s.Memory, err = Memory(t); err != nil {
		return nil, err
	}
	if s.Flops, s.Bytes, err = t.Kernel.Work.For(t.Workload.Dims, prepared.Point); err != nil {
		return nil, err
	}
	s.Roofline = facts.Roofline.Measure()
	s.bound(s.Roofline)
	s.disassemble(ctx, m, t.Kernel, prepared.Binary)
	return s, nil
}

// Memory is what the arguments of a target take on the device, in bytes.
func Memory(t devices.Target) (total int64, err error) {
	bindings, err := t.Kernel.Bind(t.Workload.Dims)
	if err != nil {
		return 0, err
	}
	for _, b := range bindings {
		bytes, err := b.Bytes()
		if err != nil {
			return 0, err
		}
		total += int64(bytes)
	}
	return total, nil
}

// bound says what the roofline allows.
func (s *Static) bound(r objective.Roofline) {
	var compute, memory float64
	if r.Flops > 0 {
		compute = 1e3 * s.Flops / r.Flops
	}
	if r.Bytes > 0 {
		memory = 1e3 * s.Bytes / r.Bytes
	}
	switch {
	case compute == 0 && memory == 0:
	case compute > memory:
		s.Floor, s.Bound = compute, explain.Compute
	default:
		s.Floor, s.Bound = memory, explain.Memory
	}
}

func (s *Static) disassemble(ctx context.Context, m *devices.Machine, k *kernels.Kernel, b objective.Binary) {
	if !k.On().GPU {
		s.NoMix = "only machine code for CUDA is taken apart"
		return
	}
	program, err := m.Disassembler()
	if err == nil {
		entry := k.Launch.Steps[0].Entry
		if len(b.Entries) > 0 {
			entry = b.Entries[0]
		}
		s.Mix, err = disassembly.Run(ctx, program, s.Binary, entry)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		s.NoMix = fmt.Sprint(err)
	}
}
