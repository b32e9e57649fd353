//go:build linux && cgo && nvml

package monitor

import (
	"strings"
	"sync"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"pawl/internal/collect"
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

// ask makes a call if the driver has one of its names.
func ask[T any](b *bound, names string, do func() (T, nvml.Return)) (value T, err error) {
	versioned.Lock()
	defer versioned.Unlock()
	if b.name(names) == "" {
		return value, codeFunctionNotFound
	}
	value, answer := do()
	return value, failure(int(answer))
}

func (b *bound) versions() (driver string, cuda int, err error) {
	driver, err = ask(b, driverVersionName, b.library.SystemGetDriverVersion)
	if err == nil {
		cuda, err = ask(b, cudaVersionName, b.library.SystemGetCudaDriverVersion)
	}
	return driver, cuda, err
}

func (b *bound) count() (int, error) { return ask(b, countName, b.library.DeviceGetCount) }

func (b *bound) at(index int) (device, error) {
	found, err := ask(b, atName, func() (nvml.Device, nvml.Return) { return b.library.DeviceGetHandleByIndex(index) })
	return &boundDevice{b, found}, err
}

func (b *bound) find(uuid string) (device, error) {
	found, err := ask(b, findName, func() (nvml.Device, nvml.Return) { return b.library.DeviceGetHandleByUUID(uuid) })
	return &boundDevice{b, found}, err
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

func (d *boundDevice) number(wanted quantity) (uint64, error) {
	return ask(d.bound, queries[wanted].names, func() (uint64, nvml.Return) { return d.read(wanted) })
}

func (d *boundDevice) read(wanted quantity) (uint64, nvml.Return) {
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

func (d *boundDevice) text(wanted quantity) (string, error) {
	read := d.device.GetName
	if wanted == deviceUUID {
		read = d.device.GetUUID
	}
	return ask(d.bound, queries[wanted].names, read)
}

func (d *boundDevice) processes() ([]Process, error) {
	list, err := ask(d.bound, processesName, d.device.GetComputeRunningProcesses)
	return collect.Each(list, func(one nvml.ProcessInfo) Process {
		return Process{PID: int(one.Pid), Memory: knownMemory(one.UsedGpuMemory)}
	}), err
}

func (d *boundDevice) busy(since uint64) (map[int]int, error) {
	list, err := ask(d.bound, busyName, func() ([]nvml.ProcessUtilizationSample, nvml.Return) {
		return d.device.GetProcessUtilization(since)
	})
	if err == codeNotFound || len(list) == 0 && err == codeInsufficientSize {
		return nil, nil // nobody has computed
	}
	shares := map[int]int{}
	for _, one := range list {
		shares[int(one.Pid)] = max(shares[int(one.Pid)], int(one.SmUtil))
	}
	return shares, err
}

func (d *boundDevice) lock(mhz int) error {
	names, do := lockName, func() nvml.Return { return d.device.SetGpuLockedClocks(uint32(mhz), uint32(mhz)) }
	if mhz == 0 {
		names, do = unlockName, d.device.ResetGpuLockedClocks
	}
	_, err := ask(d.bound, names, func() (struct{}, nvml.Return) { return struct{}{}, do() })
	return err
}
