package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"pawl/cmd/pawl/console"
	"pawl/internal/page"
	"pawl/internal/thorough"
	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/worker"
	"pawl/search/confirm"
	"pawl/search/replay"
	"pawl/search/trial"
	"pawl/space"
	"pawl/studies"
)

// kills is how often a study is killed.
var kills = flag.Int("kills", thorough.Count(2, 100),
	"how many times TestKillAnywhereAndResume kills the program, and how many compilers and workers")

// asPawl returns this test binary as the program, in a folder.
func asPawl(t *testing.T, dir string, arguments ...string) *exec.Cmd {
	t.Helper()
	// testscript runs the command that the binary is named after.
	program := filepath.Join(dir, "pawl")
	if _, err := os.Lstat(program); err != nil {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(self, program); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(program, arguments...)
	cmd.Args[0] = "pawl"
	cmd.Dir = dir
	// A compiler that is killed leaves its temporary files behind.
	temporary := filepath.Join(dir, ".tmp")
	if err := os.MkdirAll(temporary, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+filepath.Join(dir, ".cache"), "TMPDIR="+temporary, "GITHUB_BASE_REF=")
	return cmd
}

// writeRecord makes a recorded space of 600 points to search.
func writeRecord(t *testing.T, path string) {
	t.Helper()
	record := &replay.Record{Kernel: "recorded", Workload: "w", DefaultKnown: true}
	rng := rand.New(rand.NewPCG(3, 4))
	sizes := []int64{5, 5, 4, 6}
	for i, name := range []string{"A", "B", "C", "D"} {
		p := space.Param{Name: name, Ordered: true}
		for v := range sizes[i] {
			p.Values = append(p.Values, space.IntegerValue(v))
		}
		p.Default = p.Values[0]
		record.Params = append(record.Params, p)
	}
	for i := range 600 {
		a, b, c, d := i%5, i/5%5, i/25%4, i/100
		point, err := space.ParsePoint(fmt.Sprintf("A=%d,B=%d,C=%d,D=%d", a, b, c, d))
		if err != nil {
			t.Fatal(err)
		}
		entry := replay.Entry{Point: point}
		for range 8 {
			entry.Samples = append(entry.Samples,
				float64(10+(a-3)*(a-3)+(b-1)*(b-1)+2*(c-2)*(c-2)+(d-4)*(d-4))*(1+0.01*rng.Float64()))
		}
		entry.Milliseconds = entry.Samples[0]
		record.Entries = append(record.Entries, entry)
	}
	if err := page.WriteFile(path, record.Write); err != nil {
		t.Fatal(err)
	}
}

func readPast(t *testing.T, dir string, id int64) trial.Past {
	t.Helper()
	store, err := studies.Open(t.Context(), filepath.Join(dir, "tuning", kernels.DatabaseName))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if store.SetAside != "" {
		t.Fatal("the database was damaged")
	}
	past, err := store.Past(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	return past
}

// The program is killed at random instants and resumed, over and over, and so are its compilers and its workers while
// it runs: no trial that was reported done is lost, none is measured twice, none fails by it, and the study ends as if
// it had never been disturbed.
func TestKillAnywhereAndResume(t *testing.T) {
	t.Parallel()
	t.Run("the program", killTheProgram)
	t.Run("compilers and workers", killCompilersAndWorkers)
}

func killTheProgram(t *testing.T) {
	t.Parallel()
	arguments := []string{"tune", "--backend", "replay", "--record", "record.json", "--trials", "80", "--rounds", "10",
		"--seed", "7", "--sampler", "evolve"}
	calm := t.TempDir()
	writeRecord(t, filepath.Join(calm, "record.json"))
	began := time.Now()
	if output, err := asPawl(t, calm, arguments...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	whole := time.Since(began)
	want := readPast(t, calm, 1)

	rng := rand.New(rand.NewPCG(uint64(*kills), 99))
	killed := 0
	for killed < *kills {
		dir := t.TempDir()
		writeRecord(t, filepath.Join(dir, "record.json"))
		for finished := false; !finished; {
			reported, done := runAndKill(t, asPawl(t, dir, append(arguments, "--resume")...),
				time.Duration(rng.Int64N(int64(whole))))
			finished = done
			if !done {
				killed++
			}
			if len(reported) == 0 {
				continue
			}
			past := readPast(t, dir, 1)
			for _, number := range reported {
				if number >= len(past.Trials) || !past.Trials[number].Finished {
					t.Fatalf("trial %d was reported done and is lost", number)
				}
			}
		}
		compareStudies(t, readPast(t, dir, 1), want)
	}
	t.Logf("%d kills", killed)
}

// fourKinds adds numbers in a time that depends on WASTE alone, by many times, and some of its points do not compile or
// crash. Each is another binary. The includes keep the compiler busy for as long as it takes to be found and killed.
var fourKinds = map[string]string{
	"kernel.yaml": `
name: add
entry: add
source: {host: add.c}
reference: {host: reference.c}
params:
  WASTE: {values: [0, 3, 15, 63], default: 15}
  KIND: {values: [1, 2, 3, 4], default: 1}
constraints: ["WASTE > 0 || KIND < 3"]
workloads:
  small: {N: 4000}
args:
  - {name: x, type: f32, shape: [N]}
  - {name: y, type: f32, shape: [N], out: true}
  - {name: N, type: i32, value: N}
fuzz: {N: [1, 100]}
tolerance: {atol: 1e-6, rtol: 1e-6}
`,
	"add.c": `#include <stdint.h>
#include <stdlib.h>
#if KIND == 3
#error this kind does not compile
#endif
#define REPEAT(code) code code code code code code code code
void add(const float *x, float *y, int32_t N) {
	for (int repeat = 0; repeat <= WASTE; repeat++)
		for (volatile int i = 0; i < N; i++)
			y[i] = x[i] + 1;
	if (KIND == 4) *(volatile int *)8 = 1;
	if (N < 0) { REPEAT(REPEAT(REPEAT(REPEAT(y[N * KIND] += x[-N] * y[-N];)))) }
}
`,
	"reference.c": `#include <stdint.h>
void add(const float *x, float *y, int32_t N) { for (int i = 0; i < N; i++) y[i] = (float)(x[i] + 1.0); }
`,
}

// fourKindsStudy is a search of that kernel in a new folder, in an order that no answer changes.
func fourKindsStudy(t *testing.T) (dir string, cmd *exec.Cmd) {
	t.Helper()
	dir = t.TempDir()
	for name, content := range fourKinds {
		path := filepath.Join(dir, "add", name)
		err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644))
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir, asPawl(t, dir, "tune", "./add", "--backend", "host", "--sampler", "grid", "--seed", "7", "--rounds", "3",
		"--finalists", "1", "--trials", "14", "--resume")
}

// wantFourKinds checks that every trial of a study has the outcome that its point has where nothing disturbs it.
func wantFourKinds(t *testing.T, past trial.Past) {
	t.Helper()
	for _, trial := range past.Trials {
		kind, _ := trial.Point.Get("KIND")
		want := map[string]string{"3": objective.CompileError, "4": string(worker.Crashed)}[kind.String()]
		if reason := ""; trial.Finished {
			if trial.Outcome.Failure != nil {
				reason = trial.Outcome.Failure.Reason
			}
			if reason != want {
				t.Errorf("trial %d, %s: %v", trial.Number, trial.Point, trial.Outcome.Failure)
			}
		}
	}
}

// onTrials runs the program, calls do with the number of each trial that is reported done, and returns what it printed.
func onTrials(t *testing.T, cmd *exec.Cmd, do func(number int)) (printed string, err error) {
	t.Helper()
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		text.WriteString(lines.Text() + "\n")
		var number int
		if n, _ := fmt.Sscanf(lines.Text(), "trial %d done:", &number); n == 1 {
			do(number)
		}
	}
	return text.String(), cmd.Wait()
}

// An edit in the middle of a search ends it: nothing of other sources is recorded, and the study goes on when they are
// put back.
func TestSourcesThatChangeEndTheRun(t *testing.T) {
	t.Parallel()
	dir, cmd := fourKindsStudy(t)
	source := filepath.Join(dir, "add", "add.c")
	write := func(content string) {
		if err := os.WriteFile(source, []byte(content), 0o644); err != nil {
			t.Error(err)
		}
	}
	wrong := strings.Replace(fourKinds["add.c"], "x[i] + 1", "x[i] + 2", 1)
	printed, err := onTrials(t, cmd, func(number int) {
		if number == 2 {
			write(wrong)
		}
	})
	if cmd.ProcessState.ExitCode() != console.ExitMachinery ||
		!strings.Contains(printed, "the sources of kernel add changed while it was measured (add.c)") ||
		!strings.Contains(printed, "put the sources back, and pawl tune ./add --workload small --resume") {
		t.Fatalf("%v: %s", err, printed)
	}
	past := readPast(t, dir, 1)
	wantFourKinds(t, past)
	again := asPawl(t, dir, cmd.Args[1:]...)
	again.Args = append(again.Args, "--trials", "1")
	if output, err := again.CombinedOutput(); !strings.Contains(string(output), "the sources are not those of study 1") {
		t.Errorf("%v: %s", err, output)
	}
	write(fourKinds["add.c"])
	if output, err := asPawl(t, dir, cmd.Args[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	past = readPast(t, dir, 1)
	wantFourKinds(t, past)
	if len(past.Trials) != 14 || !past.Trials[13].Finished {
		t.Errorf("%d trials", len(past.Trials))
	}
}

// killCompilersAndWorkers searches a real kernel whose points differ by many times, in an order that no answer changes.
func killCompilersAndWorkers(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("victims are found in /proc")
	}
	calm, cmd := fourKindsStudy(t)
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	want := describeStudy(t, readPast(t, calm, 1))
	if !strings.Contains(want, objective.CompileError) || !strings.Contains(want, string(worker.Crashed)) {
		t.Fatal(want)
	}
	killed := 0
	for killed < *kills {
		dir, cmd := fourKindsStudy(t)
		printed := &strings.Builder{}
		cmd.Stdout, cmd.Stderr = printed, printed
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		hunting, ended := make(chan int), make(chan struct{})
		go func() { hunting <- hunt(cmd.Process.Pid, uint64(killed), ended) }()
		err := cmd.Wait()
		close(ended)
		here := <-hunting
		if err != nil {
			t.Fatalf("%v after %d kills: %s", err, here, printed)
		}
		past := readPast(t, dir, 1)
		if got := describeStudy(t, past); got != want {
			t.Fatalf("after %d kills:\n%s\nwant\n%s", here, got, want)
		}
		noted := 0
		for _, trial := range past.Trials {
			noted += len(trial.Outcome.MachineFaults)
		}
		if here > 0 && (noted == 0 || !strings.Contains(printed.String(), "after faults of the machine")) {
			t.Fatalf("%d kills, and nothing says so: %s", here, printed)
		}
		killed += max(here, 1) // one that ended before anything was found counts too
	}
	t.Logf("%d kills", killed)
}

// mostInARow is how often a point is hit before it is left alone: pawl gives up after a few more.
const mostInARow = 2

// hunt kills compilers, the programs that they start, their groups, and workers of a process until it ends. It returns
// how many it has killed.
func hunt(of int, seed uint64, ended <-chan struct{}) (killed int) {
	rng := rand.New(rand.NewPCG(seed, 17))
	hit := map[string]int{}
	dead := map[int]bool{}
	for {
		select {
		case <-ended:
			return killed
		case <-time.After(time.Duration(rng.IntN(30)) * time.Millisecond):
		}
		var victims []victim
		for _, v := range descendants(of) {
			if !dead[v.pid] && hit[v.point] < mostInARow {
				victims = append(victims, v)
			}
		}
		if len(victims) == 0 || rng.IntN(3) == 0 {
			continue
		}
		v := victims[rng.IntN(len(victims))]
		dead[v.pid] = true
		pid := v.pid
		if rng.IntN(3) == 0 && v.leads {
			pid = -pid
		}
		if syscall.Kill(pid, syscall.SIGKILL) == nil {
			hit[v.point]++
			killed++
		}
	}
}

// victim is a process below pawl, with what tells its point from others. Leads says that it leads its group.
type victim struct {
	pid   int
	point string
	leads bool
}

// descendants finds compilers and what they have started by their lines, which name a point, and workers by the file
// that they have mapped.
func descendants(of int) (found []victim) {
	for parents := []int{of}; len(parents) > 0; parents = parents[1:] {
		lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", parents[0]))
		for _, list := range lists {
			content, _ := os.ReadFile(list)
			for _, field := range strings.Fields(string(content)) {
				pid, err := strconv.Atoi(field)
				if err != nil {
					continue
				}
				parents = append(parents, pid)
				line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
				point := strings.Join(pointInLine.FindAllString(string(line), -1), ",")
				if maps, _ := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid)); point == "" {
					point = mappedKernel.FindString(string(maps))
				}
				if point != "" {
					found = append(found, victim{pid, point, parents[0] == of})
				}
			}
		}
	}
	return found
}

