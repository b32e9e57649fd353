package monitor

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// Monitor watches one GPU. Its methods may be called from several goroutines.
type Monitor struct {
	mutex   sync.Mutex
	library library // nil after Close
	device  device
	held    *Lock
	sleep   func(time.Duration)
}

// Open finds the GPU with this UUID, as the driver API writes it. The error is ErrUnavailable
// where there is no management library. The caller closes the monitor.
func Open(uuid string) (*Monitor, error) {
	library, err := load(libraryName)
	if err != nil {
		return nil, err
	}
	return open(library, uuid)
}

// open takes the library over: it is closed on failure.
func open(library library, uuid string) (*Monitor, error) {
	device, err := library.find(uuid)
	if err == nil {
		_, err = readState(device)
	}
	if err != nil {
		library.close()
		return nil, fmt.Errorf("watching GPU %s: %w", uuid, err)
	}
	return &Monitor{library: library, device: device, sleep: time.Sleep}, nil
}

// Close lets the GPU go. It releases clocks that are still locked, but cannot
// report whether that worked: Restore can. Closing twice is harmless.
func (m *Monitor) Close() {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.library == nil {
		return
	}
	if m.held != nil && m.device.unlock() == nil {
		m.held = nil
	}
	m.library.close()
	m.library, m.device = nil, nil
}

// Read returns what the GPU does now. It fails where the SM clock or the reasons
// cannot be had, because then nothing can be judged.
func (m *Monitor) Read() (State, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.library == nil {
		return State{}, errClosed
	}
	return readState(m.device)
}

// Limits returns what the GPU can do at most.
func (m *Monitor) Limits() (Limits, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.library == nil {
		return Limits{}, errClosed
	}
	return readLimits(m.device)
}

var errClosed = errors.New("the monitor is closed; open it again")

// readState is worthless without the SM clock and the reasons.
func readState(device device) (State, error) {
	ask := asker{device: device}
	state := ask.state()
	if ask.err == nil {
		ask.err = ask.missing(smClock, reasons)
	}
	if ask.err != nil {
		return State{}, ask.err
	}
	return state, nil
}

func readLimits(device device) (Limits, error) {
	ask := asker{device: device}
	limits := ask.limits()
	return limits, ask.err
}
