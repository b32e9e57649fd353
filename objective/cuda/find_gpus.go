package cuda

import (
	"fmt"

	"pawl/internal/collect"
	"pawl/objective/cuda/driver"
	"pawl/objective/cuda/nvcc"
	"pawl/objective/cuda/occupancy"
)

// GPUs are the devices of this machine that kernels may run on.
type GPUs struct {
	// Driver is the CUDA version that the driver supports, such as 13.0.
	Driver  string
	Devices []driver.Attributes
}

// FindGPUs asks the driver. The error says what is missing and what to do.
func FindGPUs() (GPUs, error) {
	library, err := driver.Open()
	if err != nil {
		return GPUs{}, err
	}
	found := GPUs{Driver: driver.VersionText(library.Version)}
	devices, err := library.Devices()
	if err != nil {
		return found, err
	}
	if len(devices) == 0 {
		return found, fmt.Errorf("%w: no GPU is visible; check nvidia-smi and CUDA_VISIBLE_DEVICES", driver.ErrNoDriver)
	}
	for _, device := range devices {
		attributes, err := device.Attributes()
		if err != nil {
			return found, err
		}
		found.Devices = append(found.Devices, attributes)
	}
	return found, nil
}

// Imagine returns a GPU of an architecture such as sm_90a that need not be here: points are
// compiled for it, and nothing runs.
func Imagine(name string) (GPUs, error) {
	a, err := occupancy.Find(name)
	if err != nil {
		return GPUs{}, err
	}
	return GPUs{Devices: []driver.Attributes{{
		Name: fmt.Sprintf("%s with %d multiprocessors (%s)", nvcc.Architecture(a.Major, a.Minor, ""), a.Multiprocessors,
			a.Product),
		Major: a.Major, Minor: a.Minor, Multiprocessors: a.Multiprocessors, ThreadsPerBlock: 1024,
		Block: [3]int{1024, 1024, 64},
		Grid:  [3]int{1<<31 - 1, 1<<16 - 1, 1<<16 - 1}, RegistersPerBlock: a.Registers, SharedPerBlock: a.SharedPerBlock,
		SharedPerProcessor: a.Shared,
		Clock:              a.Clock, MemoryClock: a.MemoryClock, MemoryBusWidth: a.Bus,
	}}}, nil
}

// Alike returns the GPUs that are the same model as the first. Results of
// different models are not comparable, so one study uses one model.
func (g GPUs) Alike() []driver.Attributes {
	first := g.Devices[0]
	return collect.Where(g.Devices, func(a driver.Attributes) bool {
		return a.Name == first.Name && a.Major == first.Major && a.Minor == first.Minor
	})
}
