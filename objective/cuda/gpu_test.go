package cuda

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pawl/internal/stats"
	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/cache"
	"pawl/objective/cuda/monitor"
	"pawl/objective/cuda/nvcc"
	"pawl/objective/worker"
)

// The tests in this file need a GPU with its driver and compiler, and nothing
// else: the binary holds its own data. Built with go test -c, it runs anywhere:
//
//	cuda.test -test.run GPU -test.v
//
// requireVariable makes a missing GPU an error, where there should be one.
const requireVariable = "PAWL_REQUIRE_GPU"

//go:embed testdata/planted
var planted embed.FS

// realBackend opens a backend on the machine's own GPU.
func realBackend(ctx context.Context, k *kernels.Kernel, w kernels.Workload, compiled string) (*Backend, error) {
	gpus, err := FindGPUs()
	if err != nil {
		return nil, err
	}
	tool, err := nvcc.Find(ctx, os.Getenv)
	if err != nil {
		return nil, err
	}
	kept, err := cache.Open(compiled)
	if err != nil {
		return nil, err
	}
	return New(ctx, k, w, Options{Cache: kept, Tool: tool, GPUs: gpus})
}

// requireGPU skips a test where there is no GPU or no compiler.
func requireGPU(t *testing.T) {
	t.Helper()
	_, err := FindGPUs()
	if err == nil {
		_, err = nvcc.Find(t.Context(), os.Getenv)
	}
	switch {
	case err == nil:
	case os.Getenv(requireVariable) != "":
		t.Fatalf("%s is set: %v", requireVariable, err)
	default:
		t.Skip("needs a GPU: ", err)
	}
}

// newRealRig is a rig on the machine's own GPU. It has no ledgers.
func newRealRig(t *testing.T, k *kernels.Kernel, workload string, options objective.Options) *rig {
	t.Helper()
	requireGPU(t)
	r := &rig{t: t, kernel: k}
	var err error
	if r.workload, err = k.Workload(workload); err != nil {
		t.Fatal(err)
	}
	if r.backend, err = realBackend(t.Context(), k, r.workload, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	r.Evaluator = objective.NewEvaluator(k, r.workload, r.backend, options)
	t.Cleanup(r.Close)
	return r
}

// plantedKernel unpacks the kernel with the faults.
func plantedKernel(t *testing.T) *kernels.Kernel {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "planted")
	folder, err := fs.Sub(planted, "testdata/planted")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, folder); err != nil {
		t.Fatal(err)
	}
	k, err := kernels.Load(dir, kernels.CUDA)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestGPUPlantedFaults(t *testing.T) {
	requireGPU(t)
	r := newRealRig(t, plantedKernel(t), "", objective.Options{RunTimeout: 5 * time.Second})
	r.passes("")
	for _, test := range []struct {
		point   string
		stage   objective.Stage
		reasons []string // any of them; the empty one is none at all
	}{
		{"FAULT=ILLEGAL_ADDRESS", objective.Fuzz, []string{string(worker.IllegalAddress)}},
		{"FAULT=MISALIGNED", objective.Fuzz, []string{string(worker.MisalignedAccess)}},
		{"FAULT=INFINITE_LOOP", objective.Fuzz, []string{string(worker.Hung)}},
		{"FAULT=ASSERTION", objective.Fuzz, []string{string(worker.Asserted)}},
		// Drivers call a trap an illegal instruction or a launch that failed.
		{"FAULT=TRAP", objective.Fuzz, []string{string(worker.LaunchFailed), string(worker.Trapped)}},
		// The stacks of all threads that a GPU can hold take 480 KB each: whether
		// it has so much depends on the GPU.
		{"FAULT=HUGE_STACK", objective.Fuzz, []string{string(worker.NoMemory), string(worker.Refused), ""}},
		{"FAULT=WRONG_RESULT", objective.Fuzz, []string{objective.WrongResult}},
		{"FAULT=PAST_THE_END", objective.Fuzz, []string{string(worker.OutOfBounds)}},
		{"SHARED=300000", objective.Preflight, []string{objective.Infeasible}},
		{"SHARED=200000,STATIC_SHARED=40000", objective.Preflight, []string{objective.Infeasible}},
		{"STATIC_SHARED=60000", objective.Compile, []string{objective.CompileError}},
		{"SHARED=65536", "", []string{""}},
		{"SHARED=200000", "", []string{""}},
	} {
		failure := r.measure(test.point).Failure
		began := time.Now()
		r.passes("")
		t.Logf("%s: %v; healthy again after %v", test.point, failure, time.Since(began).Round(time.Millisecond))
		reason := ""
		if failure != nil {
			reason = failure.Reason
		}
		if !slices.Contains(test.reasons, reason) || failure != nil && failure.Stage != test.stage {
			t.Errorf("%s: got %v, want %s: %q", test.point, failure, test.stage, test.reasons)
		}
	}
}

