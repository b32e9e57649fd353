package driver

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Device is a GPU as the driver numbers them.
type Device struct {
	library *Library
	ordinal int32
}

// Devices returns the GPUs that this process may use.
func (l *Library) Devices() ([]Device, error) {
	var count int32
	if err := l.do("cuDeviceGetCount", uintptr(unsafe.Pointer(&count))); err != nil {
		return nil, err
	}
	devices := make([]Device, count)
	for i := range devices {
		devices[i].library = l
		if err := l.do("cuDeviceGet", uintptr(unsafe.Pointer(&devices[i].ordinal)), uintptr(i)); err != nil {
			return nil, err
		}
	}
	return devices, nil
}

// attribute reads one CUdevice_attribute, by its number.
func (d Device) attribute(number int) (int, error) {
	var value int32
	err := d.library.do("cuDeviceGetAttribute", uintptr(unsafe.Pointer(&value)), uintptr(number), uintptr(d.ordinal))
	return int(value), err
}

// Attributes is what a device can do.
type Attributes struct {
	Name string `json:"name"`
	UUID string `json:"uuid"`
	Bus  string `json:"bus"`
	// Major and Minor are the compute capability.
	Major int `json:"major"`
	Minor int `json:"minor"`
	// Memory is in bytes.
	Memory             int64  `json:"memory"`
	Multiprocessors    int    `json:"multiprocessors"`
	ThreadsPerBlock    int    `json:"threads_per_block"`
	Block              [3]int `json:"block"`
	Grid               [3]int `json:"grid"`
	RegistersPerBlock  int    `json:"registers_per_block"`
	SharedPerBlock     int    `json:"shared_per_block"`
	SharedPerProcessor int    `json:"shared_per_multiprocessor"`
	L2                 int    `json:"l2"`
	// Clock and MemoryClock are the highest, in kHz.
	Clock          int `json:"clock_khz"`
	MemoryClock    int `json:"memory_clock_khz"`
	MemoryBusWidth int `json:"memory_bus_width"`
}

// Attributes reads everything about a device.
func (d Device) Attributes() (a Attributes, err error) {
	for _, field := range []struct {
		target *int
		number int // of CUdevice_attribute
	}{
		{&a.Major, 75}, {&a.Minor, 76},
		{&a.Multiprocessors, 16}, {&a.ThreadsPerBlock, 1},
		{&a.Block[0], 2}, {&a.Block[1], 3}, {&a.Block[2], 4},
		{&a.Grid[0], 5}, {&a.Grid[1], 6}, {&a.Grid[2], 7},
		{&a.RegistersPerBlock, 12}, {&a.SharedPerBlock, 97},
		{&a.SharedPerProcessor, 81}, {&a.L2, 38},
		{&a.Clock, 13}, {&a.MemoryClock, 36}, {&a.MemoryBusWidth, 37},
	} {
		if *field.target, err = d.attribute(field.number); err != nil {
			return a, err
		}
	}
	return a, d.identify(&a)
}

// identify reads the names of a device.
func (d Device) identify(a *Attributes) error {
	l := d.library
	var name, bus [256]byte
	if err := l.do("cuDeviceGetName", uintptr(unsafe.Pointer(&name)), uintptr(len(name)), uintptr(d.ordinal)); err != nil {
		return err
	}
	if err := l.do("cuDeviceGetPCIBusId", uintptr(unsafe.Pointer(&bus)), uintptr(len(bus)), uintptr(d.ordinal)); err !=
		nil {
		return err
	}
	var uuid [16]byte
	if err := l.do("cuDeviceGetUuid_v2", uintptr(unsafe.Pointer(&uuid)), uintptr(d.ordinal)); err != nil {
		return err
	}
	var memory uint64
	if err := l.do("cuDeviceTotalMem_v2", uintptr(unsafe.Pointer(&memory)), uintptr(d.ordinal)); err != nil {
		return err
	}
	a.Name, a.Bus = unix.ByteSliceToString(name[:]), unix.ByteSliceToString(bus[:])
	a.UUID, a.Memory = uuidText(uuid), int64(memory)
	return nil
}

// uuidText writes a UUID as nvidia-smi and CUDA_VISIBLE_DEVICES do.
func uuidText(u [16]byte) string {
	return fmt.Sprintf("GPU-%x-%x-%x-%x-%x", u[0:4], u[4:6], u[6:8], u[8:10], u[10:16])
}
