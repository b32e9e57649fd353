package main

import (
	"bufio"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"pawl/cmd/pawl/console"
	"pawl/gate/baseline"
	"pawl/gate/ratchet"
	"pawl/internal/thorough"
	"pawl/objective"
)

// foreignEntry is a baseline of the example kernel on a device that is not here.
func foreignEntry() baseline.Entry {
	e := baseline.Entry{
		Key:    baseline.Key{Device: "Another Chip", Kernel: "scale", Workload: "tiny", Type: "f32"},
		Origin: "scale", Dims: "N=100", Point: "BLOCK=1,WASTE=3", Source: "none", Binary: "none",
		Environment: objective.Environment{Backend: "host", Device: "Another Chip"},
		Measured:    time.Date(2026, 7, 30, 6, 0, 0, 0, time.UTC),
	}
	e.Summarise([][]float64{{2, 2}, {2, 2}}, baseline.Work{})
	return e
}

// writeBaseline puts a sound baseline into a script's folder, as good/baseline.json.
func writeBaseline(dir string) error {
	f := baseline.New()
	f.Put(foreignEntry())
	return f.WriteResults(filepath.Join(dir, "good", "baseline.json"))
}

// erode gives a baseline a best accepted entry that was a thousand times as fast and
// whose sources are gone: erode FILE.
func erode(ts *testscript.TestScript, _ bool, arguments []string) {
	path := ts.MkAbs(arguments[0])
	f, err := baseline.Read(path)
	ts.Check(err)
	entry := f.Entries[0].Entry
	best := entry
	best.Source, best.Binary, best.Commit = "gone", "older", ""
	var samples [][]float64
	for _, process := range entry.Samples {
		var faster []float64
		for _, milliseconds := range process {
			faster = append(faster, milliseconds/1000)
		}
		samples = append(samples, faster)
	}
	best.Summarise(samples, baseline.Work{})
	f.Entries[0].Best = &best
	ts.Check(f.WriteResults(path))
}

// forget takes the archives out of a baseline, as if an older pawl had written it:
// forget FILE.
func forget(ts *testscript.TestScript, _ bool, arguments []string) {
	path := ts.MkAbs(arguments[0])
	f, err := baseline.Read(path)
	ts.Check(err)
	for i := range f.Entries {
		f.Entries[i].Archive = ""
	}
	ts.Check(f.WriteResults(path))
}

// archived checks which files the archives of a baseline hold: archived FILE NAME...
func archived(ts *testscript.TestScript, _ bool, arguments []string) {
	f, err := baseline.Read(ts.MkAbs(arguments[0]))
	ts.Check(err)
	for _, e := range f.Entries {
		folder, err := os.MkdirTemp(ts.MkAbs("."), "unpacked-")
		ts.Check(err)
		ts.Check(baseline.Unpack(e.Archive, folder))
		var names []string
		ts.Check(filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				names = append(names, strings.TrimPrefix(path, folder+"/"))
			}
			return err
		}))
		ts.Check(os.RemoveAll(folder))
		if !slices.Equal(names, arguments[1:]) {
			ts.Fatalf("the archive holds %s", names)
		}
	}
}

// untouched checks that every command refuses a baseline with a message and leaves
// it as it is: untouched FILE MESSAGE.
func untouched(ts *testscript.TestScript, _ bool, arguments []string) {
	path := ts.MkAbs(arguments[0])
	before, err := os.ReadFile(path)
	ts.Check(err)
	for _, command := range []string{
		"gate scale --policy scale.yaml", "baseline show", "baseline accept --reason because",
	} {
		err := ts.Exec("pawl", append(strings.Fields(command), "--baseline", arguments[0])...)
		exit, ok := err.(*exec.ExitError)
		if !ok || exit.ExitCode() != console.ExitMachinery {
			ts.Fatalf("pawl %s: %v, want exit code 3", command, err)
		}
		if stderr := ts.ReadFile("stderr"); !strings.Contains(stderr, arguments[1]) {
			ts.Fatalf("pawl %s: %s, want %q", command, stderr, arguments[1])
		}
	}
	after, err := os.ReadFile(path)
	ts.Check(err)
	if string(after) != string(before) {
		ts.Fatalf("%s was changed", arguments[0])
	}
}

