package cuda

import (
	"fmt"
	"strings"

	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/cuda/driver"
	"pawl/objective/cuda/nvcc"
	"pawl/space"
)

// Limits tells which points of a kernel can be launched on a GPU, from the
// manifest's formulas alone.
type Limits struct {
	kernel *kernels.Kernel
	dims   kernels.Dims
	gpu    driver.Attributes
}

// NewLimits returns the limits for a workload.
func NewLimits(k *kernels.Kernel, w kernels.Workload, gpu driver.Attributes) *Limits {
	return &Limits{k, w.Dims, gpu}
}

// Preflight returns why a point cannot be launched, or nil.
func (l *Limits) Preflight(point space.Point) *objective.Failure {
	launch, err := l.launch(point)
	if err != nil {
		return infeasible("%s", err)
	}
	if only := l.kernel.Architecture; only != "" {
		if here := nvcc.Architecture(l.gpu.Major, l.gpu.Minor, ""); strings.TrimSuffix(only, "a") != here {
			return infeasible("the kernel is written for %s; the GPU is %s", only, here)
		}
	}
	env := l.dims.Environment()
	env.Set(point)
	if _, err := l.kernel.Boxes(env); err != nil {
		return infeasible("%s", err)
	}
	if threads := launch.Threads(); threads > int64(l.gpu.ThreadsPerBlock) {
		return infeasible("%d threads in a block; the GPU takes %d", threads, l.gpu.ThreadsPerBlock)
	}
	for i := range 3 {
		if launch.Block[i] > int64(l.gpu.Block[i]) {
			return infeasible("%d threads in dimension %d of a block; the GPU takes %d", launch.Block[i], i, l.gpu.Block[i])
		}
		if launch.Grid[i] > int64(l.gpu.Grid[i]) {
			return infeasible("%d blocks in dimension %d of the grid; the GPU takes %d", launch.Grid[i], i, l.gpu.Grid[i])
		}
	}
	if launch.Shared > int64(l.gpu.SharedPerBlock) {
		return infeasible("%d bytes of shared memory; the GPU gives a block %d", launch.Shared, l.gpu.SharedPerBlock)
	}
	return nil
}

func (l *Limits) launch(point space.Point) (kernels.LaunchDimensions, error) {
	env := l.dims.Environment()
	env.Set(point)
	return l.kernel.Launch.Kernel.At(env)
}

// registerUnit is what registers per thread are rounded up to.
const registerUnit = 8

// afterCompile looks again with what the compiler said: the formulas know
// nothing of registers and of shared memory that the source declares itself.
func (l *Limits) afterCompile(point space.Point, r *objective.Resources) *objective.Failure {
	launch, err := l.launch(point)
	if err != nil {
		return infeasible("%s", err)
	}
	r.Shared, r.Launch = int(launch.Shared), &launch
	registers := (int64(r.Registers) + registerUnit - 1) / registerUnit * registerUnit
	if needed := registers * launch.Threads(); needed > int64(l.gpu.RegistersPerBlock) {
		return infeasible("%d registers for %d threads; the GPU gives a block %d", needed, launch.Threads(), l.gpu.RegistersPerBlock)
	}
	if total := launch.Shared + int64(r.StaticShared); total > int64(l.gpu.SharedPerBlock) {
		return infeasible("%d bytes of shared memory, %d of them declared in the source; the GPU gives a block %d", total, r.StaticShared, l.gpu.SharedPerBlock)
	}
	return nil
}

func infeasible(format string, arguments ...any) *objective.Failure {
	return &objective.Failure{Stage: objective.Preflight, Reason: objective.Infeasible, Detail: fmt.Sprintf(format, arguments...)}
}
