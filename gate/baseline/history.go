package baseline

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"pawl/gate"
	"pawl/internal/page"
	"pawl/internal/stats"
)

// HistoryName is the file beside the baseline that keeps every gate run, one line
// per comparison, and every acceptance.
const HistoryName = "history.jsonl"

// Accepted and Removed are the verdicts of events that are a person's decision and no comparison.
const (
	Accepted gate.Verdict = "accepted"
	Removed  gate.Verdict = "removed"
)

// Decision reports whether an event is a person's.
func (e Event) Decision() bool { return e.Verdict == Accepted || e.Verdict == Removed }

// Event is one comparison of one gate run, or an acceptance.
type Event struct {
	Time time.Time `json:"time"`
	Key
	Commit  string       `json:"commit,omitempty"`
	Point   string       `json:"point"`
	Verdict gate.Verdict `json:"verdict"`
	Reason  string       `json:"reason"`
	// By is who decided, of a decision, and Sources the files that it is about.
	By      string `json:"by,omitempty"`
	Sources string `json:"sources,omitempty"`
	// Median and Interval are the candidate's, in milliseconds; Median is 0 where
	// it was not measured.
	Median   float64        `json:"median,omitempty"`
	Interval stats.Interval `json:"interval,omitzero"`
	// Change is against the baseline of the day: positive means faster.
	Change *float64 `json:"change,omitempty"`
}

// Event is the line of the history about an acceptance. Its change is between two times
// that were not measured together.
func (a Acceptance) Event(e Entry) Event {
	event := Event{
		Time:     a.Time,
		Key:      a.Key,
		Commit:   a.Commit,
		Point:    e.Point,
		Verdict:  Accepted,
		Reason:   a.Reason,
		By:       a.By,
		Median:   e.Median,
		Interval: e.Interval,
	}
	if a.From > 0 {
		event.Change = new(stats.Change(a.From, a.To))
	}
	return event
}

// HistoryPath returns where the history of a baseline lies.
func HistoryPath(baseline string) string { return filepath.Join(filepath.Dir(baseline), HistoryName) }

// AppendHistory adds events and forces them to the disk. A line that a killed run
// left unfinished is closed first, so that it costs only itself.
func AppendHistory(path string, events []Event) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("writing the history: %w", err)
		}
	}()
	var lines bytes.Buffer
	for _, e := range events {
		encoded, err := json.Marshal(e)
		if err != nil {
			return err
		}
		lines.Write(append(addDigest(encoded), '\n'))
	}
	unlock, err := page.Lock(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if open, err := endsOpen(f); err != nil {
		return err
	} else if open {
		lines = *bytes.NewBuffer(append([]byte{'\n'}, lines.Bytes()...))
	}
	if _, err := f.Write(lines.Bytes()); err != nil {
		return err
	}
	return f.Sync()
}

// endsOpen reports whether a file's last line has no end.
func endsOpen(f *os.File) (bool, error) {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return false, err
	}
	last := make([]byte, 1)
	_, err = f.ReadAt(last, info.Size()-1)
	return last[0] != '\n', err
}

// ReadHistory returns the events in the order written and how many lines could
// not be read.
func ReadHistory(path string) (events []Event, damaged int, err error) {
	content, err := page.ReadIfThere(path)
	if err != nil {
		return nil, 0, fmt.Errorf("reading the history: %w", err)
	}
	events, damaged = ParseHistory(content)
	return events, damaged, nil
}

// ParseHistory reads the text of a history as ReadHistory does.
func ParseHistory(content []byte) (events []Event, damaged int) {
	for line := range bytes.Lines(content) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var e Event
		if err := json.Unmarshal(line, &e); err != nil || !soundLine(bytes.TrimSpace(line)) {
			damaged++
			continue
		}
		events = append(events, e)
	}
	return events, damaged
}

// Decisions are what people have decided in one history, and another one does not have.
func Decisions(events, known []Event) (decided []Event) {
	for _, e := range events {
		same := func(o Event) bool { return o.Time.Equal(e.Time) && o.Key == e.Key }
		if e.Decision() && !slices.ContainsFunc(known, same) {
			decided = append(decided, e)
		}
	}
	return decided
}

// digestKey begins the last part of a line: a digest of what stands before it. Lines of
// an older pawl have none.
const digestKey = `,"digest":"`

// addDigest adds its digest to an encoded event.
func addDigest(encoded []byte) []byte {
	return fmt.Appendf(nil, `%s%s%.8x"}`, encoded[:len(encoded)-1], digestKey, sha256.Sum256(encoded))
}

// soundLine reports whether a line is what was written.
func soundLine(line []byte) bool {
	at := bytes.LastIndex(line, []byte(digestKey))
	if at < 0 {
		return true
	}
	return bytes.Equal(line, addDigest(append(bytes.Clone(line[:at]), '}')))
}