// Results that are older than the baseline were compared with another one.
func TestOldResultsAreNotAccepted(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "results", "baseline.json")
	current := baseline.New()
	current.Put(foreignEntry())
	if err := current.WriteResults(filepath.Join(dir, "results", ratchet.CurrentName)); err != nil {
		t.Fatal(err)
	}
	newer := foreignEntry()
	newer.Measured = newer.Measured.Add(time.Minute)
	file := baseline.New()
	file.Put(newer)
	if err := file.WriteResults(path); err != nil {
		t.Fatal(err)
	}
	cmd := asPawl(t, dir, "baseline", "accept", "--reason", "because")
	output, _ := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != console.ExitMachinery ||
		!strings.Contains(string(output), "newer than these results") {
		t.Errorf("%s", output)
	}
}

// Ctrl-C in the middle of the measurements: exit 130, and the baseline is as it was.
func TestInterruptedGateChangesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := writeExamples(dir); err != nil {
		t.Fatal(err)
	}
	rules := "kernels: [{kernel: scale, workloads: [tiny], rounds: [20], samples: 2}]\n"
	if err := os.WriteFile(filepath.Join(dir, "gate.yaml"), []byte(rules), 0o644); err != nil {
		t.Fatal(err)
	}
	if output, err := asPawl(t, dir, "gate", "--policy", "gate.yaml").CombinedOutput(); err == nil ||
		!strings.Contains(string(output), "this becomes it") {
		t.Fatalf("%v: %s", err, output)
	}
	before, err := os.ReadFile(filepath.Join(dir, "results", "baseline.json"))
	if err != nil {
		t.Fatal(err)
	}
	faster := example
	faster.Repeats = "1"
	if err := faster.Write(filepath.Join(dir, "scale")); err != nil {
		t.Fatal(err)
	}
	cmd := asPawl(t, dir, "gate")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		text.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), "10 of up to 20 rounds") {
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != console.ExitInterrupted {
		t.Errorf("exit code %d: %s", code, text.String())
	}
	if after, err := os.ReadFile(filepath.Join(dir, "results", "baseline.json")); err != nil ||
		string(after) != string(before) {
		t.Errorf("the baseline changed (%v)", err)
	}
}

// baselineKills is how often the writing of a baseline is killed.
var baselineKills = flag.Int("baseline-kills", thorough.Count(1, 100),
	"how many times TestKillLeavesOldOrNewBaseline kills the program")

// The program is killed at random instants while it moves the baseline: the file
// is the old one or the new one, whole, every time.
func TestKillLeavesOldOrNewBaseline(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "results", "baseline.json")
	current := baseline.New()
	entry := foreignEntry()
	entry.Archive = strings.Repeat("sources ", 200_000) // large enough that writing takes a while
	current.Put(entry)
	if err := current.WriteResults(filepath.Join(dir, "results", ratchet.CurrentName)); err != nil {
		t.Fatal(err)
	}
	accept := []string{"baseline", "accept", "--reason", "because"}
	// The second one has a baseline to read first, as all that follow.
	var whole time.Duration
	for range 2 {
		began := time.Now()
		if output, err := asPawl(t, dir, accept...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, output)
		}
		whole = time.Since(began)
	}
	random := rand.New(rand.NewPCG(uint64(*baselineKills), 5))
	accepted, killed, moved := 2, 0, 0
	for killed < *baselineKills {
		cmd := asPawl(t, dir, accept...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(random.Int64N(int64(whole * 5 / 4))))
		_ = cmd.Process.Kill()
		if err := cmd.Wait(); err != nil {
			killed++
		}
		f, err := baseline.Read(path)
		if err != nil {
			t.Fatalf("after %d kills: %v", killed, err)
		}
		switch trail := f.Entries[0].Accepted; len(trail) {
		case accepted:
		case accepted + 1:
			accepted++
			moved++
		default:
			t.Fatalf("%d acceptances after %d", len(trail), accepted)
		}
	}
	t.Logf("%d kills, the baseline moved %d times", killed, moved)
}
