package rivals

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"time"

	"pawl/internal/process"
	"pawl/kernels"
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
	process *process.Process
	answers chan []byte // closed at its end
	errors  *process.Output
}

// missingError says why a rival has no times. It is no failure of pawl's.
type missingError struct{ reason string }

func (e *missingError) Error() string { return e.reason }

// start begins a rival in the kernel's folder; modules holds what Python may import. The error is a *missingError
// where there is no such program.
func start(r kernels.Rival, folder, modules string) (*rival, error) {
	errors := &process.Output{Keep: keptErrors, Last: true}
	p, err := process.Start(process.Command{
		Line: r.Command, Dir: folder, Dialog: process.OnStandard, Stderr: errors, Contained: true,
		Environment: append(process.Environment(os.Environ()), "PYTHONPATH="+modules, "PYTHONDONTWRITEBYTECODE=1"),
	})
	if err != nil {
		return nil, &missingError{fmt.Sprintf("cannot be started: %v", err)}
	}
	started := &rival{name: r.Name, process: p, answers: make(chan []byte), errors: errors}
	go started.read()
	return started, nil
}

// read passes lines on until the process ends, and then waits for it.
func (r *rival) read() {
	defer close(r.answers)
	lines := bufio.NewScanner(r.process.Answers)
	lines.Buffer(nil, longestAnswer)
	for lines.Scan() {
		r.answers <- bytes.Clone(lines.Bytes())
	}
	r.process.Kill() // a line too long, or output closed: nothing more can be asked
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
		_, err := r.process.Requests.Write(append(line, '\n'))
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
	if state := r.process.State; state != nil {
		reason += " (" + state.String() + ")"
	}
	if said := r.errors.LastLine(); said != "" {
		reason += ": " + said
	}
	return &missingError{reason}
}

// close ends the rival, whatever it does.
func (r *rival) close() {
	r.process.Kill()
	for range r.answers { // until nobody reads on
	}
	r.process.Close()
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
