//go:build linux && (!cgo || purego)

package monitor

import (
	"fmt"
	"unsafe"

	"github.com/ebitengine/purego"
)

// The structures that the library fills, laid out as in C on 64-bit Linux.
type (
	memoryInformation struct {
		total, free, used uint64
	}
	busInformation struct {
		legacy                                [16]byte
		domain, bus, device, identity, system uint32
		identifier                            [32]byte
	}
	processInformation struct {
		process                   uint32
		_                         uint32
		memory                    uint64
		instance, computeInstance uint32
	}
	busyInformation struct {
		process                          uint32
		_                                uint32
		time                             uint64
		multiprocessor, memory, enc, dec uint32
	}
	temperatureInformation struct {
		version, sensor uint32
		celsius         int32
	}
)

// dynamic is the management library, each function looked up by name.
type dynamic struct {
	functions map[string]uintptr // those that the driver has
	numbers   [quantities]uintptr
}

var _ library = (*dynamic)(nil)

// load opens and initialises the library.
func load(path string) (library, error) {
	handle, err := purego.Dlopen(path, purego.RTLD_LAZY|purego.RTLD_LOCAL)
	if err != nil {
		return nil, unavailable(codeLibraryNotFound)
	}
	d := &dynamic{functions: map[string]uintptr{}}
	d.resolve(handle)
	if err := d.call("nvmlInit_v2"); err != nil {
		return nil, unavailable(err)
	}
	return d, nil
}

// resolve looks up what is used, so that a missing function is known before it
// is called.
func (d *dynamic) resolve(handle uintptr) {
	names := []string{"nvmlInit_v2", "nvmlShutdown", "nvmlSystemGetDriverVersion", "nvmlSystemGetCudaDriverVersion",
		"nvmlDeviceGetCount_v2", "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByUUID", lockName, unlockName, busyName}
	names = append(names, processNames...)
	for _, query := range queries {
		names = append(names, query.names...)
	}
	for _, inquiry := range inquiries {
		names = append(names, inquiry.names...)
	}
	for _, name := range names {
		if function, err := purego.Dlsym(handle, name); err == nil {
			d.functions[name] = function
		}
	}
	for quantity, query := range queries {
		d.numbers[quantity] = d.functions[first(query.names, d.has)]
	}
}

func (d *dynamic) has(name string) bool { return d.functions[name] != 0 }

// call calls a function by name. Pointers must be converted to uintptr in the
// argument list itself, which keeps what they point to alive and in place.
//
//go:uintptrescapes
func (d *dynamic) call(name string, arguments ...uintptr) error {
	return invoke(d.functions[name], arguments...)
}

//go:uintptrescapes
func invoke(function uintptr, arguments ...uintptr) error {
	if function == 0 {
		return codeFunctionNotFound
	}
	answer, _, _ := purego.SyscallN(function, arguments...)
	return failure(int(int32(answer)))
}

func (d *dynamic) versions() (driver string, cuda int, err error) {
	var text [80]byte
	if err := d.call("nvmlSystemGetDriverVersion", uintptr(unsafe.Pointer(&text)), unsafe.Sizeof(text)); err != nil {
		return "", 0, err
	}
	var version int32
	err = d.call("nvmlSystemGetCudaDriverVersion", uintptr(unsafe.Pointer(&version)))
	return terminated(text[:]), int(version), err
}

func (d *dynamic) count() (int, error) {
	var count uint32
	err := d.call("nvmlDeviceGetCount_v2", uintptr(unsafe.Pointer(&count)))
	return int(count), err
}

func (d *dynamic) at(index int) (device, error) {
	found := &dynamicDevice{dynamic: d}
	err := d.call("nvmlDeviceGetHandleByIndex_v2", uintptr(index), uintptr(unsafe.Pointer(&found.handle)))
	return found, err
}

func (d *dynamic) find(uuid string) (device, error) {
	found := &dynamicDevice{dynamic: d}
	name := append([]byte(uuid), 0)
	err := d.call("nvmlDeviceGetHandleByUUID", uintptr(unsafe.Pointer(&name[0])), uintptr(unsafe.Pointer(&found.handle)))
	return found, err
}

// close ends the use of the library but leaves it in memory: unloading a
// driver's library gains nothing.
func (d *dynamic) close() { _ = d.call("nvmlShutdown") }

