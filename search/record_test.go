package search_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl/search"
	"pawl/search/replay"
	"pawl/search/sampler"
	"pawl/search/trial"
)

var update = flag.Bool("update", false, "write the golden files")

// TestStudiesOfTheEmbeddedRecordAskTheRecordedPoints is a whole study of a recorded
// space by each sampler, with confirmation and ablation: which points it asks for,
// and which it measures again, are those of the day the file was written. Write it
// anew with -update when a change is meant.
func TestStudiesOfTheEmbeddedRecordAskTheRecordedPoints(t *testing.T) {
	record, err := replay.ReadFile(replay.Embedded()[0])
	if err != nil {
		t.Fatal(err)
	}
	s, err := replay.New(record)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, name := range sampler.Names() {
		m, result := runStudy(t, s, trial.Past{},
			search.Options{Sampler: name, Seed: 11, Goals: trial.Goals{Trials: 50, Rounds: 3}})
		fmt.Fprintf(&text, "%s:", name)
		for _, trial := range m.trials {
			index, err := s.Pool().Index(trial.Point)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&text, " %d", index)
		}
		fmt.Fprintf(&text, "\n%s:", result.Ended)
		for _, round := range result.Rounds {
			if round.Number == 0 {
				fmt.Fprintf(&text, " %s %s %g;", round.Phase, round.Point, round.Outcome.Milliseconds())
			}
		}
		text.WriteByte('\n')
	}
	path := filepath.Join("testdata", "studies.golden")
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