var (
	pointInLine  = regexp.MustCompile(`\b(WASTE|KIND)=\d+`)
	mappedKernel = regexp.MustCompile(`[0-9a-f]{2}/[0-9a-f]{62}/artifact`)
)

// describeStudy is what a study has found, without its times: every trial's point and failure, and the winner.
func describeStudy(t *testing.T, past trial.Past) string {
	t.Helper()
	var text strings.Builder
	for _, trial := range past.Trials {
		reason := "measured"
		if failure := trial.Outcome.Failure; failure != nil {
			reason = failure.Reason
		}
		if !trial.Finished {
			reason = "not finished"
		}
		fmt.Fprintf(&text, "%d %s %s\n", trial.Number, trial.Point, reason)
	}
	winner, found := confirm.Winner(past.Standing())
	waste, _ := winner.Get("WASTE") // points that differ in KIND alone are as fast
	fmt.Fprintf(&text, "winner %v, WASTE=%s", found, waste)
	return text.String()
}

// runAndKill runs the program, kills it after a while, and returns the trials
// that it reported done and whether it came to its end before.
func runAndKill(t *testing.T, cmd *exec.Cmd, after time.Duration) (reported []int, finished bool) {
	t.Helper()
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(after, func() { _ = cmd.Process.Signal(syscall.SIGKILL) })
	defer timer.Stop()
	var text strings.Builder
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		text.WriteString(lines.Text() + "\n")
		var number int
		if n, _ := fmt.Sscanf(lines.Text(), "trial %d ", &number); n == 1 {
			reported = append(reported, number)
		}
	}
	err = cmd.Wait()
	if err == nil {
		return reported, true
	}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() {
		t.Fatalf("%v: %s", err, text.String())
	}
	return reported, false
}

