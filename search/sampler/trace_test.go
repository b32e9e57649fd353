package sampler

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

// TestSamplersAskTheRecordedPoints holds every sampler to the points that it asked
// for when the file was written: moving code about must not move a point. The view
// has all that a sampler may look at, so that every branch is walked: failures,
// costs, batches of pending points, an earlier study. A change of behavior that is
// meant writes the file anew with -update.
func TestSamplersAskTheRecordedPoints(t *testing.T) {
	var text strings.Builder
	for _, name := range Names() {
		for _, helped := range []bool{false, true} {
			fmt.Fprintf(&text, "%s helped=%v:", name, helped)
			for _, index := range trace(t, name, helped) {
				fmt.Fprintf(&text, " %d", index)
			}
			text.WriteByte('\n')
		}
	}
	path := filepath.Join("testdata", "traces.golden")
	if *update {
		if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(want), "\n")
	for i, line := range strings.Split(text.String(), "\n") {
		if line != lines[i] {
			t.Errorf("got\n%s\nwant\n%s", line, lines[i])
		}
	}
}

// trace returns the points of 70 asks, four of which are pending at a time, and
// what is left to gain at the end, in millionths.
func trace(t *testing.T, name string, helped bool) []int {
	pool := kernelPool(t)
	sampler, err := New(name, pool.Space(), Defaults())
	if err != nil {
		t.Fatal(err)
	}
	view := NewView(pool)
	if helped {
		view.Earlier = []Memory{memoryOf(pool, 40, func(index int) float64 { return 1 + kernelTime(pool, index) })}
	}
	var asked []int
	for trial := range 70 {
		if helped {
			view.CostWeight = 1 - float64(trial)/70
		}
		index := next(t, sampler, view, 7)
		asked = append(asked, index)
		view.Ask(index)
		if len(view.Pending) == 4 {
			for _, pending := range slices.Clone(view.Pending[:2]) {
				view.Observe(Observation{
					Index:        pending,
					Milliseconds: kernelTime(pool, pending),
					Failed:       pending%11 == 0,
					Seconds:      1 + float64(pending%5),
				})
			}
		}
	}
	regret, known := EstimateRegret(view, Defaults(), 7)
	if !known {
		t.Fatal("no estimate of the regret")
	}
	return append(asked, int(1e6*regret.Left))
}
