package command

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"pawl/internal/process"
	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/check"
	"pawl/objective/worker"
	"pawl/space"
)

const faults = `name: faults
params:
  MODE: {values: [good, none, endless, exits, unbuilt, wrong, killed, gone, daemon, flood, slow], default: good}
command:
  build: [sh, build.sh, "{MODE}", "{OUT}"]
  run: ["{OUT}/run", "{MODE}"]
  check: [sh, -c, "! grep -q wrong {STDOUT}"]
  timeouts: {build: 2s, run: 500ms, check: 5s}
  metrics: {value: {match: 'value (\S+)', unit: s}}
  minimize: value
`

const buildScript = `case $1 in
unbuilt) echo 'prog.c:1: error: no' >&2; exit 4 ;;
slow) sleep 100 ;;
gone) exit 0 ;;
esac
cp run.sh "$2/run"
chmod +x "$2/run"
`

// The daemon leaves its process group and its parent.
const runScript = `#!/bin/sh
case $1 in
good) echo value 5 ;;
none) echo nothing ;;
endless) sleep 100 & wait ;;
exits) echo 'oh no' >&2; exit 3 ;;
wrong) echo value 5 wrong ;;
killed) kill -9 $$ ;;
daemon) setsid sh -c 'sleep 100; echo value 7' >/dev/null 2>&1 </dev/null & echo value 5 ;;
flood) head -c 2000000 /dev/zero; echo value 5 ;;
esac
`

// open writes a kernel's files and returns its backend.
func open(t *testing.T, files map[string]string) (*kernels.Kernel, *Backend) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	k, err := kernels.Load(dir, kernels.Command)
	if err != nil {
		t.Fatal(err)
	}
	s, err := k.Space(k.Workloads[0])
	if err != nil {
		t.Fatal(err)
	}
	scratch := t.TempDir()
	b, err := New(k, k.Workloads[0], s, Options{Folder: scratch})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.Close()
		if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v %v", left, err)
		}
	})
	return k, b
}

// Each way in which a program can fail has its kind and a sentence.
func TestFaults(t *testing.T) {
	_, b := open(t, map[string]string{kernels.ManifestName: faults, "build.sh": buildScript, "run.sh": runScript})
	for _, c := range []struct {
		mode string
		kind worker.FaultKind
		say  string
	}{
		{"good", "", ""},
		{"none", NoMetric, `nothing that was printed matches value (\S+)`},
		{"endless", worker.Hung, "no end within 500ms"},
		{"exits", worker.Exited, `exit status 3 (it printed "oh no")`},
		{"wrong", check.WrongResult, "the check ended with exit status 1"},
		{"killed", worker.Crashed, "killed"},
		{"gone", CannotStart, "no such file"},
		{"daemon", "", ""},
		{"flood", NoMetric, "more than 1 MiB"},
	} {
		t.Run(c.mode, func(t *testing.T) {
			binary, failure, err := b.Compile(context.Background(), point(t, "MODE="+c.mode))
			if failure != nil || err != nil {
				t.Fatal(failure, err)
			}
			fault, err := b.Check(context.Background(), binary, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case c.kind == "" && fault != nil:
				t.Errorf("fails: %v", fault)
			case c.kind != "" && (fault == nil || fault.Kind != c.kind || !strings.Contains(fault.Explanation(), c.say)):
				t.Errorf("got %v, want %s: %s", fault, c.kind, c.say)
			}
		})
	}
	for mode, want := range map[string]string{
		"unbuilt": "compile error: the build ended with exit status 4 (it printed \"prog.c:1: error: no\")",
		"slow":    "compile timeout: the build did not end within 2s",
	} {
		_, failure, err := b.Compile(context.Background(), point(t, "MODE="+mode))
		if err != nil || failure == nil || !strings.Contains(failure.String(), want) {
			t.Errorf("%s: got %v, %v, want %s", mode, failure, err, want)
		}
	}
}

