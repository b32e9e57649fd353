package process

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
)

// MachineFault is an error that says nothing about what was run: the machine did not let it run. Somebody else has
// killed it, a file of ours is gone, or the system refused memory, room on the disk or a descriptor. What was run may
// be as good as before, so that it is tried again, and nothing is recorded about it.
type MachineFault struct {
	// What happened, for a person.
	What string
	// Err is what the system said, or how the end would be explained if it were the program's own; nil for neither.
	Err error
}

func (f *MachineFault) Error() string {
	if f.Err == nil {
		return f.What
	}
	return fmt.Sprintf("%s: %v", f.What, f.Err)
}

func (f *MachineFault) Unwrap() error { return f.Err }

// FaultOfMachine returns the machine's fault that an error tells of, nil for none. A system call of this process that
// was refused is one too, whoever made it.
func FaultOfMachine(err error) *MachineFault {
	if fault, ok := errors.AsType[*MachineFault](err); ok {
		return fault
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	if _, refused := errors.AsType[syscall.Errno](err); refused {
		return &MachineFault{What: "the system refused", Err: err}
	}
	return nil
}

// fromOutside are the signals that only somebody else sends: a person, a supervisor, or the system where memory runs
// out. Confine refuses them to a kernel, so that none can send them to itself.
var fromOutside = []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT}

// FromOutside reports whether a signal, by its number, is one that only somebody else sends.
func FromOutside(signal int) bool { return slices.Contains(fromOutside, syscall.Signal(signal)) }

// ownMemory is the share of the memory that a process may have, beyond which its use is why the system ended it.
const ownMemory = 0.5

// Killed returns the machine's fault where somebody else has ended the process by a signal, and not Kill; nil where it
// has ended in another way. Allowed is how many bytes it was allowed, 0 for all there are: a process that was killed
// with a large part of them in use has run out of memory by itself, which is its own fault. Name is what the process is
// in a message. It may be called once Ended is closed.
func (p *Process) Killed(name string, allowed uint64) *MachineFault {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.State == nil {
		return nil
	}
	status, known := p.State.Sys().(syscall.WaitStatus)
	if !known || p.ended || !status.Signaled() || !FromOutside(int(status.Signal())) || p.exhausted(allowed) {
		return nil
	}
	return &MachineFault{What: fmt.Sprintf("%s was killed from outside (%s)", name, signalText(status.Signal()))}
}

// Exhausted reports whether the process, or one that it has waited for, had a large part of the memory in use that it
// was allowed, in bytes; 0 for all there is.
func (p *Process) Exhausted(allowed uint64) bool { return p.exhausted(allowed) }

func (p *Process) exhausted(allowed uint64) bool {
	usage, known := p.State.SysUsage().(*syscall.Rusage)
	if !known {
		return false
	}
	if most := Memory(); allowed == 0 || most > 0 && most < allowed {
		allowed = most
	}
	return allowed > 0 && float64(usage.Maxrss)*rssUnit > ownMemory*float64(allowed)
}

func signalText(s syscall.Signal) string {
	names := map[syscall.Signal]string{syscall.SIGKILL: "SIGKILL", syscall.SIGTERM: "SIGTERM", syscall.SIGINT: "SIGINT",
		syscall.SIGHUP: "SIGHUP", syscall.SIGQUIT: "SIGQUIT"}
	return names[s]
}
