package report

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"sync"

	"pawl/search/trial"
	"pawl/studies"
)

// Line is what lists say of a study. It takes a study's trials and a bootstrap to make one, so it is kept in the
// database, as long as nothing more is recorded of the study.
type Line struct {
	Entry
	Trials int `json:"trials"`
	// Best is the fastest trial's time; nil for none.
	Best *float64 `json:"best_milliseconds,omitempty"`
	// State is the study's when the line was made, Known whether it was: there is nothing but the state otherwise.
	State string `json:"-"`
	Known bool   `json:"-"`
}

// Lines returns the lines that are kept, by study; of a study that has none that is up to date, the state.
func Lines(ctx context.Context, store *studies.Store) (map[int64]Line, error) {
	kept, err := store.Facts(ctx, 0)
	if err != nil {
		return nil, err
	}
	lines := make(map[int64]Line, len(kept))
	for id, facts := range kept {
		line := Line{}
		if facts.By == maker(store.Place) && json.Unmarshal(facts.Text, &line) == nil {
			line.Known = true
		}
		line.Study, line.State = id, facts.State
		lines[id] = line
	}
	return lines, nil
}

// ReadLine makes a study's line, and keeps it.
func ReadLine(ctx context.Context, store *studies.Store, id int64) (Line, error) {
	kept, err := store.Facts(ctx, id)
	if err != nil {
		return Line{}, err
	}
	line := Line{State: kept[id].State, Known: true}
	summary, err := ReadBrief(ctx, store, id)
	if err != nil {
		return line, err
	}
	line.Entry, line.Trials = newEntry(summary, ""), summary.Search.Asked
	if ranked := trial.Ranking(summary.Trials()); len(ranked) > 0 {
		line.Best = new(ranked[0].Outcome.Milliseconds())
	}
	if line.State != "" {
		text, err := json.Marshal(line)
		if err != nil {
			return line, fmt.Errorf("study %d: %w", id, err)
		}
		store.KeepFacts(ctx, id, studies.Facts{State: line.State, By: maker(store.Place), Text: text})
	}
	return line, nil
}

// maker identifies who has made a line: another pawl may have other words and verdicts, and the commands in a line have
// the flags that say where the studies are.
func maker(place studies.Place) string { return build() + " " + place.Pawl("gate") }

// build identifies this program: its commit, or the file that it is of where that says nothing.
var build = sync.OnceValue(func() string {
	commit, changed := "", true
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range info.Settings {
			switch setting.Key {
			case "vcs.revision":
				commit = setting.Value
			case "vcs.modified":
				changed = setting.Value == "true"
			}
		}
	}
	if commit != "" && !changed {
		return commit
	}
	path, err := os.Executable()
	if err != nil {
		return commit
	}
	info, err := os.Stat(path)
	if err != nil {
		return commit
	}
	return fmt.Sprint(commit, info.Size(), info.ModTime().UnixNano())
})
