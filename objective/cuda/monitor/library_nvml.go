//go:build linux && cgo && !purego

package monitor

import (
	"sync"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// versioned guards the functions of which go-nvml keeps the newest version in
// package variables, which every Init writes.
var versioned sync.Mutex

// bound is the management library through go-nvml. A call that the driver does
// not have would end the process, so each is looked up first.
type bound struct {
	library nvml.Interface
	numbers [quantities]string // the name that the driver has, or nothing
}

var _ library = (*bound)(nil)

// load opens and initialises the library. After a failed Init nothing of go-nvml
// may be called, not even for the text of the error.
func load(path string) (library, error) {
	versioned.Lock()
	defer versioned.Unlock()
	opened := nvml.New(nvml.WithLibraryPath(path))
	if answer := opened.Init(); answer != nvml.SUCCESS {
		return nil, unavailable(code(answer))
	}
	b := &bound{library: opened}
	for quantity, query := range queries {
		b.numbers[quantity] = first(query.names, b.has)
	}
	return b, nil
}

func (b *bound) has(name string) bool { return b.library.Extensions().LookupSymbol(name) == nil }

func (b *bound) versions() (driver string, cuda int, err error) {
	if !b.has("nvmlSystemGetDriverVersion") || !b.has("nvmlSystemGetCudaDriverVersion") {
		return "", 0, codeFunctionNotFound
	}
	driver, answer := b.library.SystemGetDriverVersion()
	if answer != nvml.SUCCESS {
		return "", 0, code(answer)
	}
	cuda, answer = b.library.SystemGetCudaDriverVersion()
	return driver, cuda, failure(int(answer))
}

func (b *bound) count() (int, error) {
	versioned.Lock()
	defer versioned.Unlock()
	if !b.has("nvmlDeviceGetCount_v2") {
		return 0, codeFunctionNotFound
	}
	count, answer := b.library.DeviceGetCount()
	return count, failure(int(answer))
}

func (b *bound) at(index int) (device, error) {
	versioned.Lock()
	defer versioned.Unlock()
	if !b.has("nvmlDeviceGetHandleByIndex_v2") {
		return nil, codeFunctionNotFound
	}
	found, answer := b.library.DeviceGetHandleByIndex(index)
	return &boundDevice{bound: b, device: found}, failure(int(answer))
}

func (b *bound) find(uuid string) (device, error) {
	if !b.has("nvmlDeviceGetHandleByUUID") {
		return nil, codeFunctionNotFound
	}
	found, answer := b.library.DeviceGetHandleByUUID(uuid)
	return &boundDevice{bound: b, device: found}, failure(int(answer))
}

func (b *bound) close() {
	versioned.Lock()
	defer versioned.Unlock()
	b.library.Shutdown()
}

type boundDevice struct {
	bound  *bound
	device nvml.Device
}

var _ device = (*boundDevice)(nil)

func (d *boundDevice) number(wanted quantity) (uint64, error) {
	name := d.bound.numbers[wanted]
	if name == "" {
		return 0, codeFunctionNotFound
	}
	value, answer := d.ask(wanted, name)
	return value, failure(int(answer))
}

func (d *boundDevice) ask(wanted quantity, name string) (uint64, nvml.Return) {
	selector := queries[wanted].selector
	switch wanted {
	case smClock, memoryClock:
		return wide(d.device.GetClockInfo(nvml.ClockType(selector)))
	case maximumSMClock, maximumMemoryClock:
		return wide(d.device.GetMaxClockInfo(nvml.ClockType(selector)))
	case temperature:
		if name == temperatureStruct {
			read, answer := d.device.GetTemperatureV().V1()
			return uint64(max(0, read.Temperature)), answer
		}
		return wide(d.device.GetTemperature(nvml.TemperatureSensors(selector)))
	case slowdownTemperature:
		return wide(d.device.GetTemperatureThreshold(nvml.TemperatureThresholds(selector)))
	case power:
		return wide(d.device.GetPowerUsage())
	case powerLimit:
		return wide(d.device.GetEnforcedPowerLimit())
	case reasons:
		if name == queries[reasons].names[0] {
			return d.device.GetCurrentClocksEventReasons()
		}
		return d.device.GetCurrentClocksThrottleReasons()
	case memoryTotal:
		memory, answer := d.device.GetMemoryInfo()
		return memory.Total, answer
	case memoryUsed:
		memory, answer := d.device.GetMemoryInfo()
		return memory.Used, answer
	case computeMode:
		return wide(d.device.GetComputeMode())
	case persistence:
		return wide(d.device.GetPersistenceMode())
	}
	panic("monitor: no call for the quantity " + wanted.String())
}

func wide[number ~uint32 | ~int32](value number, answer nvml.Return) (uint64, nvml.Return) {
	return uint64(value), answer
}

func (d *boundDevice) text(wanted property) (string, error) {
	if first(inquiries[wanted].names, d.bound.has) == "" {
		return "", codeFunctionNotFound
	}
	switch wanted {
	case deviceName:
		text, answer := d.device.GetName()
		return text, failure(int(answer))
	case deviceUUID:
		text, answer := d.device.GetUUID()
		return text, failure(int(answer))
	case deviceBus:
		return d.bus()
	}
	panic("monitor: no call for the property " + wanted.String())
}

func (d *boundDevice) bus() (string, error) {
	versioned.Lock()
	defer versioned.Unlock()
	information, answer := d.device.GetPciInfo()
	return terminated(information.BusId[:]), failure(int(answer))
}

func (d *boundDevice) processes() ([]Process, error) {
	versioned.Lock()
	defer versioned.Unlock()
	if first(processNames, d.bound.has) == "" {
		return nil, codeFunctionNotFound
	}
	list, answer := d.device.GetComputeRunningProcesses()
	var processes []Process
	for _, one := range list {
		processes = append(processes, Process{PID: int(one.Pid), Memory: knownMemory(one.UsedGpuMemory)})
	}
	return processes, failure(int(answer))
}

func (d *boundDevice) busy(since uint64) (map[int]int, error) {
	if !d.bound.has(busyName) {
		return nil, codeFunctionNotFound
	}
	list, answer := d.device.GetProcessUtilization(since)
	if answer == nvml.ERROR_NOT_FOUND || len(list) == 0 && answer == nvml.ERROR_INSUFFICIENT_SIZE {
		return nil, nil // nobody has computed
	}
	shares := map[int]int{}
	for _, one := range list {
		shares[int(one.Pid)] = max(shares[int(one.Pid)], int(one.SmUtil))
	}
	return shares, failure(int(answer))
}

func (d *boundDevice) lock(mhz int) error {
	if !d.bound.has(lockName) {
		return codeFunctionNotFound
	}
	return failure(int(d.device.SetGpuLockedClocks(uint32(mhz), uint32(mhz))))
}

func (d *boundDevice) unlock() error {
	if !d.bound.has(unlockName) {
		return codeFunctionNotFound
	}
	return failure(int(d.device.ResetGpuLockedClocks()))
}
