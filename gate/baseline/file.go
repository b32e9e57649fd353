package baseline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"time"
)

const (
	format = "pawl baseline"
	// version is what this program writes; it reads nothing newer.
	version = 3
)

// File is the content of baseline.json; [document] is how it is written. Current results
// have the same form.
type File struct {
	// Entries are sorted, one per key.
	Entries []Entry
	// Best are the best accepted entries of keys whose baseline is another one: what
	// erosion is measured against.
	Best []Entry
	// Gains are confirmed gains over the entries that no later build has held yet. Code may be
	// fast by the luck of its layout: a gain is the baseline only when two builds have shown it.
	Gains []Entry
	// Accepted is the trail of decisions by people.
	Accepted []Acceptance
	// Sources holds archives of the entries' sources, by digest. Commits have them
	// too, until a squash, a rebase or a shallow clone.
	Sources map[string]string
}

// Acceptance is a baseline that a person moved.
type Acceptance struct {
	Key
	Time   time.Time `json:"time"`
	Reason string    `json:"reason"`
	// By is who decided.
	By string `json:"by,omitempty"`
	// From is 0 where there was no baseline.
	From float64 `json:"from"`
	To   float64 `json:"to"`
	// Release says that erosion is measured against what was accepted, and no longer
	// against what was better before.
	Release bool   `json:"release,omitempty"`
	Commit  string `json:"commit,omitempty"`
}

// New returns a file without entries.
func New() *File { return &File{} }

// Problem is what is wrong with a file.
type Problem string

// The problems.
const (
	Truncated Problem = "truncated"
	NotJSON   Problem = "not JSON"
	Foreign   Problem = "not a baseline"
	Newer     Problem = "from a newer version"
	NotFinite Problem = "not finite"
	Edited    Problem = "edited by hand"
)

// ProblemError says why a baseline cannot be used, and what to do.
type ProblemError struct {
	Path    string
	Problem Problem
	Detail  string
}

func (e *ProblemError) Error() string { return fmt.Sprintf("baseline %s: %s", e.Path, e.Detail) }

// Read returns the file, or an empty one where there is none. Any doubt about its
// content is a *ProblemError, and the file stays as it is.
func Read(path string) (*File, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return New(), nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the baseline: %w", err)
	}
	return Parse(path, content)
}

// Parse reads the text of a file as Read does; the path is for messages.
func Parse(path string, content []byte) (*File, error) {
	f, problem, detail := parse(content)
	if problem != "" {
		return nil, &ProblemError{path, problem, detail}
	}
	return f, nil
}

const restore = "; nothing was changed. Restore it from version control"

// notFinite finds numbers that JSON does not have.
var notFinite = regexp.MustCompile(`[:\[,]\s*[+-]?(NaN|nan|Inf|Infinity)\b`)

func parse(content []byte) (*File, Problem, string) {
	var head struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	if err := json.Unmarshal(content, &head); err != nil {
		problem, detail := syntaxProblem(content, err)
		return nil, problem, detail
	}
	if head.Format != format {
		return nil, Foreign,
			fmt.Sprintf("this is not a pawl baseline (its format is %q); name another file with --baseline", head.Format)
	}
	if head.Version > version {
		return nil, Newer,
			fmt.Sprintf("it was written by a newer pawl (version %d, this one reads up to %d); update pawl. Nothing was "+
				"changed", head.Version, version)
	}
	return decode(content)
}

// syntaxProblem says why content is not JSON.
func syntaxProblem(content []byte, err error) (Problem, string) {
	switch {
	case notFinite.Match(content):
		return NotFinite, "it holds NaN or an infinity, which no measurement gives" + restore
	case truncated(content):
		return Truncated, fmt.Sprintf("it is truncated after %d bytes%s", len(content), restore)
	}
	return NotJSON, fmt.Sprintf("it is not JSON: %v%s", err, restore)
}

// truncated reports whether the content is the beginning of JSON.
func truncated(content []byte) bool {
	decoder := json.NewDecoder(bytes.NewReader(content))
	for {
		if _, err := decoder.Token(); err != nil {
			var syntax *json.SyntaxError
			return !errors.As(err, &syntax) || syntax.Offset >= int64(len(content))
		}
	}
}

// Find returns the entry of a key.
func (f *File) Find(key Key) (Entry, bool) { return find(f.Entries, key) }

// FindBest returns the best accepted entry of a key where it is not the baseline
// itself.
func (f *File) FindBest(key Key) (Entry, bool) { return find(f.Best, key) }