// What is timed is what is right, on a real GPU as on the imaginary one.
func TestGPUCheats(t *testing.T) {
	requireGPU(t)
	k := plantedKernel(t)
	for _, caches := range []worker.Caches{worker.Cold, worker.Warm, worker.Flushed} {
		r := newRealRig(t, k, "", objective.Options{Caches: caches})
		for range 5 {
			r.passes("")
		}
		for _, fault := range []string{"BY_COUNT", "BY_TIME", "BY_POINTER", "OWN_OUTPUT", "NO_POISON", "IN_A_GRAPH"} {
			if caches != worker.Cold && (fault == "BY_POINTER" || fault == "IN_A_GRAPH") {
				continue // one output has one pointer; a graph of one launch looks like none
			}
			if caches == worker.Flushed && fault == "BY_COUNT" {
				continue // it does not come to 300 launches
			}
			failure := r.measure("FAULT=" + fault).Failure
			t.Logf("%s, %s: %v", caches, fault, failure)
			if failure == nil {
				t.Errorf("%s passes with caches %s", fault, caches)
			}
			r.passes("")
		}
	}
}

// The limits of the backend keep such launches away from the driver; it must
// refuse them all the same.
func TestGPURefusesTooMuch(t *testing.T) {
	requireGPU(t)
	r := newRealRig(t, plantedKernel(t), "", objective.Options{})
	good := r.load(r.prepare(""), 1000)
	for name, change := range map[string]func(*kernels.LaunchDimensions){
		"shared memory": func(d *kernels.LaunchDimensions) { d.Shared = 300000 },
		"threads":       func(d *kernels.LaunchDimensions) { d.Block[0] = 2048 },
		"blocks":        func(d *kernels.LaunchDimensions) { d.Grid[1] = 65536 },
	} {
		slot, err := r.backend.Reserve(t.Context(), r.kernel.Default())
		if err != nil {
			t.Fatal(err)
		}
		client, err := worker.Start(slot.Worker)
		if err != nil {
			t.Fatal(err)
		}
		load := good
		load.Calls = slices.Clone(load.Calls)
		change(&load.Calls[0].LaunchDimensions)
		err = client.Load(t.Context(), load)
		if err == nil {
			_, err = client.Run(t.Context(), worker.Run{})
		}
		fault, ours := err.(*worker.Fault)
		if !ours || fault.Kind != worker.Refused {
			t.Errorf("%s: %v", name, err)
		}
		client.Close()
		slot.Release()
	}
}

func TestGPUSupportCode(t *testing.T) {
	requireGPU(t)
	trySupport(t, newRealRig(t, plantedKernel(t), "", objective.Options{}))
}

// memoryUsed is what the management library says about a GPU.
func memoryUsed(t *testing.T, uuid string) uint64 {
	t.Helper()
	inventory, err := monitor.Devices()
	if err != nil {
		t.Skip("nobody counts the memory: ", err)
	}
	for _, gpu := range inventory.GPUs {
		if gpu.UUID == uuid {
			return gpu.MemoryUsed
		}
	}
	t.Skip("the management library does not know ", uuid)
	return 0
}

func TestGPUThousandTrials(t *testing.T) {
	requireGPU(t)
	r := newRealRig(t, plantedKernel(t), "", objective.Options{Stopping: objective.Stopping{Most: 5}})
	points := []objective.Prepared{r.prepare(""), r.prepare("UNROLL=4")}
	uuid := r.backend.gpus[0].UUID
	var settled uint64
	began := time.Now()
	for trial := range 1000 {
		outcome, err := r.Measure(t.Context(), points[trial%2], 0)
		if err != nil || outcome.Failure != nil {
			t.Fatalf("trial %d: %v, %v", trial, outcome.Failure, err)
		}
		if trial == 20 {
			settled = memoryUsed(t, uuid)
		}
	}
	last := memoryUsed(t, uuid)
	t.Logf("%v per trial; %d MiB after 20 trials, %d MiB after 1000", time.Since(began)/1000, settled>>20, last>>20)
	// The driver hands memory out in pieces of 2 MiB.
	if last > settled+4<<20 {
		t.Errorf("the memory grew from %d to %d bytes", settled, last)
	}
	if workers := childrenOf(t, os.Getpid()); len(workers) != 1 {
		t.Errorf("%d workers", len(workers))
	}
}

