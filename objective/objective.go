// Package objective turns a point into evidence: samples of its time, or the
// stage and the reason of its failure.
//
// A point goes through four stages, and no stage is skipped:
//
//  1. Preflight: formulas and device limits; an impossible point costs nothing.
//  2. Compile: a pool of compilers, behind a content-addressed cache.
//  3. Fuzz: the results are checked against a reference in higher precision.
//     No verified output, no timing.
//  4. Bench: a few samples first; a hopeless point gets no more.
//
// Prepare does the first two and may run many times at once; Measure does the
// last two, one point at a time. Kernels run in worker processes only. What a
// Backend adds is the knowledge of one kind of device.
//
// A point that fails is a value, an Outcome with a Failure. An error means that
// the machinery itself is broken and nothing was learned about the point.
package objective

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"pawl/internal/stats"
	"pawl/kernels"
	"pawl/objective/worker"
	"pawl/space"
)

// Stage is a step in a trial's life.
type Stage string

// The stages, in order.
const (
	Preflight Stage = "preflight"
	Compile   Stage = "compile"
	Fuzz      Stage = "fuzz"
	Bench     Stage = "bench"
)

// The reasons of failures that are not a worker's fault. A fault's reason is
// its worker.FaultKind.
const (
	Infeasible     = "infeasible"
	CompileError   = "compile error"
	CompileTimeout = "compile timeout"
	WrongResult    = "wrong result"
	TooFast        = "faster than the device"
	Throttled      = "throttled"
)

// Failure says at which stage a point failed and why. It is a value: a failed
// point is knowledge, not an error.
type Failure struct {
	Stage Stage `json:"stage"`
	// Reason is a short word that failures are counted by.
	Reason string `json:"reason"`
	// Detail is for a person: the first bad element, the compiler's message.
	Detail string `json:"detail,omitempty"`
}

func (f *Failure) String() string {
	if f.Detail == "" {
		return fmt.Sprintf("%s: %s", f.Stage, f.Reason)
	}
	return fmt.Sprintf("%s: %s: %s", f.Stage, f.Reason, f.Detail)
}

// faultFailure turns what a kernel did to its worker into a failure.
func faultFailure(stage Stage, fault *worker.Fault) *Failure {
	return &Failure{Stage: stage, Reason: string(fault.Kind), Detail: fault.Explanation()}
}

// Outcome is what is known about a point in the end.
type Outcome struct {
	// Failure is nil for a point whose results are right and whose time was
	// measured.
	Failure *Failure `json:"failure,omitempty"`
	// Samples are milliseconds per launch, in the order taken; none after a
	// failure.
	Samples []float64 `json:"samples,omitempty"`
	// Batch is the number of launches that each sample is the mean of.
	Batch int `json:"batch,omitempty"`
	// Binary is the digest of the machine code that was checked and measured.
	Binary string `json:"binary,omitempty"`
	// SameAs is the point whose machine code is the same and whose samples
	// these are; empty for a measurement of its own.
	SameAs string `json:"same_as,omitempty"`
	// Remembered says that the samples were taken earlier on the same day.
	Remembered bool `json:"remembered,omitempty"`
	// Stop says why no more samples were taken.
	Stop Stop `json:"stop,omitempty"`
	// Conditions is the state of the device while the samples were taken; nil
	// where nobody knows.
	Conditions *worker.Conditions `json:"conditions,omitempty"`
	// Resources is what the compiler says that the kernel needs.
	Resources *Resources `json:"resources,omitempty"`
	// Evidence is what the point has passed of the full tier since its last
	// outcome; nil for nothing.
	Evidence *Evidence `json:"evidence,omitempty"`
	// Spent says where the time went.
	Spent Spent `json:"spent"`
}

// Spent is where a point's time went.
type Spent struct {
	Compile time.Duration `json:"compile"`
	// Check is without the time for getting the kernel to the device.
	Check   time.Duration `json:"check"`
	Measure time.Duration `json:"measure"`
	// CacheHit says that the binary was compiled before.
	CacheHit bool `json:"cache_hit,omitempty"`
}

// Milliseconds returns the median of the samples. It panics after a failure:
// a failed point has no time.
func (o Outcome) Milliseconds() float64 {
	if o.Failure != nil {
		panic("objective: the time of a failed point")
	}
	return stats.Median(o.Samples)
}

// Binary is a compiled kernel.
type Binary struct {
	// Path is the module's file; Support is loaded beside it by devices that
	// need one.
	Path, Support string
	// Digest identifies the machine code, File the bytes of the module's file.
	Digest, File string
	// Hit says that the cache had it.
	Hit bool
	// Resources is what the compiler says that the kernel needs; nil where it
	// says nothing.
	Resources *Resources
}

// Resources is what a kernel needs of a multiprocessor, as the compiler says.
// Memory is in bytes per thread, shared memory in bytes per block.
type Resources struct {
	Registers    int `json:"registers"`
	SpillStores  int `json:"spill_stores,omitempty"`
	SpillLoads   int `json:"spill_loads,omitempty"`
	Stack        int `json:"stack,omitempty"`
	StaticShared int `json:"static_shared,omitempty"`
	Shared       int `json:"shared,omitempty"`
	// Launch is the grid and the block at the workload; nil where it is unknown.
	Launch *kernels.LaunchDimensions `json:"launch,omitempty"`
}

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
	// Reference returns the binary that results are checked against.
	Reference(context.Context) (Binary, error)
	// Reserve waits until a device is free for a point, and keeps others off it
	// until the slot is released.
	Reserve(ctx context.Context, point space.Point) (Slot, error)
	// Width is how many points can be measured at once, on devices of one kind.
	Width() int
	// Resident says that starting a worker is dear and that it keeps what it
	// knows: one process serves many trials, holds inputs and right answers on
	// the device, and compares there. Otherwise each trial has a fresh process
	// and results are compared by this one.
	Resident() bool
	// Roofline is the speed that nothing on this device can pass.
	Roofline() Roofline
	// Environment describes the machine and the tools.
	Environment() Environment
}

// Slot is a device that is reserved for a point.
type Slot struct {
	// Device names it among the devices of the backend.
	Device string
	// Worker says how to start a process that runs binaries there.
	Worker worker.Command
	// Release lets others have the device.
	Release func()
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
	// Commit is the commit of the kernel's sources, empty when unknown.
	Commit string `json:"commit,omitempty"`
	// Pawl is the version of this program.
	Pawl string `json:"pawl,omitempty"`
}

// JSON returns the environment as stored.
func (e Environment) JSON() string {
	encoded, err := json.Marshal(e)
	if err != nil {
		panic("objective: an environment has no JSON form: " + err.Error())
	}
	return string(encoded)
}