// dynamicDevice is a GPU by its handle, a pointer that belongs to the library.
type dynamicDevice struct {
	dynamic *dynamic
	handle  uintptr
}

var _ device = (*dynamicDevice)(nil)

func (d *dynamicDevice) number(wanted quantity) (uint64, error) {
	switch wanted {
	case memoryTotal, memoryUsed:
		return d.memory(wanted)
	case temperature:
		if function := d.dynamic.numbers[temperature]; function == d.dynamic.functions[temperatureStruct] {
			return d.structTemperature(function)
		}
	}
	// Most answers are 32 bits wide: on a little-endian machine, as all that have
	// this driver are, they are the low half of a cleared 64-bit word.
	var value uint64
	function := d.dynamic.numbers[wanted]
	if selector := queries[wanted].selector; selector != noSelector {
		err := invoke(function, d.handle, uintptr(selector), uintptr(unsafe.Pointer(&value)))
		return value, err
	}
	err := invoke(function, d.handle, uintptr(unsafe.Pointer(&value)))
	return value, err
}

func (d *dynamicDevice) memory(wanted quantity) (uint64, error) {
	var memory memoryInformation
	err := invoke(d.dynamic.numbers[wanted], d.handle, uintptr(unsafe.Pointer(&memory)))
	if wanted == memoryTotal {
		return memory.total, err
	}
	return memory.used, err
}

// structTemperature asks drivers that have dropped the plain call. A structure's
// version, here 1, holds its size as well.
func (d *dynamicDevice) structTemperature(function uintptr) (uint64, error) {
	information := temperatureInformation{sensor: selectSensor}
	information.version = uint32(unsafe.Sizeof(information)) | 1<<24
	err := invoke(function, d.handle, uintptr(unsafe.Pointer(&information)))
	return uint64(max(0, information.celsius)), err
}

func (d *dynamicDevice) text(wanted property) (string, error) {
	name := first(inquiries[wanted].names, d.dynamic.has)
	if wanted == deviceBus {
		var bus busInformation
		err := d.dynamic.call(name, d.handle, uintptr(unsafe.Pointer(&bus)))
		return terminated(bus.identifier[:]), err
	}
	var text [96]byte
	err := d.dynamic.call(name, d.handle, uintptr(unsafe.Pointer(&text)), unsafe.Sizeof(text))
	return terminated(text[:]), err
}

// processes asks with room for more than were seen; processes may start between
// two calls.
func (d *dynamicDevice) processes() ([]Process, error) {
	name := first(processNames, d.dynamic.has)
	for room := uint32(16); room <= 1<<16; room *= 4 {
		count := room
		list := make([]processInformation, room)
		err := d.dynamic.call(name, d.handle, uintptr(unsafe.Pointer(&count)), uintptr(unsafe.Pointer(&list[0])))
		if err == codeInsufficientSize {
			continue
		}
		if err != nil {
			return nil, err
		}
		var processes []Process
		for _, one := range list[:min(count, room)] {
			processes = append(processes, Process{PID: int(one.process), Memory: knownMemory(one.memory)})
		}
		return processes, nil
	}
	return nil, fmt.Errorf("more than %d processes: %w", 1<<16, codeInsufficientSize)
}

func (d *dynamicDevice) busy(since uint64) (map[int]int, error) {
	for room := uint32(64); room <= 1<<16; room *= 4 {
		count := room
		list := make([]busyInformation, room)
		err := d.dynamic.call(busyName, d.handle, uintptr(unsafe.Pointer(&list[0])), uintptr(unsafe.Pointer(&count)), uintptr(since))
		if err == codeInsufficientSize {
			continue
		}
		if err == codeNotFound {
			return nil, nil // nobody has computed
		}
		shares := map[int]int{}
		for _, one := range list[:min(count, room)] {
			shares[int(one.process)] = max(shares[int(one.process)], int(one.multiprocessor))
		}
		return shares, err
	}
	return nil, codeInsufficientSize
}

func (d *dynamicDevice) lock(mhz int) error {
	return d.dynamic.call(lockName, d.handle, uintptr(mhz), uintptr(mhz))
}

func (d *dynamicDevice) unlock() error { return d.dynamic.call(unlockName, d.handle) }