// childrenOf lists the processes that a process has started and that run.
func childrenOf(t *testing.T, parent int) []int {
	t.Helper()
	entries, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var children []int
	for _, path := range entries {
		content, err := os.ReadFile(path)
		if err != nil {
			continue // gone
		}
		var pid, its int
		var state byte
		name := bytes.LastIndexByte(content, ')')
		if _, err := fmt.Sscan(filepath.Base(filepath.Dir(path)), &pid); err != nil || name < 0 {
			continue
		}
		if _, err := fmt.Sscanf(string(content[name+1:]), " %c %d", &state, &its); err == nil && its == parent &&
			state != 'Z' {
			children = append(children, pid)
		}
	}
	return children
}

// Where a process lays its buffers is worth up to a per cent, so that figures are
// medians over five processes, as those of pawl bench are: ten single processes
// were 1.01 % apart on an H200, and medians of five should be half as far.
func TestGPUProcessesAgree(t *testing.T) {
	requireGPU(t)
	const figures, processes = 4, 5
	compiled := t.TempDir()
	var all, medians []float64
	for range figures {
		var times []float64
		for range processes {
			times = append(times, inProcess(t, compiled))
		}
		all = append(all, times...)
		medians = append(medians, stats.Median(times))
	}
	t.Logf("medians of %d processes are %.2f %% apart, single ones %.2f %%", processes, apart(medians), apart(all))
	if apart(medians) > 1 {
		t.Errorf("medians of %d processes do not agree: %.5v ms, of %.5v ms", processes, medians, all)
	}
}

// apart is how far the largest is above the smallest, in per cent.
func apart(values []float64) float64 {
	return 100 * (slices.Max(values)/slices.Min(values) - 1)
}

// inProcess measures the point in a process of its own.
func inProcess(t *testing.T, compiled string) (milliseconds float64) {
	t.Helper()
	command := roleCommand("point", []string{compiledVariable + "=" + compiled})
	command.Stderr = os.Stderr
	output, err := command.Output()
	if err == nil {
		err = json.Unmarshal(output, &milliseconds)
	}
	if err != nil {
		t.Fatal(err)
	}
	return milliseconds
}

// What no result shows, the tools see: each plants a fault for one of them, and
// the kernel without one is clean under all.
func TestGPUSanitizer(t *testing.T) {
	requireGPU(t)
	k := plantedKernel(t)
	r := newRealRig(t, k, "", objective.Options{})
	for _, point := range []string{"FAULT=READ_PAST_THE_END", "FAULT=RACE", "FAULT=UNINITIALISED", "FAULT=DIVERGENT"} {
		if failure := r.measure(point).Failure; failure != nil {
			t.Errorf("%s shows without a tool: %v", point, failure)
		}
	}
	tools, err := r.backend.Sanitized(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	faults := map[string]string{
		"memcheck": "FAULT=READ_PAST_THE_END", "racecheck": "FAULT=RACE", "initcheck": "FAULT=UNINITIALISED",
		"synccheck": "FAULT=DIVERGENT",
	}
	for _, tool := range tools {
		e := objective.NewEvaluator(k, r.workload, tool.Backend, objective.Options{RunTimeout: time.Minute})
		defer e.Close()
		name := tool.Name[strings.LastIndex(tool.Name, " ")+1:]
		for _, point := range []string{"", faults[name]} {
			p := r.prepare(point)
			began := time.Now()
			found, err := e.Tester.Try(t.Context(), p, slices.Values(e.Tester.QuickCases(p.Point)[:2]), nil)
			t.Logf("%s: %q: %v after %v", name, point, found.Failure, time.Since(began).Round(time.Millisecond))
			if err != nil {
				t.Errorf("%s: %q: %v", name, point, err)
			}
			if reported := found.Failure != nil && found.Failure.Reason == string(worker.SanitizerFinding); reported !=
				(point != "") {
				t.Errorf("%s: %q: %v", name, point, found.Failure)
			}
		}
	}
}
