package devices

import (
	"context"
	"sync"

	"pawl/kernels"
	"pawl/objective/platform"
)

// LockClocks holds the clocks of the GPUs that a kernel runs on; 0 leaves them as they
// are. Where it cannot be done, a notice says so. The clocks are given back by restore,
// or at the first request to stop: when the context ends or stop is closed. After the
// second request nobody may be there to do it. Restoring twice is harmless.
func (m *Machine) LockClocks(ctx context.Context, k *kernels.Kernel, mhz int, stop <-chan struct{}) (restore func()) {
	if mhz == 0 {
		return func() {}
	}
	locker, can := m.installed[k.Backend].(platform.ClockLocker)
	if !can {
		m.tools.Notice("--lock-clocks has no effect: the kernel runs on the processor")
		return func() {}
	}
	unlock := sync.OnceFunc(locker.LockClocks(ctx, mhz))
	ctx, finish := context.WithCancel(ctx)
	go func() {
		select {
		case <-ctx.Done():
		case <-stop:
		}
		unlock()
	}()
	return func() {
		finish()
		unlock()
	}
}
