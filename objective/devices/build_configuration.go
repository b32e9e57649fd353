package devices

import (
	"context"
	"path/filepath"

	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/experiment"
	"pawl/objective/worker"
)

// Configuration is one point of one kernel and workload on a device, ready to be measured.
type Configuration struct {
	*Bench
	Prepared objective.Prepared
}

// Arm is the configuration as an arm of an experiment, which is compared with others.
func (c *Configuration) Arm() experiment.Arm {
	return experiment.Point{Sampler: c.Evaluator, Prepared: c.Prepared}
}

// ArmAlone is the same for a figure that stands alone: the device rests between its samples.
func (c *Configuration) ArmAlone() experiment.Arm {
	return experiment.Point{Sampler: experiment.Alone{Evaluator: c.Evaluator}, Prepared: c.Prepared}
}

// Work is what a launch does, where the samples are its times: nothing follows from another
// objective about the throughput.
func (c *Configuration) Work() (flops, bytes float64, err error) {
	if len(c.Kernel.Objectives) > 0 {
		return 0, 0, nil
	}
	return c.Kernel.Work.For(c.Workload.Dims, c.Prepared.Point)
}

// Builder opens configurations that are compared with each other. Its calls must not run at the
// same time.
type Builder struct {
	Machine *Machine
	// Options are those of every evaluator; the builder sets their residents.
	Options objective.Options
	// Cache is the folder where sources are unpacked.
	Cache string
	// Version is this program's, for the record.
	Version string

	// residents are shared by all sides of a comparison: on a GPU they are measured in
	// the same processes.
	residents worker.Residents
}

// Close ends the processes that the configurations shared.
func (b *Builder) Close() { b.residents.End() }

// Open prepares a point of a kernel; see [Machine.OpenAt]. Who opens it closes it.
func (b *Builder) Open(ctx context.Context, k *kernels.Kernel, workload, at string) (*Configuration, error) {
	options := b.Options
	options.Residents = &b.residents
	return b.Machine.OpenAt(ctx, k, workload, at, options)
}

// Folder returns the folder of a kernel's sources; an embedded kernel is unpacked
// into the cache.
func (b *Builder) Folder(k *kernels.Kernel) (string, error) {
	return k.Materialise(filepath.Join(b.Cache, "kernels"))
}
