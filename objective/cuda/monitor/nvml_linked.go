//go:build linux && cgo && nvml

package monitor

import (
	"strings"
	"sync"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// bound is the management library through go-nvml. A call that the driver does
// not have would end the process, so each is looked up first.
type bound struct {
	library nvml.Interface
	found   map[string]string // by the names in a query; nothing: the driver has none
}

var _ library = (*bound)(nil)

// versioned guards the functions of which go-nvml keeps the newest version in
// package variables, which every Init writes.
var versioned sync.Mutex

// load opens and initializes the library. After a failed Init nothing of go-nvml
// may be called, not even for the text of the error.
func load(path string) (library, error) {
	versioned.Lock()
	defer versioned.Unlock()
	opened := nvml.New(nvml.WithLibraryPath(path))
	if answer := opened.Init(); answer != nvml.SUCCESS {
		return nil, unavailable(code(answer))
	}
	return &bound{opened, map[string]string{}}, nil
}

// name returns the first of the names that the driver has, or nothing.
func (b *bound) name(names string) string {
	found, known := b.found[names]
	if !known {
		for name := range strings.FieldsSeq(names) {
			if b.library.Extensions().LookupSymbol(name) == nil {
				found = name
				break
			}
		}
		b.found[names] = found
	}
	return found
}

// call makes a call if the driver has one of its names.
func (b *bound) call(names string, do func() nvml.Return) error {
	versioned.Lock()
	defer versioned.Unlock()
	if b.name(names) == "" {
		return codeFunctionNotFound
	}
	return failure(int(do()))
}

func (b *bound) versions() (driver string, cuda int, err error) {
	err = b.call(driverVersionName, func() (answer nvml.Return) {
		driver, answer = b.library.SystemGetDriverVersion()
		return answer
	})
	if err != nil {
		return "", 0, err
	}
	err = b.call(cudaVersionName, func() (answer nvml.Return) {
		cuda, answer = b.library.SystemGetCudaDriverVersion()
		return answer
	})
	return driver, cuda, err
}

func (b *bound) count() (count int, err error) {
	err = b.call(countName, func() (answer nvml.Return) {
		count, answer = b.library.DeviceGetCount()
		return answer
	})
	return count, err
}

func (b *bound) at(index int) (device, error) {
	found := &boundDevice{bound: b}
	return found, b.call(atName, func() (answer nvml.Return) {
		found.device, answer = b.library.DeviceGetHandleByIndex(index)
		return answer
	})
}

func (b *bound) find(uuid string) (device, error) {
	found := &boundDevice{bound: b}
	return found, b.call(findName, func() (answer nvml.Return) {
		found.device, answer = b.library.DeviceGetHandleByUUID(uuid)
		return answer
	})
}

func (b *bound) close() {
	versioned.Lock()
	defer versioned.Unlock()
	b.library.Shutdown()
}

type boundDevice struct {
	*bound
	device nvml.Device
}

var _ device = (*boundDevice)(nil)

func (d *boundDevice) number(wanted quantity) (value uint64, err error) {
	err = d.call(queries[wanted].names, func() (answer nvml.Return) {
		value, answer = d.ask(wanted)
		return answer
	})
	return value, err
}

func (d *boundDevice) ask(wanted quantity) (uint64, nvml.Return) {
	query := queries[wanted]
	switch wanted {
	case smClock:
		return wide(d.device.GetClockInfo(nvml.ClockType(query.selector)))
	case maximumSMClock:
		return wide(d.device.GetMaxClockInfo(nvml.ClockType(query.selector)))
	case temperature:
		if d.name(query.names) == structTemperature {
			read, answer := d.device.GetTemperatureV().V1()
			return uint64(max(0, read.Temperature)), answer
		}
		return wide(d.device.GetTemperature(nvml.TemperatureSensors(query.selector)))
	case power:
		return wide(d.device.GetPowerUsage())
	case energy:
		return d.device.GetTotalEnergyConsumption()
	case powerLimit:
		return wide(d.device.GetEnforcedPowerLimit())
	case reasons:
		if d.name(query.names) == eventReasons {
			return d.device.GetCurrentClocksEventReasons()
		}
		return d.device.GetCurrentClocksThrottleReasons()
	case memoryUsed:
		memory, answer := d.device.GetMemoryInfo()
		return memory.Used, answer
	}
	panic("monitor: no call for the quantity " + wanted.String())
}

func wide[number ~uint32 | ~int32](value number, answer nvml.Return) (uint64, nvml.Return) {
	return uint64(value), answer
}

func (d *boundDevice) text(wanted property) (text string, err error) {
	err = d.call(inquiries[wanted].names, func() (answer nvml.Return) {
		switch wanted {
		case deviceName:
			text, answer = d.device.GetName()
		case deviceUUID:
			text, answer = d.device.GetUUID()
		}
		return answer
	})
	return text, err
}

func (d *boundDevice) processes() (processes []Process, err error) {
	err = d.call(processesName, func() nvml.Return {
		list, answer := d.device.GetComputeRunningProcesses()
		for _, one := range list {
			processes = append(processes, Process{PID: int(one.Pid), Memory: knownMemory(one.UsedGpuMemory)})
		}
		return answer
	})
	return processes, err
}

func (d *boundDevice) busy(since uint64) (map[int]int, error) {
	shares := map[int]int{}
	err := d.call(busyName, func() nvml.Return {
		list, answer := d.device.GetProcessUtilization(since)
		for _, one := range list {
			shares[int(one.Pid)] = max(shares[int(one.Pid)], int(one.SmUtil))
		}
		return answer
	})
	if err == codeNotFound || len(shares) == 0 && err == codeInsufficientSize {
		return nil, nil // nobody has computed
	}
	return shares, err
}

func (d *boundDevice) lock(mhz int) error {
	if mhz == 0 {
		return d.call(unlockName, d.device.ResetGpuLockedClocks)
	}
	return d.call(lockName, func() nvml.Return { return d.device.SetGpuLockedClocks(uint32(mhz), uint32(mhz)) })
}
