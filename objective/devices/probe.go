package devices

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"pawl/objective/cuda"
	"pawl/objective/cuda/driver"
	"pawl/objective/cuda/monitor"
	"pawl/objective/cuda/nvcc"
	"pawl/objective/host"
)

// Finding is one thing that was looked for.
type Finding struct {
	Name string `json:"name"`
	// Found says what is there, empty for nothing.
	Found string `json:"found,omitempty"`
	// Needed says that nothing works without it.
	Needed bool `json:"needed"`
	// Advice says what to do when it is missing.
	Advice string `json:"advice,omitempty"`
	// Details is more about what was found, for programs.
	Details any `json:"details,omitempty"`
}

// newFinding is what a search came to: a description, or the reason why nothing was
// found, which says what to do.
func newFinding(name, found string, err error) Finding {
	if err != nil {
		return Finding{Name: name, Advice: err.Error()}
	}
	return Finding{Name: name, Found: found}
}

// Probe looks for everything that can be used here. Usable says that kernels can be
// tuned, and gpu that CUDA kernels can.
func Probe(ctx context.Context, o Options) (findings []Finding, usable, gpu bool) {
	compiler, plusPlus := Finding{Name: "C compiler", Needed: true}, Finding{Name: "C++ compiler"}
	for finding, find := range map[*Finding]func(context.Context, func(string) string) (*host.Toolchain, error){
		&compiler: host.FindToolchain,
		&plusPlus: host.FindCPlusPlus,
	} {
		if toolchain, err := find(ctx, o.Getenv); err == nil {
			finding.Found = toolchain.Version
		} else {
			finding.Advice = err.Error()
		}
	}
	findings = []Finding{
		{
			Name:  "processor",
			Found: fmt.Sprintf("%s, %d cores, %s/%s", host.Processor(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH),
		},
		compiler, plusPlus,
		probeCache(o),
		probeProgram(ctx, "git", "install git to have commits recorded with results"),
	}
	onGPU, gpu := probeCUDA(ctx, o)
	usable = true
	for _, f := range findings {
		usable = usable && (f.Found != "" || !f.Needed)
	}
	return append(findings, onGPU...), usable, gpu
}

// probeCache makes sure that the cache can be written and says how much room there
// is.
func probeCache(o Options) Finding {
	f := Finding{Name: "compile cache", Needed: true}
	dir, err := o.CacheFolder()
	if err != nil {
		f.Advice = err.Error()
		return f
	}
	err = os.MkdirAll(dir, 0o755)
	if err == nil {
		var file *os.File
		if file, err = os.CreateTemp(dir, "doctor-"); err == nil {
			file.Close()
			os.Remove(file.Name())
		}
	}
	if err != nil {
		f.Advice = fmt.Sprintf("%v; name another folder with --cache", err)
		return f
	}
	f.Found = dir
	var disk unix.Statfs_t
	if unix.Statfs(dir, &disk) == nil {
		f.Found += fmt.Sprintf(", %.1f GB free", float64(disk.Bavail)*float64(disk.Bsize)/1e9)
	}
	return f
}

// probeProgram looks for a program and keeps the last line that it prints about its
// version.
func probeProgram(ctx context.Context, name, advice string) Finding {
	f := Finding{Name: name, Advice: advice}
	path, err := exec.LookPath(name)
	if err != nil {
		return f
	}
	f.Found = path
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if output, err := exec.CommandContext(ctx, name, "--version").Output(); err == nil {
		lines := strings.Split(strings.TrimSpace(string(output)), "\n")
		f.Found = lines[len(lines)-1]
	}
	return f
}

// probeCUDA looks for everything that tuning on a GPU needs or can use, and reports
// whether it is possible.
func probeCUDA(ctx context.Context, o Options) (findings []Finding, possible bool) {
	gpus, err := cuda.FindGPUs()
	inventory, watchErr := monitor.Devices()
	version := "for CUDA " + gpus.Driver
	if watchErr == nil {
		version = inventory.Driver + ", " + version
	}
	findings = append(findings, newFinding("NVIDIA driver", version, err))
	for i, gpu := range gpus.Devices {
		findings = append(findings, Finding{Name: fmt.Sprintf("GPU %d", i), Found: describe(gpu), Details: gpu})
	}
	for _, tool := range []struct {
		name string
		find func() (nvcc.Tool, error)
	}{
		{"nvcc", func() (nvcc.Tool, error) { return nvcc.Find(ctx, o.Getenv) }},
		{"NVRTC", func() (nvcc.Tool, error) { return nvcc.FindNVRTC(ctx, o.Getenv) }},
	} {
		found, toolErr := tool.find()
		if toolErr != nil {
			findings = append(findings, newFinding(tool.name, "", toolErr))
			continue
		}
		findings = append(findings, newFinding(tool.name, found.Version(), nil))
		possible = err == nil
	}
	findings = append(findings,
		probeProgram(ctx, "ncu", "install Nsight Compute to profile CUDA kernels"),
		probeProgram(ctx, "compute-sanitizer", "comes with the CUDA toolkit; finds memory errors in CUDA kernels"))
	if err == nil {
		findings = append(findings, probeStates(inventory, watchErr)...)
	}
	return findings, possible
}

func describe(a driver.Attributes) string {
	return fmt.Sprintf("%s, compute capability %d.%d, %d multiprocessors, %.0f GB, %.0f MB of L2, %d KB of shared "+
		"memory a block, %d MHz",
		a.Name, a.Major, a.Minor, a.Multiprocessors, float64(a.Memory)/1e9, float64(a.L2)/1e6, a.SharedPerBlock>>10,
		a.Clock/1000)
}

// probeStates says what this user may see and change of the GPUs.
func probeStates(inventory monitor.Inventory, err error) []Finding {
	if err != nil {
		return []Finding{newFinding("GPU state", "", err)}
	}
	findings := []Finding{permission("counters", monitor.CountersHere())}
	for i, gpu := range inventory.GPUs {
		state := Finding{Name: fmt.Sprintf("GPU %d state", i), Advice: gpu.Trouble, Details: gpu}
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

func permission(name string, p monitor.Permission) Finding {
	if p.Allowed {
		return Finding{Name: name, Found: p.Reason}
	}
	return Finding{Name: name, Advice: p.Reason}
}