// compareStudies checks that two studies hold the same trials, and as many rounds
// of the same contenders.
func compareStudies(t *testing.T, got, want trial.Past) {
	t.Helper()
	if len(got.Trials) != len(want.Trials) {
		t.Fatalf("%d trials, want %d", len(got.Trials), len(want.Trials))
	}
	for i := range want.Trials {
		a, b := got.Trials[i], want.Trials[i]
		if a.Point != b.Point || !a.Finished || fmt.Sprint(a.Outcome.Samples) != fmt.Sprint(b.Outcome.Samples) {
			t.Fatalf("trial %d: %s, want %s", i, a.Point, b.Point)
		}
	}
	// A confirmation that was killed is measured anew, in one run.
	for _, phase := range []trial.Phase{trial.Confirmation, trial.Ablation} {
		a, b := confirm.Contenders(got.Standing(), phase), confirm.Contenders(want.Standing(), phase)
		for _, contenders := range [][]confirm.Contender{a, b} { // the order of another run is another
			slices.SortFunc(contenders, func(x, y confirm.Contender) int {
				return cmp.Compare(x.Point.String(), y.Point.String())
			})
		}
		if len(a) != len(b) {
			t.Fatalf("%s: %d contenders, want %d", phase, len(a), len(b))
		}
		for i := range b {
			if a[i].Point != b[i].Point || len(a[i].Rounds) != len(b[i].Rounds) {
				t.Fatalf("%s of %s: %d rounds, want %d of %s", phase, a[i].Point, len(a[i].Rounds), len(b[i].Rounds), b[i].Point)
			}
		}
	}
}

