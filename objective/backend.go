package objective

import (
	"context"
	"errors"

	"pawl/internal/page"
	"pawl/kernels"
	"pawl/objective/worker"
	"pawl/space"
)

// Limits is what a machine cannot do, known without compiling.
type Limits interface {
	// Preflight returns why a point cannot work on this device, or nil.
	Preflight(space.Point) *Failure
}

// Backend knows one kind of device, for one kernel and workload. All methods
// are safe for concurrent use.
type Backend interface {
	Limits
	// Compile returns the point's binary, or the failure to compile it. An
	// error means that no point could be compiled: the compiler is gone, the
	// disk is full.
	Compile(context.Context, space.Point) (Binary, *Failure, error)
	// Reference returns the binary that results are checked against, compiled with the
	// parameters that the result depends on ([kernels.Kernel.ReferencePoint]).
	Reference(ctx context.Context, given space.Point) (Binary, error)
	// Reserve waits until a device is free for a point, and keeps others off it
	// until the slot is released.
	Reserve(ctx context.Context, point space.Point) (worker.Slot, error)
	// Facts describes the device. It is the same at every call.
	Facts() Facts
}

// Facts is what a backend knows about its device when it is opened.
type Facts struct {
	// Width is how many points can be measured at once, on devices of one kind.
	Width int
	// Resident says that starting a worker is expensive and that it keeps what it
	// knows: one process serves many trials, holds inputs and right answers on
	// the device, and compares there. Otherwise each trial has a fresh process
	// and results are compared by this one.
	Resident bool
	// Roofline is the speed that nothing on this device can pass.
	Roofline Roofline
	// Environment describes the machine and the tools.
	Environment Environment
}

// Roofline is the best that a device can do, per second. Zero is unknown.
type Roofline struct {
	Flops float64 `json:"flops,omitempty"`
	// Bytes is the bandwidth of the device's memory. It bounds launches that
	// find nothing in the caches.
	Bytes float64 `json:"bytes,omitempty"`
	// Loose says that it is no measure of a kernel, only of an impossible time: nothing comes
	// near it, in caches or out of them.
	Loose bool `json:"-"`
}

// Comparable is the roofline that a kernel can be measured against: unknown for a loose
// one.
func (r Roofline) Comparable() Roofline {
	if r.Loose {
		return Roofline{}
	}
	return r
}

// Environment is what a result depends on beside the point.
type Environment struct {
	Backend  string `json:"backend"`
	Device   string `json:"device"`
	Driver   string `json:"driver,omitempty"`
	Cores    int    `json:"cores"`
	System   string `json:"system"`
	Compiler string `json:"compiler"`
	Flags    string `json:"flags"`
	// Build is how a point is compiled; nil where nobody knows.
	Build *Build `json:"build,omitempty"`
	// Objective is what points are compared by; nil is the time.
	Objective *page.Objective `json:"objective,omitempty"`
	// Programs are the command lines of a kernel that is run and not called; nil for others.
	Programs *Programs `json:"programs,omitempty"`
	// Commit is the commit of the kernel's sources, empty when unknown.
	Commit string `json:"commit,omitempty"`
	// Pawl is the version of this program.
	Pawl string `json:"pawl,omitempty"`
}

// Programs are the command lines of a kernel that is run and not called, with names in
// braces where a point's values go.
type Programs struct {
	kernels.Lines
	// Sizes and Definitions are what names stand for beside the point's values.
	Sizes       kernels.Dims      `json:"sizes,omitempty"`
	Definitions map[string]string `json:"definitions,omitempty"`
}

// ErrNoSanitizer says that the tools for it are not on this machine. Errors
// that wrap it say what is missing and how to get it.
var ErrNoSanitizer = errors.New("no sanitizer")

// Sanitizing is a Backend that can also run kernels under tools which see what
// a comparison of results cannot: reads of memory that is not theirs, races,
// undefined behavior. It is slow, and nothing is timed there.
type Sanitizing interface {
	// Sanitized returns the tools, each with a backend for the same kernel
	// whose binaries and workers run under it. An error that wraps
	// ErrNoSanitizer means that the machine has none.
	Sanitized(context.Context) ([]Sanitizer, error)
}

// Sanitizer is a tool, or several that run at once.
type Sanitizer struct {
	// Name is what reports call it.
	Name    string
	Backend Backend
	// Slowdown is how many times as long a run may take under it as without,
	// at least 1. With more than 1 the small cases of the quick tier are all
	// that one has time for.
	Slowdown int
}
