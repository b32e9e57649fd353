package host

import (
	"cmp"
	"runtime"

	"pawl/kernels"
	"pawl/objective"
	"pawl/space"
)

// Limits knows what a point may ask of the machine. It needs no compiler.
type Limits struct {
	kernel *kernels.Kernel
	space  *space.Space
	cores  int
}

// NewLimits returns the limits of a machine with a number of cores; 0 means
// this machine.
func NewLimits(k *kernels.Kernel, s *space.Space, cores int) *Limits {
	return &Limits{k, s, cmp.Or(cores, runtime.NumCPU())}
}

// Preflight returns why a point cannot work here, or nil.
func (l *Limits) Preflight(point space.Point) *objective.Failure {
	threads, err := l.Threads(point)
	if err != nil {
		return objective.Unfit("%s", err)
	}
	// Two threads run anywhere: a default of two must stay comparable on a
	// machine with one core.
	if threads > int64(max(l.cores, 2)) {
		return objective.Unfit("%d threads, this machine has %d cores", threads, l.cores)
	}
	if threads < 1 {
		return objective.Unfit("%d threads", threads)
	}
	return nil
}

// Threads returns the number of threads that the point starts.
func (l *Limits) Threads(point space.Point) (int64, error) {
	most := int64(1)
	for _, step := range l.kernel.Launch.Steps {
		if step.Threads == nil {
			continue
		}
		env, err := l.space.Environment(point)
		if err != nil {
			return 0, err
		}
		threads, err := step.Threads.Integer(env)
		if err != nil || threads < 1 {
			return threads, err
		}
		most = max(most, threads)
	}
	return most, nil
}
