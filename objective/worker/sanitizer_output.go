package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
)

// findings reads what compute-sanitizer prints, which runs a worker and watches it, and keeps
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
	findingStart = regexp.MustCompile(
		`^(Invalid |Misaligned |Uninitialized |Unused |(Error|Warning|ERR|WARN): Race|Race |` +
			`Potential .* hazard|Barrier |Stack overflow|Missing |Fatal )`)
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
	end := bytes.LastIndexByte(f.partial, '\n') + 1
	for line := range bytes.Lines(f.partial[:end]) {
		f.line(string(line))
	}
	if f.partial = f.partial[end:]; len(f.partial) > tailSize {
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

// said returns what the tool found, nil for nothing, what it says about itself, empty
// where it works, and whether it has come to its end.
func (f *findings) said() (found *Fault, broken string, ended bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.first != nil {
		found = &Fault{Kind: SanitizerFinding, Detail: strings.Join(f.first, "; ")}
	}
	return found, f.broken, f.summary
}

// lastWords is how long a tool may take to report after its worker has ended.
const lastWords = 20 * time.Second

// Conclude ends a worker that runs under a tool and returns what the tool found,
// as a *Fault. Tools report when they please, some only at the end, so that only
// now their silence means something. An error that is no Fault says that the tool
// did not do its work. Only Close may follow.
func (c *Client) Conclude(ctx context.Context) error {
	if c.finished || c.found == nil {
		return errors.New("worker: nothing watches it, or it has ended")
	}
	left := c.leave(ctx)
	found, broken, ended := c.found.said()
	reason := "it went on"
	switch {
	case found != nil:
		return found
	case broken != "":
		reason = "the tool says " + broken
	case !ended:
		reason = "the tool ended without a summary"
	case left:
		return nil
	}
	return fmt.Errorf("%s: nothing is known about this case (%s; it printed %q)", c.command.Under[0], reason,
		tellingLine(c.output.String()))
}

// Leave ends a worker that runs under a tool and waits until the tool has ended as well. The
// error says that the tool went on, or how it ended. Only Close and Printed may follow.
func (c *Client) Leave(ctx context.Context) error {
	if c.finished {
		return errors.New("worker: it has ended already")
	}
	left, tool := c.leave(ctx), c.command.Under[0]
	switch status := c.status(); {
	case !left:
		return fmt.Errorf("%s went on after its worker had ended", tool)
	case status.Signaled():
		return fmt.Errorf("%s was ended by a signal (%s)", tool, status.Signal())
	case status.ExitStatus() != 0:
		return fmt.Errorf("%s ended with status %d", tool, status.ExitStatus())
	}
	return nil
}

// leave ends a worker and reports whether it and its tool have ended by themselves.
func (c *Client) leave(ctx context.Context) bool {
	c.process.Requests.Close() // a healthy worker leaves at the end of its pipe
	heard := c.listen(ctx)
	return c.finish() && heard
}

// Printed is the end of what the worker and a tool that runs it have printed.
func (c *Client) Printed() string { return c.output.String() }

// listen waits until the tool has said everything, and reports whether it has.
func (c *Client) listen(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, lastWords)
	defer cancel()
	select {
	case <-c.process.Ended:
		return true
	case <-ctx.Done():
		return false
	}
}
