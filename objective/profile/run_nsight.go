package profile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pawl/internal/escape"
	"pawl/internal/process"
	"pawl/objective"
	"pawl/objective/cuda/nvcc"
	"pawl/objective/worker"
	"pawl/space"
)

// mostCSV is the most that is read of a printed report, in bytes. One launch is 150 KB.
const mostCSV = 16 << 20

// Nsight is Nsight Compute's program ncu.
type Nsight struct {
	Path string
	// Launch is how long the launch may take under ncu, which repeats it some forty times and
	// saves and restores what it writes in between. Zero means 3 minutes.
	Launch time.Duration
	// Start is how long the worker may take for each of its steps before the launch: under
	// ncu a context takes seconds. Zero means a minute.
	Start time.Duration
	// Print is how long ncu may take to print a report. Zero means a minute.
	Print time.Duration
}

// FindNsight looks for ncu on the path, in the toolkit and where Nsight Compute installs itself.
func FindNsight(getenv func(string) string) (Nsight, error) {
	if path, found := nvcc.FindProgram("ncu", getenv); found {
		return Nsight{Path: path}, nil
	}
	for _, pattern := range []string{"/opt/nvidia/nsight-compute/*/ncu", "/usr/local/cuda/nsight-compute*/ncu"} {
		if found, _ := filepath.Glob(pattern); len(found) > 0 { // the pattern is well formed
			slices.Sort(found)
			return Nsight{Path: found[len(found)-1]}, nil
		}
	}
	return Nsight{}, fmt.Errorf("%w: ncu is not here; it comes with the CUDA toolkit or as Nsight Compute: install it, "+
		"or put it on the path", objective.ErrNoProfiler)
}

// Profile runs a point of a kernel on a GPU once under ncu, which starts the worker that runs the kernel, and returns
// its counters. A failure is the point's own.
//
// The worker checks the point's result first and tells the driver then that profiling begins, launches the kernel once,
// and that it ends: of all launches in the process, fills, references and comparisons among them, ncu sees that one.
// The report stays in a file, which must end in .ncu-rep and which Nsight's own window opens; a second ncu prints it,
// in base units and without the machine's language.
func (n Nsight) Profile(ctx context.Context, on Subject, point space.Point, report string,
	o Options) (*Launch, *objective.Failure, error) {
	report, err := filepath.Abs(report)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(report), 0o755)
	}
	if err == nil {
		err = os.Remove(report) // what an earlier run has left is not this one's
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, nil, fmt.Errorf("the profiler's report: %w", err)
	}
	e := on.Beside(on.Backend.(objective.Profiling).Under(n.under(report, o.Caches, max(1, len(on.Kernel.Launch.Steps)))),
		objective.Options{Seed: o.Seed, RunTimeout: cmp.Or(n.Start, time.Minute), Caches: o.Caches})
	defer e.Close()
	prepared, err := e.Prepare(ctx, point)
	if err != nil {
		return nil, nil, err
	}
	profiled, err := e.Profile(ctx, prepared, cmp.Or(n.Launch, 3*time.Minute))
	switch {
	case ctx.Err() != nil:
		return nil, nil, context.Cause(ctx)
	case err != nil:
		return nil, nil, fmt.Errorf("%w: %s: %w", objective.ErrNoProfiler, n.Path, err)
	case profiled.Failure != nil:
		return nil, profiled.Failure, nil
	}
	if _, err := os.Stat(report); err != nil || profiled.Trouble != nil {
		return nil, nil, n.explain(profiled)
	}
	launch, err := n.Read(ctx, report)
	return launch, nil, err
}

// under is the command line that a worker is started with: only what lies between the calls
// that start and stop profiling, one launch of each step of the kernel, at the clocks that the
// device has when it is measured, with caches as they are then. A counter that ncu does not know it leaves out.
func (n Nsight) under(report string, caches worker.Caches, launches int) []string {
	control := "all" // flushed before every pass
	if caches == worker.Warm {
		control = "none"
	}
	return []string{
		n.Path, "--set", "full", "--metrics", strings.Join([]string{specials, conversions, integers, doubles}, ","),
		"--import-source", "no", "--profile-from-start", "off", "--launch-count",
		fmt.Sprint(launches),
		"--clock-control", "none", "--cache-control", control, "--export", report, "--force-overwrite",
	}
}

// Read returns the longest launch of a report file: a kernel of several steps is as slow as that one makes it.
func (n Nsight) Read(ctx context.Context, report string) (*Launch, error) {
	allowed := cmp.Or(n.Print, time.Minute)
	printed, said := &process.Output{Keep: mostCSV}, &process.Output{Keep: 4 << 10}
	_, err := process.Run(ctx, process.Command{
		Line:        []string{n.Path, "--import", report, "--page", "raw", "--csv", "--print-units", "base"},
		Environment: append(os.Environ(), "LC_ALL=C"), Stdout: printed, Stderr: said, Allowed: allowed,
	})
	switch {
	case errors.Is(err, process.ErrTime):
		return nil,
			fmt.Errorf("%w: %s did not print its report %s within %v", objective.ErrNoProfiler, n.Path, report, allowed)
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, fmt.Errorf("%w: %s cannot print its report %s: %w (it says %q)", objective.ErrNoProfiler, n.Path, report,
			err, telling(said.String()))
	}
	all, err := ReadNsight(printed.Bytes())
	if err != nil {
		return nil, fmt.Errorf("%w: what %s prints about %s: %w", objective.ErrNoProfiler, n.Path, report, err)
	}
	return Longest(all), nil
}

// noPermission is how the driver refuses performance counters.
const noPermission = "ERR_NVGPUCTRPERM"

func (n Nsight) explain(profiled objective.Profiled) error {
	if strings.Contains(profiled.Printed, noPermission) {
		return fmt.Errorf("%w: this user may not read the GPU's performance counters; load the driver with "+
			"NVreg_RestrictProfilingToAdminUsers=0, or run as root (a container needs CAP_SYS_ADMIN)", objective.ErrNoProfiler)
	}
	trouble := cmp.Or(profiled.Trouble, errors.New("it wrote no report"))
	return fmt.Errorf("%w: %s did not profile the launch: %w (it says %q)", objective.ErrNoProfiler, n.Path, trouble,
		telling(profiled.Printed))
}

// telling returns the line of ncu's output that says most: its last error, else its last warning, else the last line.
func telling(printed string) string {
	lines := strings.Split(strings.TrimSpace(printed), "\n")
	for _, prefix := range []string{"==ERROR==", "==WARNING=="} {
		for _, line := range slices.Backward(lines) {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, prefix) {
				return escape.Line(line)
			}
		}
	}
	return escape.Line(strings.TrimSpace(lines[len(lines)-1]))
}