// Ctrl-C once: no more trials, the report, exit 130. The kernel is real and the
// study is long.
func TestInterruptOnceWritesTheReport(t *testing.T) {
	t.Parallel()
	dir := interruptedStudy(t, 1)
	if _, err := os.Stat(filepath.Join(dir, "tuning", "scale", "small", "suggestions.md")); err != nil {
		t.Error(err)
	}
}

// A study that is interrupted leaves the pages of the confirmed one before it as they are, and its line in the index.
func TestAnInterruptedStudyTakesNothingAway(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := writeExamples(dir); err != nil {
		t.Fatal(err)
	}
	first := asPawl(t, dir, "tune", "scale", "--trials", "5", "--rounds", "3", "--finalists", "1", "--sampler", "grid")
	if output, err := first.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	front := filepath.Join(dir, "tuning", "scale", "small")
	before, err := os.ReadDir(front)
	if err != nil {
		t.Fatal(err)
	}
	page := readFile(t, filepath.Join(front, "suggestions.md"))
	if _, code, output := interrupt(t, asPawl(t, dir, "tune", "scale", "--budget", "10m"), 1); code !=
		console.ExitInterrupted {
		t.Fatalf("exit code %d: %s", code, output)
	}
	for _, file := range before {
		if _, err := os.Stat(filepath.Join(front, file.Name())); err != nil {
			t.Error(err)
		}
	}
	if readFile(t, filepath.Join(front, "suggestions.md")) != page {
		t.Error("the confirmed study's page was changed")
	}
	if aside := readFile(t, filepath.Join(front, "study-2", "suggestions.md")); !strings.Contains(aside, "unconfirmed") {
		t.Error(aside)
	}
	if index := readFile(t, filepath.Join(dir, "tuning", "suggestions.md")); !strings.Contains(index,
		"[1](scale/small/suggestions.md)") {
		t.Error(index)
	}
}

