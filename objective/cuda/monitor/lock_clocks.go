package monitor

import (
	"errors"
	"fmt"
	"time"
)

const (
	// clockStep is the distance in MHz between the clocks that GPUs offer; the driver takes the nearest.
	clockStep = 15
	// The clock follows a lock within milliseconds; half a second is enough.
	lockPolls = 20
	lockPause = 25 * time.Millisecond
)

// Lock is a locked SM clock. It stays locked after this process unless it is
// restored, so defer Restore and catch signals before locking.
type Lock struct {
	monitor *Monitor
	clock   int
}

// LockClocks holds the SM clock at mhz and verifies it. That changes the machine for
// all its users and replaces a lock that another program has set, so do it only on
// request. Without permission the error is ErrNoPermission. An idle GPU may show a lower
// clock; then the lock is kept.
func (m *Monitor) LockClocks(mhz int) (*Lock, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if err := m.lockable(mhz); err != nil {
		return nil, fmt.Errorf("locking the SM clock at %d MHz: %w", mhz, err)
	}
	if err := m.device.lock(mhz); errors.Is(err, ErrNoPermission) {
		return nil, fmt.Errorf("locking the SM clock at %d MHz: %w: run as root (a container needs CAP_SYS_ADMIN), or "+
			"measure with the clock as it is", mhz, ErrNoPermission)
	} else if err != nil {
		return nil, fmt.Errorf("locking the SM clock at %d MHz: %w", mhz, err)
	}
	m.held = &Lock{monitor: m, clock: mhz}
	if err := m.awaitClock(mhz); err != nil {
		return nil, errors.Join(err, m.release())
	}
	return m.held, nil
}

func (m *Monitor) lockable(mhz int) error {
	if m.library == nil {
		return errClosed
	}
	if m.held != nil {
		return fmt.Errorf("it is locked at %d MHz already; restore that first", m.held.clock)
	}
	limits, err := readLimits(m.device)
	if err != nil {
		return err
	}
	if mhz <= 0 || (limits.SMClock > 0 && mhz > limits.SMClock) {
		return fmt.Errorf("this GPU's SM clock goes up to %d MHz", limits.SMClock)
	}
	return nil
}

// awaitClock waits until the clock is where it was locked.
func (m *Monitor) awaitClock(mhz int) error {
	var err error
	for range lockPolls {
		var state State
		if state, err = readState(m.device); err != nil {
			return err
		}
		if err = off(mhz, state); err == nil {
			return nil
		}
		if state.Reasons&Idle != 0 && state.SMClock < mhz {
			err = nil
		}
		m.sleep(lockPause)
	}
	return err
}

// off is nil when the clock is where it was locked.
func off(mhz int, state State) error {
	if difference := state.SMClock - mhz; difference > clockStep || difference < -clockStep {
		return fmt.Errorf("the SM clock was locked at %d MHz but runs at %d MHz (%s); lock it lower", mhz, state.SMClock,
			state.Reasons)
	}
	return nil
}

// Restore gives the clock back to the driver. It may be called again, also after a failure: then it tries again.
func (l *Lock) Restore() error {
	l.monitor.mutex.Lock()
	defer l.monitor.mutex.Unlock()
	if l.monitor.held != l {
		return nil
	}
	return l.monitor.release()
}

// release is called with the mutex held.
func (m *Monitor) release() error {
	err := errClosed
	if m.library != nil {
		err = m.device.lock(0)
	}
	if err != nil {
		return fmt.Errorf("the SM clock stays locked at %d MHz, release it with nvidia-smi --reset-gpu-clocks: %w",
			m.held.clock, err)
	}
	m.held = nil
	return nil
}
