package cuda

import (
	"context"
	"fmt"

	"pawl/objective/cuda/driver"
	"pawl/objective/cuda/monitor"
	"pawl/objective/platform"
)

// Probe looks for everything that tuning on a GPU needs or can use.
func (i *installation) Probe(ctx context.Context) (findings []platform.Finding, usable bool) {
	gpus, err := FindGPUs()
	inventory, watchErr := monitor.Devices()
	version := "for CUDA " + gpus.Driver
	if watchErr == nil {
		version = inventory.Driver + ", " + version
	}
	findings = append(findings, platform.NewFinding("NVIDIA driver", version, err))
	for n, gpu := range gpus.Devices {
		findings = append(findings, platform.Finding{Name: fmt.Sprintf("GPU %d", n), Found: describeGPU(gpu), Details: gpu})
	}
	for _, c := range compilers {
		found := ""
		tool, missing := i.tool(ctx, c)
		if missing == nil {
			found, usable = tool.Version(), err == nil
		}
		findings = append(findings, platform.NewFinding(c.title, found, missing))
	}
	findings = append(findings,
		platform.FindProgram(ctx, "ncu", "install Nsight Compute to profile CUDA kernels"),
		platform.FindProgram(ctx, "compute-sanitizer", "comes with the CUDA toolkit; finds memory errors in CUDA kernels"))
	if err == nil {
		findings = append(findings, probeStates(inventory, watchErr)...)
	}
	return findings, usable
}

func describeGPU(a driver.Attributes) string {
	return fmt.Sprintf("%s, compute capability %d.%d, %d multiprocessors, %.0f GB, %.0f MB of L2, %d KB of shared "+
		"memory a block, %d MHz",
		a.Name, a.Major, a.Minor, a.Multiprocessors, float64(a.Memory)/1e9, float64(a.L2)/1e6, a.SharedPerBlock>>10,
		a.Clock/1000)
}

// probeStates says what this user may see and change of the GPUs.
func probeStates(inventory monitor.Inventory, err error) []platform.Finding {
	if err != nil {
		return []platform.Finding{platform.NewFinding("GPU state", "", err)}
	}
	findings := []platform.Finding{permission("counters", monitor.CountersHere())}
	for i, gpu := range inventory.GPUs {
		state := platform.Finding{Name: fmt.Sprintf("GPU %d state", i), Advice: gpu.Trouble, Details: gpu}
		if gpu.Trouble == "" {
			state.Found = fmt.Sprintf("%d MHz of %d, %d °C, %.0f W of %.0f, %d processes computing", gpu.State.SMClock,
				gpu.Limits.SMClock,
				gpu.State.Temperature, gpu.State.Power, gpu.Limits.Power, len(gpu.Processes))
			for _, p := range gpu.Processes {
				state.Found += "; " + p.String()
			}
		}
		findings = append(findings, state, permission(fmt.Sprintf("GPU %d clocks", i), gpu.ClockLock))
	}
	return findings
}

func permission(name string, p monitor.Permission) platform.Finding {
	if p.Allowed {
		return platform.Finding{Name: name, Found: p.Reason}
	}
	return platform.Finding{Name: name, Advice: p.Reason}
}
