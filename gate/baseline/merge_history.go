package baseline

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"
)

// MergeHistory joins the texts of two histories and counts the lines that only ours had.
// Every line of either is kept once, in the order of time; one that cannot be read stays
// behind the line that it followed.
func MergeHistory(ours, theirs []byte) (merged []byte, added int) {
	lines := historyLines(theirs)
	known := map[string]bool{}
	for _, line := range lines {
		known[string(line.text)] = true
	}
	for _, line := range historyLines(ours) {
		if !known[string(line.text)] {
			known[string(line.text)] = true
			lines = append(lines, line)
			added++
		}
	}
	if added == 0 {
		return theirs, 0
	}
	slices.SortStableFunc(lines, func(a, b historyLine) int { return a.time.Compare(b.time) })
	for _, line := range lines {
		merged = append(append(merged, line.text...), '\n')
	}
	return merged, added
}

// historyLine is a line without its end. Its time is that of the line before where it
// has none that can be read.
type historyLine struct {
	text []byte
	time time.Time
}

func historyLines(text []byte) (lines []historyLine) {
	var last time.Time
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, "\r\n")
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var e Event
		if json.Unmarshal(line, &e) == nil && !e.Time.IsZero() {
			last = e.Time
		}
		lines = append(lines, historyLine{line, last})
	}
	return lines
}
