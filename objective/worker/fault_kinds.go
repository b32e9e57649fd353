package worker

import (
	"fmt"
	"strings"
	"syscall"

	"pawl/internal/process"
)

// FaultKind says how a kernel ended its worker.
type FaultKind string

// The ways in which a kernel ends its worker.
const (
	// Crashed: a signal such as SIGSEGV.
	Crashed FaultKind = "crashed"
	// OutOfBounds: a fault at an address beside one of the kernel's buffers.
	OutOfBounds FaultKind = "out of bounds"
	// Aborted: abort, or an assertion that failed.
	Aborted FaultKind = "aborted"
	// Exited: exit, _exit, with whatever status.
	Exited FaultKind = "exited"
	// Hung: no answer within the time allowed.
	Hung FaultKind = "hung"
	// Flooded: more output than anyone could want.
	Flooded FaultKind = "flooded its output"
	// Unkillable: the process did not die when it was killed.
	Unkillable FaultKind = "could not be killed"
	// LeftChild: the kernel started a process and left it behind.
	LeftChild FaultKind = "left a process behind"
	// LeftOpen: the kernel has a file open after it was loaded, or after its first run.
	LeftOpen FaultKind = "left a file open"
	// Garbled: the kernel wrote to the worker's own pipes, or closed them.
	Garbled FaultKind = "meddled with the worker's pipes"
	// Unloadable: the loader or the driver refuses the compiled kernel.
	Unloadable FaultKind = "cannot be loaded"
	// InputModified: an input buffer is not what it was.
	InputModified FaultKind = "modified an input"
)

// The ways in which a kernel on an accelerator ends its context, and with it
// the worker.
const (
	// IllegalAddress: an access to memory that nobody has allocated.
	IllegalAddress FaultKind = "illegal address"
	// MisalignedAccess: an access whose address is no multiple of its size.
	MisalignedAccess FaultKind = "misaligned address"
	// Asserted: an assert in the kernel failed.
	Asserted FaultKind = "device-side assert"
	// Trapped: an illegal instruction, a trap, a stack that overflowed.
	Trapped FaultKind = "hardware exception"
	// LaunchFailed: the launch failed for a reason the driver keeps to itself.
	LaunchFailed FaultKind = "launch failure"
	// Refused: the driver does not launch it: too many threads, registers, or
	// too much shared memory.
	Refused FaultKind = "launch refused"
	// SanitizerFinding: the tool that the worker runs under found something.
	SanitizerFinding FaultKind = "sanitizer finding"
	// NoMemory: the device has not enough memory for the buffers or the stack.
	NoMemory FaultKind = "out of device memory"
)

// The ways in which a kernel cheats: it is right when it is checked, and wrong or
// implausibly quick when it is timed.
const (
	// WrongWhenTimed: right when it was checked, wrong when it was timed.
	WrongWhenTimed FaultKind = "wrong while it was timed"
	// Unfinished: a thread used a buffer after the kernel had returned.
	Unfinished FaultKind = "went on after it had returned"
	// Contradicted: the client's clock saw another time than the worker claims.
	Contradicted FaultKind = "the reported time disagrees with pawl's own clock"
)

// Fault is what a kernel did wrong beside its result. As an error it says that
// the worker did not survive. Either way it is the kernel's doing: one trial
// fails and the search goes on.
type Fault struct {
	Kind FaultKind `json:"kind"`
	// Detail says more: the signal, the status, the time allowed.
	Detail string `json:"detail,omitempty"`
	// Output is the end of what the kernel printed.
	Output string `json:"output,omitempty"`
	// Outside says that it may have been somebody else's doing, who has killed the program; nil for no.
	Outside *process.MachineFault `json:"-"`
}

func (f *Fault) Error() string {
	if explanation := f.Explanation(); explanation != "" {
		return string(f.Kind) + ": " + explanation
	}
	return string(f.Kind)
}

// Explanation returns the detail and the line that says most of what the kernel
// printed.
func (f *Fault) Explanation() string {
	text := f.Detail
	if output := strings.TrimSpace(f.Output); output != "" {
		text = strings.TrimSpace(text + fmt.Sprintf(" (it printed %q)", tellingLine(output)))
	}
	return text
}

// tellingLine returns a sanitizer's summary, or the last line.
func tellingLine(text string) string {
	line := text[strings.LastIndexByte(text, '\n')+1:]
	for candidate := range strings.Lines(text) {
		if strings.HasPrefix(candidate, "SUMMARY: ") || strings.Contains(candidate, ": runtime error: ") {
			line = strings.TrimSpace(candidate)
		}
	}
	if len(line) > 200 {
		line = line[len(line)-200:]
	}
	return line
}

// faultOfExit explains how the process ended, with its own last report if it
// managed to send one, and the places of the buffers.
func faultOfExit(status syscall.WaitStatus, report *signalReport, regions []Region) *Fault {
	switch {
	case status.Signaled() && status.Signal() == syscall.SIGABRT:
		return &Fault{Kind: Aborted, Detail: "SIGABRT"}
	case status.Signaled() && report != nil && nearBuffer(report.Address, regions) != nil:
		return nearBuffer(report.Address, regions)
	case status.Signaled():
		detail := signalName(status.Signal())
		if report != nil && report.Code > 0 {
			detail += fmt.Sprintf(" at address %#x", report.Address)
		}
		return &Fault{Kind: Crashed, Detail: detail}
	default:
		return &Fault{Kind: Exited, Detail: fmt.Sprintf("status %d", status.ExitStatus())}
	}
}

// nearBuffer explains a fault at an address in a buffer, or beside it; nil elsewhere.
func nearBuffer(address uint64, regions []Region) *Fault {
	for _, r := range regions {
		f := &Fault{Kind: OutOfBounds}
		switch {
		case address < r.Low || address >= r.High:
			continue
		case address == r.End:
			f.Detail = "an access just past the end of " + r.Name
		case address > r.End:
			f.Detail = fmt.Sprintf("an access %d bytes past the end of %s", address-r.End, r.Name)
		case address < r.Start:
			f.Detail = fmt.Sprintf("an access %d bytes before the start of %s", r.Start-address, r.Name)
		default: // they are hidden between launches, and only then
			f = &Fault{Kind: Unfinished, Detail: "an access to " + r.Name}
		}
		return f
	}
	return nil
}

func signalName(s syscall.Signal) string {
	names := map[syscall.Signal]string{
		syscall.SIGSEGV: "SIGSEGV, an invalid memory access",
		syscall.SIGBUS:  "SIGBUS, an invalid memory access",
		syscall.SIGFPE:  "SIGFPE, an arithmetic fault such as an integer division by zero",
		syscall.SIGILL:  "SIGILL, an illegal instruction",
		syscall.SIGKILL: "SIGKILL, as the system ends a process that has used up the memory",
		syscall.SIGTRAP: "SIGTRAP, a trap",
	}
	if name, ok := names[s]; ok {
		return name
	}
	return fmt.Sprintf("signal %d (%s)", int(s), s)
}
