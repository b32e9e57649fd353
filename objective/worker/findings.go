package worker

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
)

// findings reads what a tool prints that runs a worker and watches it, and keeps
// the first thing that it found. The tool marks its lines, so that nothing that a
// kernel prints by chance is taken for one of them.
type findings struct {
	mu      sync.Mutex
	partial []byte
	first   []string // the lines of the first finding
	broken  string   // what the tool says about itself
	summary bool     // the tool has come to its end
}

// toolMark begins every line of compute-sanitizer.
const toolMark = "========="

// findingLines is how much of a finding is kept: what happened, where, by which
// thread, at which address.
const findingLines = 4

var (
	findingStart = regexp.MustCompile(`^(Invalid |Misaligned |Uninitialized |Unused |(Error|Warning|ERR|WARN): Race|Race |Potential .* hazard|Barrier |Stack overflow|Missing |Fatal )`)
	findingCount = regexp.MustCompile(`^(ERROR|RACECHECK|LEAK) SUMMARY: ([0-9]+) `)
	toolFailure  = regexp.MustCompile(`^(Internal Sanitizer Error|Error: )`)
)

// exitNotice is what the tool says about a worker whose exit status is not 0,
// which is how one ends whose device a kernel has broken.
const exitNotice = "process didn't terminate successfully"

// Write takes output in pieces of any size.
func (f *findings) Write(output []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.partial = append(f.partial, output...)
	for {
		end := bytes.IndexByte(f.partial, '\n')
		if end < 0 {
			break
		}
		f.line(string(f.partial[:end]))
		f.partial = f.partial[end+1:]
	}
	if len(f.partial) > tailSize {
		f.partial = nil // no line of the tool's
	}
	return len(output), nil
}

func (f *findings) line(line string) {
	text, marked := strings.CutPrefix(strings.TrimSpace(line), toolMark)
	text = strings.TrimSpace(text)
	if !marked || text == "" {
		return
	}
	count := findingCount.FindStringSubmatch(text)
	f.summary = f.summary || count != nil
	switch {
	case findingStart.MatchString(text), count != nil && count[2] != "0":
		if f.first == nil {
			f.first = []string{text}
		}
	case count != nil:
	case toolFailure.MatchString(text) && !strings.HasSuffix(text, exitNotice):
		f.broken = text
	case len(f.first) > 0 && len(f.first) < findingLines:
		f.first = append(f.first, text)
	}
}

// fault returns what was found, nil for nothing.
func (f *findings) fault() *Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.first == nil {
		return nil
	}
	return &Fault{Kind: SanitizerFinding, Detail: strings.Join(f.first, "; ")}
}

// trouble is what the tool says about itself; empty for one that works.
func (f *findings) trouble() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.broken
}

// complete says why the tool's silence means nothing; it is empty for a tool
// that has watched to the end.
func (f *findings) complete() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.broken != "":
		return "the tool says " + f.broken
	case !f.summary:
		return "the tool ended without a summary"
	}
	return ""
}