// FindGain returns the gain of a key that is provisional.
func (f *File) FindGain(key Key) (Entry, bool) { return find(f.Gains, key) }

// Latest returns what a key was last found to run by: a provisional gain, or the baseline.
func (f *File) Latest(key Key) (Entry, bool) {
	if e, ok := f.FindGain(key); ok {
		return e, true
	}
	return f.Find(key)
}

func find(entries []Entry, key Key) (Entry, bool) {
	for _, e := range entries {
		if e.Key == key {
			return e, true
		}
	}
	return Entry{}, false
}

// OtherDevices returns the devices that the file knows a configuration on, beside
// the key's own.
func (f *File) OtherDevices(key Key) []string {
	var devices []string
	for _, e := range f.Entries {
		if e.Device != key.Device && e.Kernel == key.Kernel && e.Workload == key.Workload && e.Type == key.Type &&
			e.Objective == key.Objective {
			devices = append(devices, e.Device)
		}
	}
	return devices
}

// Put makes an entry the baseline of its key, one that was proven better than the last
// one. What was better still stays as the best accepted entry.
func (f *File) Put(e Entry) {
	if best, ok := f.FindBest(e.Key); ok && !best.better(e) {
		f.forgetBest(e.Key)
	}
	f.Entries, f.Gains = place(f.Entries, e), without(f.Gains, e.Key)
	f.forgetSources()
}

// Accept makes an entry the baseline by a person's decision, and returns that with what
// it moved. The last one may have been better and stays as the best accepted entry then.
// A release is the best accepted entry from then on.
func (f *File) Accept(e Entry, a Acceptance) Acceptance {
	if earlier, ok := f.Find(e.Key); ok {
		a.From = earlier.Median
		if best, ok := f.FindBest(e.Key); earlier.better(e) && (!ok || earlier.better(best)) {
			f.Best = place(f.Best, earlier)
		}
	}
	f.Put(e)
	if a.Release {
		f.forgetBest(e.Key)
	}
	a.Key, a.To, a.Commit = e.Key, e.Median, e.Commit
	f.Accepted = append(f.Accepted, a)
	f.forgetSources()
	return a
}

func (f *File) forgetBest(key Key) { f.Best = without(f.Best, key) }

// Gained notes a confirmed gain over the baseline, and reports whether that has moved: it does when
// the gain before it was of another build, to the smaller of both, which is what both have shown.
// What this build has gained beyond that is provisional again.
func (f *File) Gained(e Entry) (moved bool) {
	before, known := f.FindGain(e.Key)
	if !known || before.Binary == e.Binary && before.Problem == e.Problem {
		f.Gains = place(f.Gains, e)
		f.forgetSources()
		return false
	}
	rest, archive := e, f.Sources[e.Source]
	if before.Gain < e.Gain {
		e = before
	}
	rest.Gain = 1 - (1-rest.Gain)/(1-e.Gain)
	e.Gain = 0
	if f.Put(e); rest.Gain > 0 {
		f.Gains = place(f.Gains, rest)
		f.Keep(rest.Source, archive)
	}
	return true
}

// Lost forgets the gain of a key: a later build has not held it.
func (f *File) Lost(key Key) {
	f.Gains = without(f.Gains, key)
	f.forgetSources()
}

// Remove takes a kernel out of the file and returns the entries that were its baselines.
func (f *File) Remove(chosen func(Entry) bool) (removed []Entry) {
	for _, e := range slices.Clone(f.Entries) {
		if chosen(e) {
			removed = append(removed, e)
			f.Entries, f.Best, f.Gains = without(f.Entries, e.Key), without(f.Best, e.Key), without(f.Gains, e.Key)
		}
	}
	f.forgetSources()
	return removed
}

func without(entries []Entry, key Key) []Entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool { return e.Key == key })
}

// place replaces or adds an entry and keeps the order.
func place(entries []Entry, e Entry) []Entry {
	kept := append(without(entries, e.Key), e)
	slices.SortFunc(kept, func(a, b Entry) int { return a.compare(b.Key) })
	return kept
}

// Keep stores the archive of an entry's sources; empty text is none.
func (f *File) Keep(source, text string) {
	if text == "" {
		return
	}
	if f.Sources == nil {
		f.Sources = map[string]string{}
	}
	f.Sources[source] = text
}

// forgetSources drops the archives that no entry needs any more.
func (f *File) forgetSources() {
	for digest := range f.Sources {
		needed := func(e Entry) bool { return e.Source == digest }
		if !slices.ContainsFunc(slices.Concat(f.Entries, f.Best, f.Gains), needed) {
			delete(f.Sources, digest)
		}
	}
}
