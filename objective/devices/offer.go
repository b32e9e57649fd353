package devices

import (
	"context"
	"fmt"
	"runtime"

	"pawl/objective/cuda"
	"pawl/objective/cuda/monitor"
	"pawl/objective/cuda/nvcc"
	"pawl/objective/host"
)

// Measures is a device of this machine that points can be measured on.
type Measures struct {
	Backend string `json:"backend"`
	// Device is the model and Driver the driver's version: times of two are never mixed.
	Device string `json:"device"`
	Driver string `json:"driver,omitempty"`
	// Architecture is what machine code for it is compiled for.
	Architecture string `json:"architecture"`
	// Width is how many points are measured at once.
	Width int `json:"width"`
	// Identity tells this device, or the devices of this machine that are used together,
	// from others of the model.
	Identity string `json:"identity"`
}

// Compiles is a compiler of this machine with what it compiles for.
type Compiles struct {
	Backend      string `json:"backend"`
	Architecture string `json:"architecture"`
	// Name is that of --compiler, nvcc or nvrtc; empty on the processor.
	Name string `json:"name,omitempty"`
	// Version is for a person, and tells two compilers apart.
	Version string `json:"version"`
}

// Offers says what this machine can do for others: its GPUs, or its processor where it has
// none, and its compilers for them. Architectures are further ones to compile CUDA for, such
// as sm_90. What is missing is left out.
func (m *Machine) Offers(ctx context.Context, hostname string,
	architectures []string) (measures *Measures, compiles []Compiles) {
	gpus, err := cuda.FindGPUs()
	if err != nil {
		measures = &Measures{
			Backend:      host.DeviceName,
			Device:       host.Processor(),
			Architecture: host.Architecture(),
			Width:        1,
			Identity:     hostname,
		}
	} else {
		alike := gpus.Alike()
		own := nvcc.Architecture(alike[0].Major, alike[0].Minor, "")
		measures = &Measures{
			Backend:      cuda.DeviceName,
			Device:       alike[0].Name,
			Driver:       "CUDA " + gpus.Driver,
			Architecture: own,
			Width:        len(alike),
			Identity:     hostname + " " + alike[0].UUID,
		}
		if inventory, err := monitor.Devices(); err == nil {
			measures.Driver = inventory.Driver
		}
		architectures = append([]string{own}, architectures...)
	}
	if toolchain, err := host.FindToolchain(ctx, m.options.Getenv); err == nil {
		version := toolchain.Version
		if plusPlus, err := host.FindCPlusPlus(ctx, m.options.Getenv); err == nil {
			version += ", " + plusPlus.Version
		}
		compiles = append(compiles,
			Compiles{
				Backend:      host.DeviceName,
				Architecture: host.Architecture(),
				Version:      fmt.Sprintf("%s, %s/%s", version, runtime.GOOS, runtime.GOARCH),
			})
	}
	for _, architecture := range architectures {
		if tool, err := nvcc.Find(ctx, m.options.Getenv); err == nil {
			compiles = append(compiles, Compiles{cuda.DeviceName, architecture, tool.Name(), tool.Version()})
		}
		if tool, err := nvcc.FindNVRTC(ctx, m.options.Getenv); err == nil {
			compiles = append(compiles, Compiles{cuda.DeviceName, architecture, tool.Name(), tool.Version()})
		}
	}
	return measures, compiles
}
