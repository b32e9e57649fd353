package devices

import (
	"context"
	"fmt"

	"pawl/kernels"
	"pawl/objective/cuda/monitor"
)

// LockClocks holds the clocks of the GPUs that a kernel runs on; 0 leaves them as they
// are. Where it cannot be done, a notice says so. The clocks are given back by restore,
// or at the first request to stop: when the context ends or stop is closed. After the
// second request nobody may be there to do it. Restoring twice is harmless.
func (m *Machine) LockClocks(ctx context.Context, k *kernels.Kernel, mhz int, stop <-chan struct{}) (restore func()) {
	if mhz == 0 {
		return func() {}
	}
	if k.Backend != kernels.CUDA {
		m.options.Notice("--lock-clocks has no effect: the kernel runs on the processor")
		return func() {}
	}
	locks := m.lock(ctx, mhz)
	unlock := func() {
		for _, lock := range locks {
			if err := lock.Restore(); err != nil {
				m.options.Notice(fmt.Sprintf("the clocks could not be restored: %v; nvidia-smi -rgc does it", err))
			}
		}
	}
	finished := make(chan struct{})
	go func() {
		select {
		case <-ctx.Done():
			unlock()
		case <-stop:
			unlock()
		case <-finished:
		}
	}()
	return func() {
		close(finished)
		unlock()
	}
}

func (m *Machine) lock(ctx context.Context, mhz int) (locks []*monitor.Lock) {
	a, err := m.accelerator(ctx)
	if err != nil {
		m.options.Notice(fmt.Sprintf("the clocks stay as they are: %v", err))
		return nil
	}
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
	return locks
}
