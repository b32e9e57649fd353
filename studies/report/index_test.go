package report

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pawl/objective"
	"pawl/search/trial"
	"pawl/studies"
)

func head(id int64, kernel, workload, backend, device string) studies.Study {
	return studies.Study{
		ID: id,
		Subject: studies.Subject{
			Kernel:   kernel,
			Workload: workload,
			Backend:  backend,
		},
		Environment: objective.Environment{Device: device},
	}
}

func TestFolders(t *testing.T) {
	all := []studies.Study{ // newest first, as List returns them
		head(9, "studies.db", "small", "host", "CPU"),
		head(8, "../../up", "a/b", "host", "CPU"),
		{ID: 7, Reading: studies.Reading{Damaged: "its head is not what was recorded"}},
		head(6, "scale", "small", "replay", "CPU"),
		head(5, "scale", "small", "cuda", "NVIDIA H200"),
		head(4, "scale", "tiny", "cuda", "NVIDIA H200"),
		head(3, "scale", "small", "host", "CPU"),
		head(2, "scale", "tiny", "host", "CPU"),
		head(1, "scale", "small", "host", "CPU"),
	}
	want := map[int64]string{
		1: "scale/small/study-1", 2: "scale/tiny", 3: "scale/small",
		4: "scale/tiny@NVIDIA_H200-", 5: "scale/small@NVIDIA_H200-", 6: "scale/small@CPU@replay",
		8: "_.._up-", 9: "studies.db_/small",
	}
	got := Folders(all)
	seen := map[string]bool{}
	for id, folder := range got {
		if !strings.HasPrefix(folder, want[id]) || want[id] == "" || !filepath.IsLocal(filepath.FromSlash(folder)) ||
			seen[folder] {
			t.Errorf("study %d: %s, want %s", id, folder, want[id])
		}
		seen[folder] = true
	}
	if len(got) != len(want) {
		t.Errorf("%d folders, want %d: %v", len(got), len(want), got)
	}
	// What is where does not depend on the order.
	for id, folder := range Folders([]studies.Study{all[8], all[3], all[6], all[4]}) {
		if folder != got[id] {
			t.Errorf("study %d: %s, then %s", id, got[id], folder)
		}
	}
}

