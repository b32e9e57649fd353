package main

import (
	"bufio"
	"cmp"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pawl/cmd/pawl/console"
	"pawl/internal/page"
	"pawl/internal/thorough"
	"pawl/kernels"
	"pawl/search/confirm"
	"pawl/search/replay"
	"pawl/search/trial"
	"pawl/space"
	"pawl/studies"
)

// kills is how often a study is killed.
var kills = flag.Int("kills", thorough.Count(2, 100), "how many times TestKillAnywhereAndResume kills the program")

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

// The program is killed at random instants and resumed, over and over: no
// trial that was reported done is lost, none is measured twice, and the study
// ends as if it had never been disturbed.
func TestKillAnywhereAndResume(t *testing.T) {
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
