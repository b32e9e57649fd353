package main

import (
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pawl/cmd/pawl/console"
	"pawl/internal/thorough"
	"pawl/kernels"
	"pawl/studies"
	"pawl/studies/report"
)

// verdictKills is how often the gating of a winner is killed.
var verdictKills = flag.Int("verdict-kills", thorough.Count(1, 100),
	"how many times TestKillLeavesAWholeVerdictOrNone kills the program")

// The program is killed at random instants while it gates a winner, records the verdict
// and writes the pages: the record has the verdict whole or not at all, every page is
// whole, and the report can be made again.
func TestKillLeavesAWholeVerdictOrNone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := writeExamples(dir); err != nil {
		t.Fatal(err)
	}
	if output, err := asPawl(t, dir, "tune", "scale", "--trials", "2", "--rounds", "3").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	// Without a baseline nothing is measured: it is the recording that is killed.
	gate := []string{"gate", "--study", "1"}
	began := time.Now()
	output, err := asPawl(t, dir, gate...).CombinedOutput()
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != console.ExitNothing {
		t.Fatalf("%v: %s", err, output)
	}
	whole := time.Since(began)
	random := rand.New(rand.NewPCG(uint64(*verdictKills), 6))
	recorded, killed := 1, 0
	for killed < *verdictKills {
		cmd := asPawl(t, dir, gate...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(random.Int64N(int64(whole * 9 / 8))))
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			killed++
		}
		now := gatings(t, dir)
		if now != recorded && now != recorded+1 {
			t.Fatalf("%d verdicts after %d", now, recorded)
		}
		recorded = now
		wholePages(t, filepath.Join(dir, "tuning"))
	}
	if output, err := asPawl(t, dir, "report").CombinedOutput(); err != nil ||
		!strings.Contains(string(output), "nothing is known: there is no baseline") {
		t.Errorf("%v: %s", err, output)
	}
	t.Logf("%d kills, %d verdicts", killed, recorded)
}

// gatings counts what the gate said about the first study, which must be sound.
func gatings(t *testing.T, dir string) int {
	t.Helper()
	store, err := studies.OpenExisting(t.Context(), filepath.Join(dir, "tuning", kernels.DatabaseName))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	all, err := store.Gatings(t.Context(), 1)
	if err != nil || len(store.Notices) > 0 {
		t.Fatal(store.Notices, err)
	}
	return len(all)
}

// wholePages makes sure that the index and the study's own pages can be read.
func wholePages(t *testing.T, out string) {
	t.Helper()
	var index struct{ Studies []report.Entry }
	var summary report.Summary
	for path, into := range map[string]any{
		report.JSONName: &index,
		filepath.Join("scale", "small", report.JSONName): &summary,
	} {
		content, err := os.ReadFile(filepath.Join(out, path))
		if err == nil {
			err = json.Unmarshal(content, into)
		}
		if err != nil {
			t.Fatal(path, err)
		}
	}
	if len(index.Studies) != 1 || index.Studies[0].Study != 1 ||
		index.Studies[0].Folder != "scale/small" || summary.Study.ID != 1 {
		t.Errorf("%+v, study %d", index, summary.Study.ID)
	}
}