// exampleStore is a database with the example study on two devices, an older one of the
// first, and one with a hostile name that ended early.
func exampleStore(t *testing.T) *studies.Store {
	t.Helper()
	store, err := studies.Open(t.Context(), filepath.Join(t.TempDir(), "studies.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	study := exampleStudy(t)
	record(t, store, study, examplePast(t, 10, 0.13))
	record(t, store, study, examplePast(t, 10, 1))
	study.Environment.Device = "Another | CPU"
	record(t, store, study, examplePast(t, 10, 0.04))
	study.Kernel, study.Workload = "[x](http://evil) `|`", "<b>../../w"
	record(t, store, study, trial.Past{Trials: examplePast(t, 0, 1).Trials})
	return store
}

func record(t *testing.T, store *studies.Store, study studies.Study, past trial.Past) (id int64) {
	t.Helper()
	study.ID = 0
	id, err := store.Create(t.Context(), study)
	if err != nil {
		t.Fatal(err)
	}
	r := store.Recorder(id)
	for _, trial := range past.Trials {
		if err := r.Started(trial); err != nil {
			t.Fatal(err)
		}
		if err := r.Finished(trial); err != nil {
			t.Fatal(err)
		}
	}
	for _, round := range past.Rounds {
		if err := r.Measured(round); err != nil {
			t.Fatal(err)
		}
	}
	return id
}

// A study that was interrupted, or has few rounds yet, takes nothing away from the confirmed one before it: neither
// its folder and header nor its line in the index. Once it is confirmed as well it is in front.
func TestAnInterruptedStudyTakesNothingAway(t *testing.T) {
	store, out := exampleStore(t), t.TempDir()
	place := filepath.Join(out, "scale", "small")
	publish := func(id int64) string {
		t.Helper()
		if _, changed, err := Publish(t.Context(), store, out, id); err != nil || changed.Removed != "" {
			t.Fatalf("removed %q, %v", changed.Removed, err)
		}
		index, err := os.ReadFile(filepath.Join(out, MarkdownName))
		if err != nil {
			t.Fatal(err)
		}
		return string(index)
	}
	there := func(path ...string) bool { return exists(filepath.Join(append([]string{place}, path...)...)) }
	publish(2)
	past := examplePast(t, 10, 1)
	few := slices.DeleteFunc(slices.Clone(past.Rounds), func(r trial.Round) bool { return r.Number >= 4 })
	study := exampleStudy(t)
	for _, rounds := range [][]trial.Round{nil, few} {
		id := record(t, store, study, trial.Past{Trials: past.Trials, Rounds: rounds})
		index := publish(id)
		if !there("scale_small.h") || !there(asideFolder(id), MarkdownName) || there(asideFolder(2)) ||
			!strings.Contains(index, "[2](scale/small/suggestions.md)") {
			t.Errorf("after study %d:\n%s", id, index)
		}
	}
	for _, r := range past.Rounds { // study 5 goes on
		if err := store.Recorder(5).Measured(r); err != nil {
			t.Fatal(err)
		}
	}
	if index := publish(5); !strings.Contains(index, "[5](scale/small/suggestions.md)") || there(asideFolder(5)) ||
		!there(asideFolder(2), HTMLName) || !there("scale_small.h") {
		t.Error(index)
	}
}

// A study of changed sources is in front whatever it has found: the confirmed one before it is about a kernel that is
// gone. Its page says so first, and does not offer what pawl apply refuses. With the sources of before it comes back.
func TestAChangedKernelComesToTheFront(t *testing.T) {
	store, out := exampleStore(t), t.TempDir()
	read := func(path ...string) string {
		t.Helper()
		content, err := os.ReadFile(filepath.Join(append([]string{out}, path...)...))
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	publish := func(id int64) {
		t.Helper()
		if _, _, err := Publish(t.Context(), store, out, id); err != nil {
			t.Fatal(err)
		}
	}
	publish(2)
	past, study := examplePast(t, 4, 1), exampleStudy(t)
	study.Source = "changed"
	publish(record(t, store, study, past))
	place := filepath.Join("scale", "small")
	if index := read(MarkdownName); !strings.Contains(index, "[5](scale/small/suggestions.md)") ||
		strings.Contains(index, "pawl apply 2") {
		t.Error(index)
	}
	front := read(place, MarkdownName)
	if !strings.HasPrefix(front, "# scale, small: promising\n\nThe kernel has changed since study 2, whose verdict was: "+
		"apply, 4.01 ms → 1.998 ms, 2.00× (1.99 to 2.01).\n") {
		t.Error(front)
	}
	before := read(place, asideFolder(2), MarkdownName)
	if !strings.HasPrefix(before, "# scale, small: apply, before the kernel was changed\n\n"+
		"The kernel has changed since: study 5 was tuned from the newer sources. ") ||
		strings.Contains(before, "Apply it") || !exists(filepath.Join(out, place, asideFolder(2), "scale_small.h")) {
		t.Error(before)
	}
	if page := read(place, asideFolder(2), HTMLName); strings.Contains(page, "How to apply") ||
		!strings.Contains(page, "study 5 was tuned from the newer sources") {
		t.Error("the HTML page of study 2 offers to apply it")
	}
	study.Source = exampleStudy(t).Source
	publish(record(t, store, study, trial.Past{Trials: past.Trials})) // the sources are back, and nothing is confirmed
	publish(2)
	if index := read(MarkdownName); !strings.Contains(index, "[2](scale/small/suggestions.md)") ||
		!strings.Contains(read(place, MarkdownName), "Apply it") || exists(filepath.Join(out, place, asideFolder(2))) {
		t.Error(index)
	}
}

// What was applied is said to be, and nothing is left to do.
func TestAnAppliedStudyLeavesNothingToDo(t *testing.T) {
	s := gatedSummary(t, examplePast(t, 10, 1), gatingOf(t, winnerText, studies.Undecided, "new", 0))
	if words, command := newEntry(s, "").ToDo(); words != "read the page, then " || command != "pawl apply 7" {
		t.Errorf("%q, %q", words, command)
	}
	for applied, want := range map[string]string{
		"2026-01-03 04:05 UTC":                 "Undo it: delete it.",
		"2026-01-03 04:05 UTC on branch tuned": "Undo it: delete the branch.",
		"2026-01-03 04:05 UTC with --manifest": "Undo it: delete it, and `git checkout -- scale/kernel.yaml`.",
	} {
		s.Study.Applied = applied
		e := newEntry(s, "")
		if words, command := e.ToDo(); words+command != "" || e.Action != "applied "+applied || e.Standing() != "applied" {
			t.Errorf("%q, %q, %q", words+command, e.Action, e.Standing())
		}
		var page bytes.Buffer
		if err := Markdown(&page, s); err != nil || !strings.Contains(page.String(), ": applied\n") ||
			!strings.Contains(page.String(), "\nApplied "+applied+". Again: `pawl apply 7` writes") ||
			!strings.Contains(page.String(), want) {
			t.Errorf("%v, want %s\n%s", err, want, &page)
		}
	}
}

// What to do is words, and the command that they end with.
func TestParts(t *testing.T) {
	for action, want := range map[string]string{
		"read the page, then pawl apply 3":        "pawl apply 3",
		"confirm it: pawl tune --resume":          "pawl tune --resume",
		"read on the page what failed":            "",
		"read the page: a, b would pay for it":    "",
		"resume it: pawl tune ./a --out 'my out'": "pawl tune ./a --out 'my out'",
	} {
		if words, got := (Entry{Action: action}).parts(); got != want || words+got != action {
			t.Errorf("%s: %q, want %q", action, got, want)
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestGoldenIndex(t *testing.T) {
	entries, err := index(t.Context(), exampleStore(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	entries = append(entries,
		Entry{
			Study:    9,
			Verdict:  Damaged,
			Sentence: "study 9 in studies.db is damaged: trial 0 is not what was recorded",
			Action:   "tune again",
		})
	for name, render := range map[string]func(io.Writer, []Entry) error{
		"index.md": func(w io.Writer, entries []Entry) error { return IndexMarkdown(w, studies.Place{}, entries) },
		"index.json": func(w io.Writer, entries []Entry) error {
			encoder := json.NewEncoder(w)
			encoder.SetIndent("", "  ")
			return encoder.Encode(entries)
		},
	} {
		var got bytes.Buffer
		if err := render(&got, entries); err != nil {
			t.Fatal(err)
		}
		golden(t, name, got.Bytes())
	}
}

func TestPublishKeepsStudiesApart(t *testing.T) {
	store, out := exampleStore(t), filepath.Join(t.TempDir(), "out")
	for id := int64(1); id <= 4; id++ {
		summary, files, err := Publish(t.Context(), store, out, id)
		if err != nil || summary.Study.ID != id {
			t.Fatal(files, err)
		}
	}
	entries, err := index(t.Context(), store, nil)
	if err != nil || len(entries) != 3 {
		t.Fatal(entries, err)
	}
	var written struct{ Studies []Entry }
	content, err := os.ReadFile(filepath.Join(out, JSONName))
	if err == nil {
		err = json.Unmarshal(content, &written)
	}
	if err != nil || len(written.Studies) != len(entries) {
		t.Fatal(written, err)
	}
	// Each line leads to the page of its own study, and nothing lies elsewhere.
	for _, e := range written.Studies {
		var s Summary
		content, err := os.ReadFile(filepath.Join(out, filepath.FromSlash(e.Folder), JSONName))
		if err == nil {
			err = json.Unmarshal(content, &s)
		}
		if err != nil || s.Study.ID != e.Study || s.Advice.Verdict != e.Verdict {
			t.Errorf("study %d: %s has study %d, %q, %v", e.Study, e.Folder, s.Study.ID, s.Advice.Verdict, err)
		}
	}
	if _, err := os.Stat(filepath.Join(out, "scale", "small", "study-1", MarkdownName)); err != nil {
		t.Error(err)
	}
	beside, err := os.ReadDir(filepath.Dir(out))
	if err != nil || len(beside) != 1 {
		t.Errorf("%v, %v beside the folder", beside, err)
	}
}

// A line of the index says what the study's own page says.
func TestTheIndexAgreesWithThePages(t *testing.T) {
	store := exampleStore(t)
	entries, err := index(t.Context(), store, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		s, err := Read(t.Context(), store, e.Study)
		if err != nil {
			t.Fatal(err)
		}
		if want := newEntry(s, e.Folder); !reflect.DeepEqual(e, want) {
			t.Errorf("got %+v, want %+v", e, want)
		}
	}
}

func TestPublishSaysThatTheStudyIsRecorded(t *testing.T) {
	store, out := exampleStore(t), filepath.Join(t.TempDir(), "out")
	if err := os.WriteFile(out, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Publish(t.Context(), store, out, 2); err == nil ||
		!strings.Contains(err.Error(), "pawl report 2 writes the report again") {
		t.Error(err)
	}
}