// Twice: leaves at once, and the study is intact.
func TestInterruptTwiceLeavesAtOnce(t *testing.T) {
	t.Parallel()
	dir := interruptedStudy(t, 2)
	resumed := asPawl(t, dir, "tune", "scale", "--trials", "5", "--rounds", "3", "--finalists", "1", "--resume")
	if output, err := resumed.CombinedOutput(); err != nil || !strings.Contains(string(output), "resuming study 1") {
		t.Errorf("%v: %s", err, output)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// interruptedStudy begins a long study of a real kernel, interrupts it, and
// makes sure of the exit code and of every trial that was reported done.
func interruptedStudy(t *testing.T, times int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := writeExamples(dir); err != nil {
		t.Fatal(err)
	}
	reported, code, output := interrupt(t, asPawl(t, dir, "tune", "scale", "--budget", "10m"), times)
	if code != console.ExitInterrupted {
		t.Errorf("exit code %d: %s", code, output)
	}
	past := readPast(t, dir, 1)
	for _, number := range reported {
		if !past.Trials[number].Finished {
			t.Errorf("trial %d was reported done and is lost", number)
		}
	}
	return dir
}

// interrupt sends SIGINT once three trials are done, as many times as asked.
func interrupt(t *testing.T, cmd *exec.Cmd, times int) (reported []int, code int, output string) {
	t.Helper()
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	lines := bufio.NewScanner(stderr)
	sent := 0
	for lines.Scan() {
		text.WriteString(lines.Text() + "\n")
		var number int
		if n, _ := fmt.Sscanf(lines.Text(), "trial %d ", &number); n == 1 {
			reported = append(reported, number)
		}
		stopping := strings.HasPrefix(lines.Text(), "stopping:")
		if (len(reported) == 3 && sent == 0) || (stopping && sent < times) {
			sent++
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait()
	return reported, cmd.ProcessState.ExitCode(), text.String()
}
