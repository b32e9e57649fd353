package console

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"pawl/internal/escape"
)

// Output is standard output or error for everything that this program says. Text
// from outside (a compiler's complaint, a kernel's last words, a name in a record)
// reaches the terminal as text and a log of GitHub as no command, wherever it was
// printed. Only a display that draws asks for the file itself.
type Output struct {
	File *os.File

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
	text := string(p)
	if o.midway {
		text = "." + text // two colons in the middle of a line are no command
	}
	safe := escape.Lines(text)
	if o.midway {
		safe = safe[1:]
	}
	if len(p) > 0 {
		o.midway = p[len(p)-1] != '\n'
	}
	if _, err := io.WriteString(o.File, safe); err != nil {
		o.failed = cmp.Or(o.failed, err)
		return 0, err
	}
	return len(p), nil
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