func point(t *testing.T, text string) space.Point {
	t.Helper()
	p, err := space.ParsePoint(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// What leaves its process group and outlives its parent is killed when the run ends.
func TestNothingIsLeftRunning(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("no setsid")
	}
	pid := filepath.Join(t.TempDir(), "pid")
	script := fmt.Sprintf(`setsid sh -c 'echo $$ > %s.new; mv %s.new %s; sleep 100' >/dev/null 2>&1 </dev/null & while [ ! -e %s ]; do sleep 0.01; done`, pid, pid, pid, pid)
	_, fault, err := Line{Command: process.Command{
		Line:        []string{"sh", "-c", script},
		Environment: os.Environ(),
		Allowed:     time.Minute,
	}}.Run(context.Background())
	if fault != nil || err != nil {
		t.Fatal(fault, err)
	}
	content, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	for range 500 {
		if _, err := os.Stat("/proc/" + strings.TrimSpace(string(content))); err != nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %s still runs", content)
}

// A secret of this process's environment does not reach a program; what the manifest says does.
func TestEnvironment(t *testing.T) {
	t.Setenv("SECRET_TOKEN", "secret")
	_, b := open(t, map[string]string{kernels.ManifestName: `name: env
params: {N: {values: [3, 4], default: 3}}
let: {DOUBLE: 2 * N}
command:
  run: [sh, -c, 'test "$SECRET_TOKEN$COUNT" = 36 && echo {{N}} $0', "{DOUBLE}"]
  env: {COUNT: "{N}{DOUBLE}"}
  check: [grep, -x, "{{N}} 6"]
`})
	binary, failure, err := b.Compile(context.Background(), point(t, "N=3"))
	if failure != nil || err != nil {
		t.Fatal(failure, err)
	}
	if fault, err := b.Check(context.Background(), binary, time.Minute); fault != nil || err != nil {
		t.Fatal(fault, err)
	}
}

// Points that run the same are one: they are built once and have one digest.
func TestSamePrograms(t *testing.T) {
	_, b := open(t, map[string]string{kernels.ManifestName: `name: same
params: {N: {values: [3, 4], default: 3}, UNUSED: {values: [1, 2], default: 1}}
command: {run: [echo, "{N}"]}
`})
	digests := map[string]bool{}
	for _, text := range []string{"N=3,UNUSED=1", "N=3,UNUSED=2", "N=4,UNUSED=1"} {
		binary, failure, err := b.Compile(context.Background(), point(t, text))
		if failure != nil || err != nil {
			t.Fatal(failure, err)
		}
		digests[binary.Digest] = true
	}
	if len(digests) != 2 {
		t.Errorf("%d digests, want 2", len(digests))
	}
}

// The evaluator takes a program through the same stages as a kernel, and scores it.
func TestEvaluator(t *testing.T) {
	k, b := open(t, map[string]string{kernels.ManifestName: `name: rated
params: {STEP: {values: [1, 2], default: 1}}
maximize: rate * STEP
require: [rate < 150]
command:
  run: [sh, -c, "echo rate: {STEP}00"]
  metrics: {rate: {match: 'rate: ([0-9.]+)', unit: MB/s}}
`})
	e := objective.NewEvaluator(k, k.Workloads[0], b, objective.Options{})
	defer e.Close()
	measure := func(text string) objective.Outcome {
		t.Helper()
		p, err := e.Prepare(context.Background(), point(t, text))
		if err != nil {
			t.Fatal(err)
		}
		o, err := e.Measure(context.Background(), p, 0)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	// 1 / (100 · 1), because more is better.
	if o := measure("STEP=1"); o.Failure != nil || o.Milliseconds() != 0.01 || o.Measured["rate"] != 100 ||
		!(o.Measured["time"] > 0) {
		t.Errorf("got %+v", o)
	}
	if o := measure("STEP=2"); o.Failure == nil ||
		o.Failure.String() != "bench: requirement not met: require rate < 150: rate is 200 MB/s" {
		t.Errorf("got %+v", o.Failure)
	}
}

func TestExtract(t *testing.T) {
	match := kernels.Metric{Name: "m", Match: regexp.MustCompile(`took ([^ ]+) s`), Unit: "s"}
	field := kernels.Metric{Name: "m", JSON: "runs.0.rate"}
	for _, c := range []struct {
		metric kernels.Metric
		output string
		want   float64
		err    string
	}{
		{match, "it took 0.25 s\n", 250, ""}, // seconds become milliseconds
		{match, "it took 1e3 s", 1e6, ""},
		{match, "nothing", 0, "nothing that was printed matches"},
		{match, "took 1 s took 2 s", 0, "it was printed 2 times (1, then 2)"},
		{match, "took x s", 0, `"x" is no number`},
		{match, "took NaN s", 0, "is no number"},
		{field, `{"runs": [{"rate": 7}]}`, 7, ""},
		{field, "log\n{\"runs\": [{\"rate\": \"7.5\"}]}\nmore", 7.5, ""},
		{field, "{\n \"runs\": [{\"rate\": 7}]\n}\n", 7, ""},
		{field, `{"runs": []}`, 0, "no JSON that was printed has a field runs.0.rate"},
		{field, `{"runs": [{"rate": {"x": 1}}]}`, 0, `the field runs.0.rate is {"x": 1} and no number`},
		{field, "{\"runs\": [{\"rate\": 1}]}\n{\"runs\": [{\"rate\": 2}]}", 0, "2 times"},
		{field, "", 0, "no JSON"},
	} {
		got, err := Extract(c.metric, []byte(c.output))
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q: got %v, %v, want %v, %s", c.output, got, err, c.want, c.err)
		}
	}
}

func FuzzExtract(f *testing.F) {
	f.Add([]byte(`{"runs": [{"rate": 7}]}`), "runs.0.rate")
	f.Add([]byte("[1, 2"), "0")
	f.Fuzz(func(t *testing.T, output []byte, path string) {
		if value, err := Extract(kernels.Metric{Name: "m", JSON: path}, output); err == nil && value != value {
			t.Error("not a number")
		}
	})
}

// The figures of runs that are known: nine of 10 ms and one of 60.
func TestSummary(t *testing.T) {
	m := &Measurement{Times: []float64{0.0600, 0.0100, 0.0101, 0.0099, 0.0100, 0.0102, 0.0098, 0.0100, 0.0101, 0.0099}}
	m.summarise()
	if m.Median != 0.01 || m.Min != 0.0098 || m.Max != 0.06 || m.Outliers != 1 {
		t.Errorf("got %+v", m)
	}
	text := m.Text()
	for _, want := range []string{"10 ms, 95 % interval", "over 10 runs", "the first run took much longer", "--warmup 3",
		"1 run is far slower"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// Rounds in which the machine is slow are slow for both: 2 to 1 in each.
func TestRatio(t *testing.T) {
	slow, fast := &Measurement{}, &Measurement{}
	for i := range 12 {
		unit := 0.01 * float64(1+i%3)
		slow.Times, fast.Times = append(slow.Times, 2*unit), append(fast.Times, unit)
	}
	slow.summarise()
	fast.summarise()
	rank([]*Measurement{slow, fast})
	interval := slow.RatioInterval
	if fast.Ratio != nil || math.Abs(*slow.Ratio-2) > 1e-9 || interval.Low < 1.99 || interval.High > 2.01 {
		t.Errorf("%+v, %+v", slow, fast)
	}
	if text := slow.Text(); !strings.Contains(text, "takes 2.00× the time of the fastest, 95 % interval 2.00 to 2.00") {
		t.Error(text)
	}
}

// A program that removes its job's file has failed, and the study goes on. Where it is restricted, it cannot do that.
func TestAProgramThatRemovesItsJobFails(t *testing.T) {
	files := map[string]string{kernels.ManifestName: strings.Replace(faults, "slow]", "slow, removes]", 1),
		"build.sh": buildScript, "run.sh": strings.Replace(runScript, "good)", `removes) rm -r "${0%/out/run}/job.json"; echo value 5 ;;
good)`, 1)}
	k, b := open(t, files)
	e := objective.NewEvaluator(k, k.Workloads[0], b, objective.Options{})
	t.Cleanup(e.Close)
	removed := objective.Damaged
	if process.Restricts() == nil {
		removed = ""
	}
	for mode, want := range map[string]string{"removes": removed, "good": ""} {
		prepared, err := e.Prepare(t.Context(), point(t, "MODE="+mode))
		if err != nil {
			t.Fatal(err)
		}
		outcome, err := e.Measure(t.Context(), prepared, 0)
		reason := ""
		if outcome.Failure != nil {
			reason = outcome.Failure.Reason
		}
		if err != nil || reason != want {
			t.Errorf("%s: %v, %v", mode, outcome.Failure, err)
		}
	}
}

// Neither a build nor a run reaches its check, the kernel's folder or this process; both have their own folder and one
// for temporary files. Where the system does not restrict them, a check that has changed ends the run.
func TestProgramsCannotChangeTheirCheck(t *testing.T) {
	attack := func(then string) string {
		return "#!/bin/sh\n{ echo exit 0 > check.sh; rm reference; touch /dev/shm/pawl-test; " +
			"cat /proc/$PPID/environ > \"$1/stolen\"; } 2>/dev/null\n[ -w \"$TMPDIR\" ] && mktemp >/dev/null && " + then
	}
	t.Setenv("GITHUB_TOKEN", "never-to-be-seen")
	k, b := open(t, map[string]string{kernels.ManifestName: `
name: attack
params: {MODE: {values: [1, 2], default: 1}}
command:
  build: [sh, build.sh, "{OUT}"]
  run: [sh, run.sh, "{OUT}"]
  check: [sh, check.sh, "{OUT}"]
  files: [reference]
`, "build.sh": attack(`echo built > "$1/built"`), "run.sh": attack(`cat "$1/built"`), "reference": "built\n",
		"check.sh": `grep -q never-to-be-seen "$1/stolen" && exit 3; cmp "$1/built" reference`})
	defer os.Remove("/dev/shm/pawl-test")
	e := objective.NewEvaluator(k, k.Workloads[0], b, objective.Options{})
	t.Cleanup(e.Close)
	prepared, err := e.Prepare(t.Context(), point(t, "MODE=1"))
	if err == nil && prepared.Failure == nil {
		var outcome objective.Outcome
		outcome, err = e.Measure(t.Context(), prepared, 0)
		if err == nil && outcome.Failure != nil {
			t.Fatal(outcome.Failure)
		}
	}
	if process.Restricts() != nil {
		if err == nil || !strings.Contains(err.Error(), "has changed since this run began") {
			t.Errorf("the check was changed: %v", err)
		}
		return
	}
	if _, shared := os.Stat("/dev/shm/pawl-test"); err != nil || prepared.Failure != nil || shared == nil {
		t.Errorf("%v, %v, shared memory: %v", err, prepared.Failure, shared)
	}
	// What somebody else does to the check is found before it decides again.
	if err := os.WriteFile(filepath.Join(k.Dir, "check.sh"), []byte("exit 0"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Measure(t.Context(), prepared, 0); err == nil ||
		!strings.Contains(err.Error(), "check.sh, which checks results, has changed since this run began") {
		t.Error(err)
	}
}
