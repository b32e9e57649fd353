package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"pawl/cmd/pawl/console"
	"pawl/internal/thorough"
	"pawl/search"
	"pawl/search/trial"
	"pawl/space"
	"pawl/studies"
)

// pseudoTerminal is a pseudo-terminal: what a program writes to screen can be read here,
// and what is typed reaches the program.
type pseudoTerminal struct {
	keyboard *os.File // the near end
	screen   *os.File // the program's end
	mu       sync.Mutex
	shown    bytes.Buffer
}

// openTerminal opens one. Without a reader its screen stands still when it is full.
func openTerminal(t *testing.T, reader bool) *pseudoTerminal {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals: %v", err)
	}
	t.Cleanup(func() { keyboard.Close() })
	fd := int(keyboard.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	screen, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { screen.Close() })
	term := &pseudoTerminal{keyboard: keyboard, screen: screen}
	term.resize(t, 80)
	if reader {
		go func() { _, _ = io.Copy(term, keyboard) }()
	}
	return term
}

// Write keeps what is shown.
func (term *pseudoTerminal) Write(p []byte) (int, error) {
	term.mu.Lock()
	defer term.mu.Unlock()
	return term.shown.Write(p)
}

func (term *pseudoTerminal) text() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	return term.shown.String()
}

// waitFor waits until something is shown.
func (term *pseudoTerminal) waitFor(t *testing.T, text string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !strings.Contains(term.text(), text); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%q is never shown: %s", text, term.text())
		}
	}
}

func (term *pseudoTerminal) resize(t *testing.T, columns uint16) {
	t.Helper()
	if err := unix.IoctlSetWinsize(int(term.keyboard.Fd()), unix.TIOCSWINSZ,
		&unix.Winsize{Row: 24, Col: columns}); err != nil {
		t.Fatal(err)
	}
}

// typed presses keys.
func (term *pseudoTerminal) typed(t *testing.T, keys string) {
	t.Helper()
	if _, err := term.keyboard.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

// within fails if something takes longer than a minute: then it never ends.
func within(t *testing.T, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatalf("%s hangs", what)
	}
}

// Messages come from several goroutines while the bars are drawn and change.
func TestMessagesDoNotStopTheBars(t *testing.T) {
	term := openTerminal(t, true)
	s, err := space.New([]space.Param{{
		Name:    "A",
		Values:  []space.Value{space.IntegerValue(1)},
		Default: space.IntegerValue(1),
	}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	pool, err := s.Pool(space.PoolOptions{})
	if err != nil {
		t.Fatal(err)
	}
	d := console.NewDisplay(term.screen)
	d.Begin(studies.Study{Subject: studies.Subject{Kernel: "k"}}, trial.Past{}, pool)
	within(t, "the display", func() {
		var wait sync.WaitGroup
		for writer := range 4 {
			wait.Go(func() {
				for i := range 100 {
					fmt.Fprintf(d, "message %d of %d\n", i, writer)
				}
			})
		}
		trial := trial.Trial{Finished: true, Point: s.Default()}
		trial.Outcome.Samples = []float64{1, 2, 3}
		for finished := range 200 {
			d.Observe(search.Progress{
				Phase:    search.SearchPhase,
				Finished: finished,
				Limit:    200,
				Best:     &trial,
				Failures: map[string]int{"hung": finished},
			})
			term.resize(t, uint16(20+finished%100))
			time.Sleep(2 * time.Millisecond)
		}
		wait.Wait()
		d.End()
		fmt.Fprintln(d, "after the end")
	})
	term.waitFor(t, "after the end")
	for writer := range 4 {
		if last := fmt.Sprintf("message 99 of %d", writer); !strings.Contains(term.text(), last) {
			t.Errorf("%q is not shown", last)
		}
	}
	if !strings.Contains(term.text(), "searching: ") {
		t.Error("no bar was drawn")
	}
}

// onTerminal starts a long study of a real kernel.
func onTerminal(t *testing.T, term *pseudoTerminal) *exec.Cmd {
	t.Helper()
	dir := t.TempDir()
	if err := writeExamples(dir); err != nil {
		t.Fatal(err)
	}
	cmd := asPawl(t, dir, "tune", "scale", "--budget", "10m")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = term.screen, term.screen, term.screen
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd
}

// Ctrl-C on a terminal, whenever it is pressed and while the window changes, ends
// the study with its report and exit code 130.
func TestCtrlCOnATerminal(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 1))
	for _, presses := range thorough.Some([]int{1, 1, 2, 2}, 2) {
		term := openTerminal(t, true)
		cmd := onTerminal(t, term)
		term.waitFor(t, "study 1:")
		for range rng.IntN(8) {
			term.resize(t, uint16(20+rng.IntN(120)))
			time.Sleep(time.Duration(rng.IntN(100)) * time.Millisecond)
		}
		term.typed(t, "\x03")
		if presses == 2 {
			term.waitFor(t, "stopping:")
			term.typed(t, "\x03")
		}
		within(t, "pawl after Ctrl-C", func() { _ = cmd.Wait() })
		if code := cmd.ProcessState.ExitCode(); code != console.ExitInterrupted {
			t.Errorf("exit code %d: %s", code, term.text())
		}
		if presses == 1 {
			term.waitFor(t, "wrote tuning/scale/small/suggestions.md")
		}
	}
}

// A terminal that shows nothing more, because of Ctrl-S or because nobody reads it,
// keeps no program from being left.
func TestAStoppedTerminalDoesNotHoldTheProgram(t *testing.T) {
	term := openTerminal(t, false)
	cmd := onTerminal(t, term)
	room := func() int { n, _ := unix.IoctlGetInt(int(term.keyboard.Fd()), unix.TIOCINQ); return n }
	within(t, "filling the screen", func() {
		for before, same := -1, 0; same < 10; time.Sleep(50 * time.Millisecond) {
			now := room()
			if same++; now != before || now == 0 {
				same = 0
			}
			before = now
		}
	})
	for range 2 { // as a signal, because a key would set the screen going again
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	within(t, "pawl on a stopped terminal", func() { _ = cmd.Wait() })
	if code := cmd.ProcessState.ExitCode(); code != console.ExitInterrupted {
		t.Errorf("exit code %d", code)
	}
}
