//go:build !nvml || !cgo

package monitor

import (
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"

	"pawl/internal/collect"
)

// The structures that the library fills, laid out as in C on 64-bit Linux.
type (
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

// dynamic is the management library, each function looked up by name at its first call.
type dynamic struct {
	handle    uintptr
	functions map[string]uintptr // by the names in a query; 0: the driver has none
}

var _ library = (*dynamic)(nil)

func load(path string) (library, error) {
	handle, err := purego.Dlopen(path, purego.RTLD_LAZY|purego.RTLD_LOCAL)
	if err != nil {
		return nil, unavailable(codeLibraryNotFound)
	}
	d := &dynamic{handle, map[string]uintptr{}}
	if err := d.call("nvmlInit_v2"); err != nil {
		return nil, unavailable(err)
	}
	return d, nil
}

// function returns the first of the names that the driver has, or 0.
func (d *dynamic) function(names string) uintptr {
	found, known := d.functions[names]
	if !known {
		for name := range strings.FieldsSeq(names) {
			if found, _ = purego.Dlsym(d.handle, name); found != 0 {
				break
			}
		}
		d.functions[names] = found
	}
	return found
}

// call calls a function. Pointers must be converted to uintptr in the argument
// list itself, which keeps what they point to alive and in place.
//
//go:uintptrescapes
func (d *dynamic) call(names string, arguments ...uintptr) error {
	function := d.function(names)
	if function == 0 {
		return codeFunctionNotFound
	}
	answer, _, _ := purego.SyscallN(function, arguments...)
	return failure(int(int32(answer)))
}

func (d *dynamic) versions() (driver string, cuda int, err error) {
	var text [80]byte
	if err := d.call(driverVersionName, uintptr(unsafe.Pointer(&text)), unsafe.Sizeof(text)); err != nil {
		return "", 0, err
	}
	var version int32
	err = d.call(cudaVersionName, uintptr(unsafe.Pointer(&version)))
	return unix.ByteSliceToString(text[:]), int(version), err
}

func (d *dynamic) count() (int, error) {
	var count uint32
	err := d.call(countName, uintptr(unsafe.Pointer(&count)))
	return int(count), err
}

func (d *dynamic) at(index int) (device, error) {
	found := &dynamicDevice{dynamic: d}
	err := d.call(atName, uintptr(index), uintptr(unsafe.Pointer(&found.handle)))
	return found, err
}

func (d *dynamic) find(uuid string) (device, error) {
	found := &dynamicDevice{dynamic: d}
	name := append([]byte(uuid), 0)
	err := d.call(findName, uintptr(unsafe.Pointer(&name[0])), uintptr(unsafe.Pointer(&found.handle)))
	return found, err
}

// close ends the use of the library but leaves it in memory: unloading a driver's library gains nothing.
func (d *dynamic) close() { _ = d.call("nvmlShutdown") }

// dynamicDevice is a GPU by its handle, a pointer that belongs to the library.
type dynamicDevice struct {
	*dynamic
	handle uintptr
}

var _ device = (*dynamicDevice)(nil)

func (d *dynamicDevice) number(wanted quantity) (uint64, error) {
	if wanted == temperature && d.function(plainTemperature) == 0 {
		return d.structTemperature()
	}
	// Most answers are 32 bits wide: on a little-endian machine, as all that have
	// this driver are, they are the low half of a cleared 64-bit word. The answer on
	// memory is three words: total, free and used.
	var answer [3]uint64
	var err error
	if query := queries[wanted]; query.selector == noSelector {
		err = d.call(query.names, d.handle, uintptr(unsafe.Pointer(&answer)))
	} else {
		err = d.call(query.names, d.handle, uintptr(query.selector), uintptr(unsafe.Pointer(&answer)))
	}
	if wanted == memoryUsed {
		return answer[2], err
	}
	return answer[0], err
}

// structTemperature asks drivers that have dropped the plain call. A structure's
// version, here 1, holds its size as well.
func (d *dynamicDevice) structTemperature() (uint64, error) {
	information := temperatureInformation{sensor: selectSensor}
	information.version = uint32(unsafe.Sizeof(information)) | 1<<24
	err := d.call(structTemperature, d.handle, uintptr(unsafe.Pointer(&information)))
	return uint64(max(0, information.celsius)), err
}

func (d *dynamicDevice) text(wanted quantity) (string, error) {
	var text [96]byte
	err := d.call(queries[wanted].names, d.handle, uintptr(unsafe.Pointer(&text)), unsafe.Sizeof(text))
	return unix.ByteSliceToString(text[:]), err
}

func (d *dynamicDevice) processes() ([]Process, error) {
	list, err := growing(func(count *uint32, first *processInformation) error {
		return d.call(processesName, d.handle, uintptr(unsafe.Pointer(count)), uintptr(unsafe.Pointer(first)))
	})
	return collect.Each(list, func(one processInformation) Process {
		return Process{PID: int(one.process), Memory: knownMemory(one.memory)}
	}), err
}

func (d *dynamicDevice) busy(since uint64) (map[int]int, error) {
	list, err := growing(func(count *uint32, first *busyInformation) error {
		return d.call(busyName, d.handle, uintptr(unsafe.Pointer(first)), uintptr(unsafe.Pointer(count)), uintptr(since))
	})
	if err == codeNotFound {
		return nil, nil // nobody has computed
	}
	shares := map[int]int{}
	for _, one := range list {
		shares[int(one.process)] = max(shares[int(one.process)], int(one.multiprocessor))
	}
	return shares, err
}

// growing asks for a list with more and more room: how long it will be is not
// known, and processes may start between two calls.
func growing[entry any](ask func(count *uint32, first *entry) error) ([]entry, error) {
	for room := uint32(16); room <= 1<<16; room *= 4 {
		count, list := room, make([]entry, room)
		if err := ask(&count, &list[0]); err == nil {
			return list[:min(count, room)], nil
		} else if err != codeInsufficientSize {
			return nil, err
		}
	}
	return nil, codeInsufficientSize
}

func (d *dynamicDevice) lock(mhz int) error {
	if mhz == 0 {
		return d.call(unlockName, d.handle)
	}
	return d.call(lockName, d.handle, uintptr(mhz), uintptr(mhz))
}
