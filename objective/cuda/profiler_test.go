package cuda

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pawl/internal/kerneltest"
	"pawl/objective"
	"pawl/objective/profile"
)

// A report as ncu prints it.
const printedReport = `"ID","Kernel Name","gpu__time_duration.sum","dram__bytes_read.sum"
"","","ns","byte"
"0","add","12,500","1,024,500,000"
`

// fakeNsight is a program that passes for ncu: it runs its command line like ncu, writes the
// file that it was told to export to, and prints a report when it is asked for one.
func fakeNsight(t *testing.T, after, prints string) profile.Nsight {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "report.csv"), []byte(printedReport), 0o644); err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf(`#!/bin/sh
here=%s
if [ "$1" = --import ]; then %s; exit; fi
echo "$*" > "$here/line"
while [ "${1#--}" != "$1" ]; do
	[ "$1" = --export ] && out=$2
	[ "$1" = --force-overwrite ] && shift || shift 2
done
echo "==PROF== Connected to process $$"
"$@"
status=$?
%s
`, folder, prints, after)
	path := filepath.Join(folder, "ncu")
	if err := kerneltest.WriteProgram(path, script); err != nil {
		t.Fatal(err)
	}
	return profile.Nsight{Path: path}
}

const (
	writes = `echo report > "$out"`
	shows  = `cat "$here/report.csv"`
)

// profiling is a rig whose workers can be started by a tool.
type profiling struct{ elsewhere }

func (p profiling) Under(tool []string) objective.Backend {
	copied := *p.rig
	copied.backend = p.backend.Under(tool).(*Backend)
	return elsewhere{&copied}
}

func (r *rig) profiled() profile.Subject {
	return profile.Subject{
		Kernel: r.kernel, Workload: r.workload, Backend: profiling{elsewhere{r}}, Evaluator: r.Evaluator,
	}
}

func profileOnce(t *testing.T, r *rig, program profile.Nsight, at,
	report string) (*profile.Launch, *objective.Failure, error) {
	t.Helper()
	return program.Profile(t.Context(), r.profiled(), r.at(at), report, profile.Options{})
}

// The profiler sees one launch of all that the worker makes, and its report stays.
func TestProfileOneLaunch(t *testing.T) {
	t.Parallel()
	r := newRig(t, settings{})
	report := filepath.Join(t.TempDir(), "new", "point.ncu-rep")
	program := fakeNsight(t, writes, shows)
	launch, failure, err := profileOnce(t, r, program, "", report)
	if err != nil || failure != nil {
		t.Fatal(failure, err)
	}
	if got := launch.Metrics["gpu__time_duration.sum"]; got != 12.5e-6 {
		t.Errorf("the time is %v", got)
	}
	if got := launch.Metrics["dram__bytes_read.sum"]; got != 1024.5e6 {
		t.Errorf("%v bytes", got)
	}
	if _, err := os.Stat(report); err != nil {
		t.Error(err)
	}
	profiled, others := int64(0), int64(0)
	for _, book := range r.books() {
		profiled, others = profiled+book.Profiled, others+book.Launches-book.Profiled
	}
	if profiled != 1 || others < 3 {
		t.Errorf("%d launches were profiled, %d were not; want 1, and the check's", profiled, others)
	}
	line, err := os.ReadFile(filepath.Join(filepath.Dir(program.Path), "line"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"--profile-from-start off", "--launch-count 1", "--cache-control all",
		"--export " + report} {
		if !strings.Contains(string(line), want) {
			t.Errorf("no %s in %s", want, line)
		}
	}
}

// Whatever a profiler does, the answer is a sentence that says what to do, and no process is
// left behind.
func TestProfilerThatFails(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ after, prints, want string }{
		"no permission":    {`echo "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters"; exit 1`, shows, "NVreg_RestrictProfilingToAdminUsers=0"},
		"nothing profiled": {`echo "==WARNING== No kernels were profiled."`, shows, "No kernels were profiled"},
		"dies":             {writes + `; kill -KILL $$`, shows, "killed"},
		"fails":            {writes + `; echo "==ERROR== Failed to save"; exit 3`, shows, "Failed to save"},
		"prints nothing":   {writes, `true`, "no launch"},
		"prints garbage":   {writes, `head -c 100000 /dev/urandom`, "no launch"},
		"cannot print":     {writes, `echo "==ERROR== bad file" >&2; exit 1`, "bad file"},
		"hangs at print":   {writes, `sleep 1000`, "did not print"},
		"goes on":          {writes + `; sleep 1000`, shows, "went on"},
		"hangs":            {"", shows, "no answer after"},
		"never starts":     {"", shows, "The target is not supported"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program := fakeNsight(t, test.after, test.prints)
			if script, other := map[string]string{
				"never starts": "#!/bin/sh\necho '==ERROR== The target is not supported'\nexit 1\n",
				"hangs":        "#!/bin/sh\nsleep 1000\n",
			}[name]; other {
				if err := kerneltest.WriteProgram(program.Path, script); err != nil {
					t.Fatal(err)
				}
			}
			program.Launch = 10 * time.Second
			switch name { // what shall take long is not waited for
			case "goes on":
				program.Launch = 3 * time.Second
			case "hangs":
				program.Start = time.Second
			case "hangs at print":
				program.Print = time.Second
			}
			_, failure, err := profileOnce(t, newRig(t, settings{}), program, "", filepath.Join(t.TempDir(), "x.ncu-rep"))
			if failure != nil || !errors.Is(err, objective.ErrNoProfiler) || !strings.Contains(fmt.Sprint(err), test.want) {
				t.Errorf("%v, %v; want %q", failure, err, test.want)
			}
		})
	}
}

// Wrong results are not explained.
func TestWrongPointIsNotProfiled(t *testing.T) {
	t.Parallel()
	r := newRig(t, settings{})
	launch, failure, err := profileOnce(t, r, fakeNsight(t, writes, shows), "MODE=wrong",
		filepath.Join(t.TempDir(), "x.ncu-rep"))
	if launch != nil || failure == nil || failure.Reason != objective.WrongResult || err != nil {
		t.Errorf("%v, %v, %v", launch, failure, err)
	}
	for _, book := range r.books() {
		if book.Profiled != 0 {
			t.Error("a wrong kernel was profiled")
		}
	}
}

// The user stops it: that is no trouble of the profiler's.
func TestStoppedProfile(t *testing.T) {
	t.Parallel()
	r := newRig(t, settings{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := fakeNsight(t, writes, shows).Profile(ctx, r.profiled(), r.at(""),
		filepath.Join(t.TempDir(), "x.ncu-rep"), profile.Options{})
	if !errors.Is(err, context.Canceled) || errors.Is(err, objective.ErrNoProfiler) {
		t.Errorf("got %v", err)
	}
}
