package rivals

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"pawl/kernels"
	"pawl/objective/worker/process"
)

const (
	// longestAnswer is the longest line that a rival may answer with.
	longestAnswer = 1 << 20
	// keptErrors is how much of what it says to standard error is kept, from the end.
	keptErrors = 4 << 10
)

// rival is a running rival. Its methods are called one at a time.
type rival struct {
	name    string
	process *exec.Cmd
	stdin   io.WriteCloser
	answers chan []byte // closed at its end
	errors  *tail
}

// missingError says why a rival has no times. It is no failure of pawl's.
type missingError struct{ reason string }

func (e *missingError) Error() string { return e.reason }

// start begins a rival in the kernel's folder; modules holds what Python may import. The error is a *missingError
// where there is no such program.
func start(r kernels.Rival, folder, modules string) (*rival, error) {
	cmd := exec.Command(r.Command[0], r.Command[1:]...)
	cmd.Dir, cmd.Env = folder,
		append(process.Environment(os.Environ()), "PYTHONPATH="+modules, "PYTHONDONTWRITEBYTECODE=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	errors := &tail{}
	cmd.Stderr = errors
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := process.Start(cmd); err != nil {
		return nil, &missingError{fmt.Sprintf("cannot be started: %v", err)}
	}
	started := &rival{name: r.Name, process: cmd, stdin: stdin, answers: make(chan []byte), errors: errors}
	go started.read(stdout)
	return started, nil
}

// read passes lines on until the process ends, and then waits for it.
func (r *rival) read(stdout io.Reader) {
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, longestAnswer)
	for lines.Scan() {
		r.answers <- bytes.Clone(lines.Bytes())
	}
	process.KillGroup(r.process.Process.Pid) // a line too long, or output closed: nothing more can be asked
	_ = r.process.Wait()
	close(r.answers)
}

// ask sends a request and waits for the answer. A *missingError says that the rival has none;
// it is not asked again then.
func (r *rival) ask(ctx context.Context, q request, patience time.Duration) (none response, err error) {
	line, err := json.Marshal(q)
	if err != nil {
		return none, err
	}
	sent := make(chan error, 1)
	go func() {
		_, err := r.stdin.Write(append(line, '\n'))
		sent <- err
	}()
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case answer, more := <-r.answers:
		if !more {
			return none, r.ended()
		}
		return readResponse(answer, q.Samples)
	case <-late.C:
		return none, &missingError{fmt.Sprintf("gave no answer in %s", patience)}
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

// ended says how the process ended.
func (r *rival) ended() error {
	reason := "ended without an answer"
	if state := r.process.ProcessState; state != nil {
		reason += " (" + state.String() + ")"
	}
	if said := r.errors.lastLine(); said != "" {
		reason += ": " + said
	}
	return &missingError{reason}
}

// close ends the rival, whatever it does.
func (r *rival) close() {
	r.stdin.Close()
	process.KillGroup(r.process.Process.Pid)
	for range r.answers { // until it is waited for
	}
}

// readResponse reads an answer. Anything that is no list of times is no answer.
func readResponse(line []byte, wanted int) (answer response, err error) {
	if err := json.Unmarshal(line, &answer); err != nil {
		return answer, &missingError{fmt.Sprintf("answered what is no line of JSON with samples_ms: %v", err)}
	}
	if answer.Missing != "" {
		return answer, &missingError{answer.Missing}
	}
	if len(answer.Samples) < wanted {
		return answer, &missingError{fmt.Sprintf("answered with %d samples, %d were asked for", len(answer.Samples), wanted)}
	}
	for _, s := range answer.Samples {
		if !(s > 0) || math.IsInf(s, 0) {
			return answer, &missingError{fmt.Sprintf("answered with %g ms, which is no time", s)}
		}
	}
	return answer, nil
}

// isMissing reports whether an error says that a rival has no times, and why.
func isMissing(err error) (reason string, is bool) {
	if missing, ok := errors.AsType[*missingError](err); ok {
		return cmp.Or(missing.reason, "no reason given"), true
	}
	return "", false
}

// tail keeps the end of what is written to it.
type tail struct {
	mutex sync.Mutex
	text  []byte
}

// Write keeps the last bytes.
func (t *tail) Write(p []byte) (int, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.text = append(t.text, p...)
	if len(t.text) > keptErrors {
		t.text = bytes.Clone(t.text[len(t.text)-keptErrors:])
	}
	return len(p), nil
}

// lastLine returns the last line that is not empty: of a Python traceback, the error.
func (t *tail) lastLine() string {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
