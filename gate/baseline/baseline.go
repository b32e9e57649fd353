package baseline

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"
)

// File is the content of baseline.json; [document] is how it is written. Current results
// have the same form.
type File struct {
	// Entries are sorted, one per key.
	Entries []Baseline `json:"entries"`
}

// Baseline is the entry that a configuration is compared with, and what belongs to it.
type Baseline struct {
	Entry
	// Best is the best accepted entry where that is another one: what erosion is measured against.
	Best *Entry `json:"best,omitempty"`
	// Provisional is a confirmed gain that no later build has held yet. Code may be fast by the luck of
	// its layout: a gain is the baseline only when two builds have shown it.
	Provisional *Entry `json:"provisional,omitempty"`
	// Accepted is the trail of decisions by people.
	Accepted []Acceptance `json:"accepted,omitempty"`
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
	// Change is what the gate has measured between both, together; nil where it has not.
	Change *float64 `json:"change,omitempty"`
	// Release says that erosion is measured against what was accepted, and no longer
	// against what was better before.
	Release bool   `json:"release,omitempty"`
	Commit  string `json:"commit,omitempty"`
}

// New returns a file without entries.
func New() *File { return &File{} }

// Read returns the file, or an empty one where there is none. Any doubt about its
// content is an error, and the file stays as it is.
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

// of returns the baseline of a key, nil where there is none.
func (f *File) of(key Key) *Baseline {
	if i := slices.IndexFunc(f.Entries, func(b Baseline) bool { return b.Key == key }); i >= 0 {
		return &f.Entries[i]
	}
	return nil
}

// Find returns the entry of a key.
func (f *File) Find(key Key) (Entry, bool) {
	if b := f.of(key); b != nil {
		return b.Entry, true
	}
	return Entry{}, false
}

// FindBest returns the best accepted entry of a key where it is not the baseline
// itself.
func (f *File) FindBest(key Key) (Entry, bool) {
	if b := f.of(key); b != nil && b.Best != nil {
		return *b.Best, true
	}
	return Entry{}, false
}

// FindGain returns the gain of a key that is provisional.
func (f *File) FindGain(key Key) (Entry, bool) {
	if b := f.of(key); b != nil && b.Provisional != nil {
		return *b.Provisional, true
	}
	return Entry{}, false
}

// Latest returns what a key was last found to run by: a provisional gain, or the baseline.
func (f *File) Latest(key Key) (Entry, bool) {
	if e, ok := f.FindGain(key); ok {
		return e, true
	}
	return f.Find(key)
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

// put places a baseline and keeps the order.
func (f *File) put(b Baseline) {
	if now := f.of(b.Key); now != nil {
		*now = b
		return
	}
	f.Entries = append(f.Entries, b)
	slices.SortFunc(f.Entries, func(a, b Baseline) int { return a.compare(b.Key) })
}

// Put makes an entry the baseline of its key, one that was proven better than the last
// one. What was better still stays as the best accepted entry.
func (f *File) Put(e Entry) {
	b := Baseline{Entry: e}
	if now := f.of(e.Key); now != nil {
		b.Accepted = now.Accepted
		if now.Best != nil && now.Best.better(e) {
			b.Best = now.Best
		}
	}
	f.put(b)
}

// Accept makes an entry the baseline by a person's decision, and returns that with what
// it moved. The last one may have been better and stays as the best accepted entry then.
// A release is the best accepted entry from then on.
func (f *File) Accept(e Entry, a Acceptance) Acceptance {
	if now := f.of(e.Key); now != nil {
		a.From = now.Median
		if earlier := now.Entry; earlier.better(e) && (now.Best == nil || earlier.better(*now.Best)) {
			now.Best = &earlier
		}
	}
	f.Put(e)
	a.Key, a.To, a.Commit = e.Key, e.Median, e.Commit
	now := f.of(e.Key)
	now.Accepted = append(slices.Clip(now.Accepted), a)
	if a.Release {
		now.Best = nil
	}
	return a
}

// Gained notes a confirmed gain over the baseline, and reports whether that has moved: it does when
// the gain before it was of another build, to the smaller of both, which is what both have shown.
// What this build has gained beyond that is provisional again.
func (f *File) Gained(e Entry) (moved bool) {
	before, known := f.FindGain(e.Key)
	if !known || before.Binary == e.Binary && before.Problem == e.Problem {
		f.of(e.Key).Provisional = &e
		return false
	}
	rest := e
	if before.Gain < e.Gain {
		e = before
	}
	rest.Gain = 1 - (1-rest.Gain)/(1-e.Gain)
	e.Gain = 0
	if f.Put(e); rest.Gain > 0 {
		f.of(e.Key).Provisional = &rest
	}
	return true
}

// Lost forgets the gain of a key: a later build has not held it.
func (f *File) Lost(key Key) {
	if b := f.of(key); b != nil {
		b.Provisional = nil
	}
}

// Remove takes a kernel out of the file and returns the entries that were its baselines.
func (f *File) Remove(chosen func(Entry) bool) (removed []Entry) {
	f.Entries = slices.DeleteFunc(slices.Clone(f.Entries), func(b Baseline) bool {
		if chosen(b.Entry) {
			removed = append(removed, b.Entry)
		}
		return chosen(b.Entry)
	})
	return removed
}
