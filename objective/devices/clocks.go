package devices

import (
	"context"
	"fmt"

	"pawl/objective/cuda/monitor"
)

// LockClocks holds the clocks of the GPUs. Where that is not allowed, a notice says
// so and the clocks stay as they are. Restore may be called more than once.
func (m *Machine) LockClocks(ctx context.Context, mhz int) (restore func(), err error) {
	a, err := m.accelerator(ctx)
	if err != nil {
		return nil, err
	}
	var locks []*monitor.Lock
	for _, gpu := range a.gpus.Alike() {
		watched, err := monitor.Open(gpu.UUID)
		if err == nil {
			var lock *monitor.Lock
			if lock, err = watched.LockClocks(mhz); err == nil {
				locks = append(locks, lock)
			}
		}
		if err != nil {
			m.options.Notice(fmt.Sprintf("the clocks stay as they are: %v", err))
		}
	}
	return func() {
		for _, lock := range locks {
			if err := lock.Restore(); err != nil {
				m.options.Notice(fmt.Sprintf("the clocks could not be restored: %v; nvidia-smi -rgc does it", err))
			}
		}
	}, nil
}
