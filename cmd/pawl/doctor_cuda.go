package main

import (
	"context"
	"fmt"

	"pawl/objective/cuda"
	"pawl/objective/cuda/driver"
	"pawl/objective/cuda/monitor"
	"pawl/objective/cuda/nvcc"
)

// findCUDA looks for everything that tuning on a GPU needs or can use, and
// reports whether it is possible.
func findCUDA(ctx context.Context, env environment) (findings []finding, possible bool) {
	gpus, err := cuda.FindGPUs()
	found := finding{Name: "NVIDIA driver"}
	if err == nil {
		found.Found = "for CUDA " + gpus.Driver
	} else {
		found.Advice = err.Error()
	}
	inventory, watchErr := monitor.Devices()
	if watchErr == nil && err == nil {
		found.Found = inventory.Driver + ", " + found.Found
	}
	findings = append(findings, found)
	for i, gpu := range gpus.Devices {
		findings = append(findings, finding{Name: fmt.Sprintf("GPU %d", i), Found: describeGPU(gpu), Details: gpu})
	}
	compiler, compilerFound := findTool("nvcc", func() (nvcc.Tool, error) { return nvcc.Find(ctx, env.getenv) })
	runtime, runtimeFound := findTool("NVRTC", func() (nvcc.Tool, error) { return nvcc.FindNVRTC(ctx, env.getenv) })
	findings = append(findings, compiler, runtime,
		findProgram(ctx, "ncu", "--version", "install Nsight Compute to profile CUDA kernels"),
		findProgram(ctx, "compute-sanitizer", "--version", "comes with the CUDA toolkit; finds memory errors in CUDA kernels"))
	if err == nil {
		findings = append(findings, findWatch(inventory, watchErr)...)
	}
	return findings, err == nil && (compilerFound || runtimeFound)
}

func describeGPU(a driver.Attributes) string {
	return fmt.Sprintf("%s, compute capability %d.%d, %d multiprocessors, %.0f GB, %.0f MB of L2, %d KB of shared memory a block, %d MHz",
		a.Name, a.Major, a.Minor, a.Multiprocessors, float64(a.Memory)/1e9, float64(a.L2)/1e6, a.SharedPerBlock>>10, a.Clock/1000)
}

func findTool(name string, find func() (nvcc.Tool, error)) (finding, bool) {
	tool, err := find()
	if err != nil {
		return finding{Name: name, Advice: err.Error()}, false
	}
	return finding{Name: name, Found: tool.Version()}, true
}

// findWatch says what this user may see and change of the GPUs.
func findWatch(inventory monitor.Inventory, err error) []finding {
	if err != nil {
		return []finding{{Name: "GPU state", Advice: err.Error()}}
	}
	counters := monitor.CountersHere()
	findings := []finding{permission("counters", counters)}
	for i, gpu := range inventory.GPUs {
		state := finding{Name: fmt.Sprintf("GPU %d state", i), Details: gpu}
		if gpu.Trouble != "" {
			state.Advice = gpu.Trouble
		} else {
			state.Found = fmt.Sprintf("%d MHz of %d, %d °C, %.0f W of %.0f, %d processes computing", gpu.State.SMClock, gpu.Limits.SMClock,
				gpu.State.Temperature, gpu.State.Power, gpu.Limits.Power, len(gpu.Processes))
			for _, p := range gpu.Processes {
				state.Found += "; " + p.String()
			}
		}
		findings = append(findings, state, permission(fmt.Sprintf("GPU %d clocks", i), gpu.ClockLock))
	}
	return findings
}

func permission(name string, p monitor.Permission) finding {
	if p.Allowed {
		return finding{Name: name, Found: p.Reason}
	}
	return finding{Name: name, Advice: p.Reason}
}
