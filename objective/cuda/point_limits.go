package cuda

import (
	"fmt"
	"strings"

	"pawl/kernels"
	"pawl/kernels/arguments"
	"pawl/objective"
	"pawl/objective/cuda/driver"
	"pawl/objective/cuda/nvcc"
	"pawl/objective/cuda/occupancy"
	"pawl/space"
)

// Limits says which points of a kernel can be launched on a GPU, from the manifest's
// formulas alone.
type Limits struct {
	kernel *kernels.Kernel
	dims   kernels.Dims
	gpu    driver.Attributes
}

// NewLimits returns the limits for a workload.
func NewLimits(k *kernels.Kernel, w kernels.Workload, gpu driver.Attributes) *Limits {
	return &Limits{k, w.Dims, gpu}
}

// architecture is an error where no point can run here: the manifest, or an
// architecture with the suffix a among its flags, says which GPU the kernel is for.
func (l *Limits) architecture() error {
	needed := l.kernel.Architecture
	if named, _ := nvcc.Named(l.kernel.Flags); needed == "" && strings.HasSuffix(named, "a") {
		needed = named
	}
	if needed == "" || needed == nvcc.Architecture(l.gpu.Major, l.gpu.Minor, "a") {
		return nil
	}
	return fmt.Errorf("kernel %s needs a GPU of architecture %s; this one is %s, %s: use another GPU or another kernel",
		l.kernel.Name, needed, nvcc.Architecture(l.gpu.Major, l.gpu.Minor, ""), l.gpu.Name)
}

// Preflight returns why a point cannot be launched, or nil.
func (l *Limits) Preflight(point space.Point) *objective.Failure {
	if err := l.architecture(); err != nil {
		return objective.Unfit("%s", err)
	}
	calls, err := l.calls(point)
	if err != nil {
		return objective.Unfit("%s", err)
	}
	if _, err := l.maps(point); err != nil {
		return objective.Unfit("%s", err)
	}
	for _, call := range calls {
		if failure := l.fits(call.LaunchDimensions); failure != nil {
			return failure
		}
	}
	return nil
}

func (l *Limits) fits(launch kernels.LaunchDimensions) *objective.Failure {
	if threads := launch.Threads(); threads > int64(l.gpu.ThreadsPerBlock) {
		return objective.Unfit("%d threads in a block; the GPU takes %d", threads, l.gpu.ThreadsPerBlock)
	}
	for i := range 3 {
		if launch.Block[i] > int64(l.gpu.Block[i]) {
			return objective.Unfit("%d threads in dimension %d of a block; the GPU takes %d", launch.Block[i], i, l.gpu.Block[i])
		}
		if launch.Grid[i] > int64(l.gpu.Grid[i]) {
			return objective.Unfit("%d blocks in dimension %d of the grid; the GPU takes %d", launch.Grid[i], i, l.gpu.Grid[i])
		}
	}
	if launch.Shared > int64(l.gpu.SharedPerBlock) {
		return objective.Unfit("%d bytes of shared memory; the GPU gives a block %d", launch.Shared, l.gpu.SharedPerBlock)
	}
	return nil
}

func (l *Limits) calls(point space.Point) ([]kernels.Call, error) {
	return l.kernel.Launch.Calls(l.environment(point))
}

func (l *Limits) maps(point space.Point) ([]arguments.TensorLayout, error) {
	return l.kernel.Arguments.TensorLayouts(l.environment(point))
}

func (l *Limits) environment(point space.Point) space.Environment {
	env := l.dims.Environment()
	env.Set(point)
	return env
}

// registerUnit is what registers per thread are rounded up to.
const registerUnit = 8

// afterCompile checks again with the compiler's figures, an entry per launch: the formulas
// know nothing of registers and of shared memory that the source declares itself. Of several
// launches it keeps what the greediest needs, and the lowest occupancy.
func (l *Limits) afterCompile(calls []kernels.Call,
	figures []objective.Resources) (*objective.Resources, *objective.Failure) {
	var all *objective.Resources
	for i, call := range calls {
		launch, r := call.LaunchDimensions, figures[i]
		r.Shared, r.Launch = int(launch.Shared), &launch
		registers := (int64(r.Registers) + registerUnit - 1) / registerUnit * registerUnit
		if needed := registers * launch.Threads(); needed > int64(l.gpu.RegistersPerBlock) {
			return &r, objective.Unfit("%d registers for %d threads; the GPU gives a block %d", needed, launch.Threads(),
				l.gpu.RegistersPerBlock)
		}
		if total := launch.Shared + int64(r.StaticShared); total > int64(l.gpu.SharedPerBlock) {
			return &r, objective.Unfit("%d bytes of shared memory, %d of them declared in the source; the GPU gives a block %d",
				total, r.StaticShared, l.gpu.SharedPerBlock)
		}
		r.Occupancy = l.occupancy(launch, &r)
		all = greedier(all, r)
	}
	return all, nil
}

// greedier is the more of each that two launches need.
func greedier(all *objective.Resources, r objective.Resources) *objective.Resources {
	if all == nil {
		return &r
	}
	all.Registers, all.Stack = max(all.Registers, r.Registers), max(all.Stack, r.Stack)
	all.SpillStores, all.SpillLoads = max(all.SpillStores, r.SpillStores), max(all.SpillLoads, r.SpillLoads)
	all.Shared, all.StaticShared = max(all.Shared, r.Shared), max(all.StaticShared, r.StaticShared)
	if all.Occupancy != nil && r.Occupancy != nil && r.Occupancy.Share() < all.Occupancy.Share() {
		all.Occupancy = r.Occupancy
	}
	return all
}

// occupancy is nil where this architecture is unknown. Clusters are left out of account.
func (l *Limits) occupancy(launch kernels.LaunchDimensions, r *objective.Resources) *occupancy.Occupancy {
	architecture, known := occupancy.Of(l.gpu.Major, l.gpu.Minor)
	if !known {
		return nil
	}
	fit := architecture.Fit(occupancy.Block{
		Threads:   int(launch.Threads()),
		Registers: r.Registers,
		Shared:    int(launch.Shared) + r.StaticShared,
	})
	fit = fit.Over(launch.Grid[0]*launch.Grid[1]*launch.Grid[2], l.gpu.Multiprocessors)
	return &fit
}
