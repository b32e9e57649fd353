package console

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"pawl/internal/escape"
	"pawl/internal/page"
)

// Output is standard output or error for everything that this program says. Text
// from outside (a compiler's complaint, a kernel's last words, a name in a record)
// reaches the terminal as text and a log of GitHub as no command, wherever it was
// printed. Only a display that draws asks for the file itself.
//
// On a terminal, prose is broken between words where the window ends. A line that begins with a blank, or that has the
// gap of a column, is a table, a command or somebody's code, and stays as it is. Anywhere else nothing is broken, so
// that a line can be searched for.
type Output struct {
	File *os.File
	// Plain says that tones are not shown as colors, as where NO_COLOR is set.
	Plain bool

	mu sync.Mutex
	// midway says that the last write did not end its line.
	midway bool
	// failed is the first error of a write.
	failed error
}

// Err returns the first error of a write: what the program said may be missing.
func (o *Output) Err() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.failed
}

// Write passes text on, line by line as escape.Lines writes it.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.put(o.shown(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// shown is a text as it is written, and remembers whether it ends its line.
func (o *Output) shown(text string) string {
	begun := o.midway
	if begun {
		text = "." + text // two colons in the middle of a line are no command
	}
	safe := escape.Lines(text)
	if begun {
		safe = safe[1:]
	}
	if safe != "" {
		o.midway = safe[len(safe)-1] != '\n'
	}
	if columns := Columns(o.File); columns > 0 && !begun {
		safe = fillLines(safe, columns)
	}
	return safe
}

func (o *Output) put(text string) error {
	_, err := io.WriteString(o.File, text)
	o.failed = cmp.Or(o.failed, err)
	return err
}

// colors are how a terminal shows tones.
var colors = map[page.Tone]string{page.Good: "\x1b[1;32m", page.Bad: "\x1b[1;31m", page.Warning: "\x1b[33m"}

// Toned writes a line, with a part of it in a color where the file is a terminal that has them.
func (o *Output) Toned(tone page.Tone, before, part, after string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	text := o.shown(before + part + after + "\n")
	if color := colors[tone]; color != "" && !o.Plain && terminal(o.File) != nil {
		// The color is put in last, so that nothing from outside can bring its own.
		if safe := escape.Line(part); strings.Contains(text, safe) {
			at := strings.Index(text, safe)
			text = text[:at] + color + safe + "\x1b[0m" + text[at+len(safe):]
		}
	}
	_ = o.put(text) // remembered
}

// Columns is the width of the terminal that a writer leads to, 0 where it is none.
func Columns(w io.Writer) int {
	f := terminal(w)
	if f == nil {
		return 0
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return columns
}

// fillLines breaks the lines of prose that are longer than a terminal is wide.
func fillLines(text string, columns int) string {
	var filled strings.Builder
	for line := range strings.Lines(text) {
		body, end := strings.TrimSuffix(line, "\n"), line[len(strings.TrimSuffix(line, "\n")):]
		if utf8.RuneCountInString(body) > columns && !strings.HasPrefix(body, " ") && !strings.Contains(body, "   ") {
			body = page.Fill(body, columns)
		}
		filled.WriteString(body + end)
	}
	return filled.String()
}

// terminal returns the terminal that a writer leads to, nil where it is none.
func terminal(w io.Writer) *os.File {
	if o, ok := w.(*Output); ok {
		w = o.File
	}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return f
	}
	return nil
}

// ProgressLine returns a line on a terminal that changes in place, and nothing
// anywhere else. It must be cleared before anything else is printed.
func ProgressLine(w io.Writer) (show func(text string), clear func()) {
	f := terminal(w)
	if f == nil {
		return func(string) {}, func() {}
	}
	return func(text string) { fmt.Fprint(f, "\r\x1b[K"+escape.Line(text)) }, func() { fmt.Fprint(f, "\r\x1b[K") }
}

// SimulationBar shows the progress on a terminal, and nothing elsewhere.
func SimulationBar(env Environment) (update func(done, total int), finish func()) {
	f := terminal(env.Stderr)
	if f == nil {
		return nil, func() {}
	}
	bars := mpb.New(mpb.WithOutput(f), mpb.WithWidth(50), mpb.WithRefreshRate(200*time.Millisecond))
	bar := bars.AddBar(0,
		mpb.PrependDecorators(decor.CountersNoUnit("%d of %d searches ")),
		mpb.AppendDecorators(decor.AverageETA(decor.ET_STYLE_GO)))
	update = func(done, total int) {
		bar.SetTotal(int64(total), false)
		bar.SetCurrent(int64(done))
	}
	return update, func() {
		bar.SetTotal(-1, true)
		bars.Shutdown()
	}
}
