// Package python runs Python for those who need it: the compiler of Triton kernels, references
// that are written in Python, and readers of such files.
//
// Importing takes a second, so a process stays and answers one request after the other, on
// descriptors that what it executes does not know. What it executes is the user's: it may
// print, hang, crash or grow. Such a process is killed, and the next request has a fresh one.
//
//  1. Find says which Python.
//  2. A Server starts processes as they are needed, one for each request at a time.
//  3. Ask hands a request to an idle one.
package python

import (
	"cmp"
	"context"
	_ "embed" // the loop
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"time"

	"pawl/internal/process"
)

// Variable names the Python to use.
const Variable = "PAWL_PYTHON"

// Find returns the Python that everything uses: that of the variable, or python3 on the path.
func Find(getenv func(string) string) (string, error) {
	name := cmp.Or(getenv(Variable), "python3")
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("no Python 3 (%q): install it, or set %s to one", name, Variable)
	}
	return path, nil
}

// Refusal is the answer that something cannot be done.
type Refusal struct {
	// Kind is the script's own word for whose business it is.
	Kind string
	// Message is for a person.
	Message string
}

func (r *Refusal) Error() string { return r.Message }

// Death says that the process ended, or said something that is no answer.
type Death string

func (d Death) Error() string { return string(d) }

//go:embed serve.py
var loop string

// Server is a script and the processes that run it. It is safe for concurrent use. Processes
// end with this one.
type Server struct {
	// Path is the Python.
	Path string
	// Script ends with a call of serve, which is defined above it.
	Script string
	// Environment is added to this process's own.
	Environment []string

	mu   sync.Mutex
	idle []*running
}

// running is a process that waits for a request.
type running struct {
	*process.Process
	printed *process.Output
	number  int  // of the last request
	grown   bool // it has taken too much memory to stay
	about   json.RawMessage
}

const (
	// startTime is how long a process may take until it is ready: imports from a cold disk.
	startTime = 2 * time.Minute
	// mostPrinted is what a process may print for a request, in bytes; keptPrinted is what is
	// kept of it.
	mostPrinted, keptPrinted = 64 << 20, 64 << 10
	// leastGrown is how much memory a process may always have, in bytes.
	leastGrown = 1 << 30
)

// About returns what the script says of itself.
func (s *Server) About(ctx context.Context, about any) error {
	p, err := s.take(ctx)
	if err != nil {
		return err
	}
	s.put(p)
	return json.Unmarshal(p.about, about)
}

// Ask hands a request to a process and waits for the answer. Errors are a *Refusal, a Death,
// process.ErrTime, the cause of the context, and why no process could be started. What the
// process printed on the way comes with the answer.
func (s *Server) Ask(ctx context.Context, allowed time.Duration, request, answer any) (printed string, err error) {
	p, err := s.take(ctx)
	if err != nil {
		return "", err
	}
	p.number++
	p.printed.Recount()
	before := len(p.printed.String())
	line, err := json.Marshal(map[string]any{"number": p.number, "request": request})
	if err != nil {
		panic("python: a request cannot be written: " + err.Error())
	}
	content, err := p.exchange(ctx, allowed, line)
	printed = p.printed.String()
	printed = printed[min(before, len(printed)):]
	if refused := (*Refusal)(nil); err != nil && !errors.As(err, &refused) {
		p.end()
		return printed, err
	}
	s.put(p)
	if err != nil {
		return printed, err
	}
	return printed, json.Unmarshal(content, answer)
}

// take returns an idle process, or a new one that is ready.
func (s *Server) take(ctx context.Context) (*running, error) {
	s.mu.Lock()
	for len(s.idle) > 0 {
		p := s.idle[len(s.idle)-1]
		s.idle = s.idle[:len(s.idle)-1]
		if p.Alive() {
			s.mu.Unlock()
			return p, nil
		}
		p.Close()
	}
	s.mu.Unlock()
	p := &running{printed: &process.Output{Keep: keptPrinted, Last: true, Flood: mostPrinted}}
	var err error
	p.Process, err = process.Start(process.Command{
		Line:        []string{s.Path, "-c", loop + "\n\n" + s.Script},
		Environment: slices.Concat(os.Environ(), s.Environment, []string{"PYTHONDONTWRITEBYTECODE=1"}),
		Dialog:      process.OnExtra, Stdout: p.printed, Stderr: p.printed, Background: true,
		Memory: process.Memory() / 2,
	})
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", s.Path, err)
	}
	if p.about, err = p.exchange(ctx, startTime, nil); err != nil {
		p.end()
		return nil, err
	}
	return p, nil
}

// put keeps a process for the next request.
func (s *Server) put(p *running) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.grown {
		p.end()
		return
	}
	s.idle = append(s.idle, p)
}

func (p *running) end() {
	p.Kill()
	p.Close()
}

// reply is a line from the process.
type reply struct {
	Number int             `json:"number"`
	Answer json.RawMessage `json:"answer"`
	Error  *string         `json:"error"`
	Kind   string          `json:"kind"`
	Peak   uint64          `json:"peak"`
}

// exchange sends a line, where there is one, and reads a reply.
func (p *running) exchange(ctx context.Context, allowed time.Duration, line []byte) (json.RawMessage, error) {
	ctx, cancel := process.Allow(ctx, allowed)
	defer cancel()
	line, err := p.Process.Ask(ctx, line)
	switch {
	case errors.Is(err, process.ErrFlood):
		return nil, Death(fmt.Sprintf("it printed more than %d MB", mostPrinted>>20))
	case errors.Is(err, process.ErrEnded):
		return nil, Death("Python " + err.Error())
	case err != nil:
		return nil, err
	}
	var r reply
	if err := json.Unmarshal(line, &r); err != nil || r.Number != p.number {
		return nil, Death(fmt.Sprintf("something wrote %.60q where answers are read", line))
	}
	p.grown = r.Peak > max(process.Memory()/uint64(2*runtime.NumCPU()), leastGrown)
	if r.Error != nil {
		return nil, &Refusal{r.Kind, *r.Error}
	}
	return r.Answer, nil
}
