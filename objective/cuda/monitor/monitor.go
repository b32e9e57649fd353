// Package monitor says what a GPU is doing, and which samples were taken while its
// clock was throttled.
//
// Its opinion is that a slow sample is no evidence while the GPU itself reports
// that its clock is held back. So:
//
//  1. Open finds the GPU by its UUID, the one name that the driver API and the
//     management library share.
//  2. Read, before the first sample and after each, costs microseconds.
//  3. Judge says which samples to keep, from the states around them.
//
// # NVML
//
// The default build opens libnvidia-ml.so.1 itself at run time, so that one binary, built
// with or without cgo, runs on machines with and without a driver; NVIDIA's go-nvml is used
// instead with the build tag nvml.
//
// The binding of the default build is about 200 lines, and for Linux; other systems have none.
// A machine without a driver gets ErrUnavailable and a sentence, never a crash.
//
// go-nvml is not the default, because it does not build without cgo, and leaves its symbols
// undefined until the first call: a linker that binds all of them at the start (-z now, the
// default of some distributions) makes a program that ends before main where there is no
// driver. No #cgo directive can prevent that. Take it where NVIDIA's own binding is asked
// for, or where a reading in 2.8 µs instead of 3.6 µs counts, and build with
//
//	go build -tags nvml -ldflags=-extldflags=-Wl,-z,lazy ./cmd/pawl
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

// Close ends the watch. It releases clocks that are still locked, but cannot
// report whether that worked: Restore can. Closing twice is harmless.
func (m *Monitor) Close() {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.library == nil {
		return
	}
	if m.held != nil && m.device.lock(0) == nil {
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

// Energy returns what the GPU has used since its driver was loaded, in millijoules. The
// counter moves in steps of some tens of milliseconds.
func (m *Monitor) Energy() (uint64, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.library == nil {
		return 0, errClosed
	}
	used, err := m.device.number(energy)
	if err != nil {
		return 0, fmt.Errorf("reading the GPU's %s: %w", energy, err)
	}
	return used, nil
}

var errClosed = errors.New("the monitor is closed; open it again")
