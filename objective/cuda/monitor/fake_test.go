package monitor

import (
	"slices"
	"time"
)

// fake is a management library with the GPUs that a test wants.
type fake struct {
	gpus   []*fakeDevice
	closed int
}

var _ library = (*fake)(nil)

func (f *fake) versions() (string, int, error) { return "580.65.06", 12080, nil }
func (f *fake) count() (int, error)            { return len(f.gpus), nil }
func (f *fake) close()                         { f.closed++ }

func (f *fake) at(index int) (device, error) {
	if f.gpus[index] == nil {
		return nil, code(15)
	}
	return f.gpus[index], nil
}

func (f *fake) find(uuid string) (device, error) {
	for _, gpu := range f.gpus {
		if gpu != nil && gpu.texts[deviceUUID] == uuid {
			return gpu, nil
		}
	}
	return nil, codeNotFound
}

// fakeDevice answers from its maps; what is missing is not supported.
type fakeDevice struct {
	numbers  map[quantity]uint64
	texts    map[quantity]string
	failures map[quantity]error

	lockFailure, unlockFailure error
	ignoresLock                bool
	locks, unlocks             int
	free                       uint64 // the clock without a lock

	computing     []Process
	shares        map[int]int
	sharesFailure error
}

var _ device = (*fakeDevice)(nil)

const testUUID = "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f"

func healthy() *fakeDevice {
	return &fakeDevice{
		numbers: map[quantity]uint64{smClock: 1980, temperature: 41, power: 123456, reasons: 0,
			maximumSMClock: 1995, powerLimit: 700000, memoryUsed: 1 << 30},
		texts:    map[quantity]string{deviceName: "Test GPU", deviceUUID: testUUID},
		failures: map[quantity]error{},
		free:     1980,
	}
}

func (d *fakeDevice) number(wanted quantity) (uint64, error) {
	if err := d.failures[wanted]; err != nil {
		return 0, err
	}
	if value, ok := d.numbers[wanted]; ok {
		return value, nil
	}
	return 0, codeNotSupported
}

func (d *fakeDevice) text(wanted quantity) (string, error) {
	if text, ok := d.texts[wanted]; ok {
		return text, nil
	}
	return "", codeNotSupported
}

func (d *fakeDevice) processes() ([]Process, error) {
	if d.computing != nil {
		return slices.Clone(d.computing), nil
	}
	return []Process{{PID: 1 << 30, Memory: 1 << 20}}, nil // no process has such a number
}

func (d *fakeDevice) busy(uint64) (map[int]int, error) { return d.shares, d.sharesFailure }

func (d *fakeDevice) lock(mhz int) error {
	if mhz == 0 {
		d.unlocks++
		if d.unlockFailure == nil {
			d.numbers[smClock] = d.free
		}
		return d.unlockFailure
	}
	d.locks++
	if d.lockFailure == nil && !d.ignoresLock {
		d.numbers[smClock] = uint64(mhz)
	}
	return d.lockFailure
}

// watching opens a monitor on a fake GPU that never waits.
func watching(gpu *fakeDevice) (*Monitor, *fake, error) {
	library := &fake{gpus: []*fakeDevice{gpu}}
	monitor, err := open(library, testUUID)
	if err == nil {
		monitor.sleep = func(time.Duration) {}
	}
	return monitor, library, err
}
