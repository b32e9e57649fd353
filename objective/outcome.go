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
// Its arrows: worker ← check ← objective ← host, cuda ← devices. Checks know workers and no
// backends; backends know neither checks nor the evaluator's parts; devices alone chooses
// between backends.
//
// A point that fails is a value, an Outcome with a Failure. An error means that
// the machinery itself is broken and nothing was learned about the point.
package objective

import (
	"fmt"
	"time"

	"pawl/internal/stats"
	"pawl/objective/check"
	"pawl/objective/worker"
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
	WrongResult    = string(check.WrongResult)
	Damaged        = "damaged its compiled file"
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

// Failed is a failure whose detail is formatted.
func Failed(stage Stage, reason, format string, arguments ...any) *Failure {
	return &Failure{stage, reason, fmt.Sprintf(format, arguments...)}
}

// Unfit is the failure of a point that the machine cannot run.
func Unfit(format string, arguments ...any) *Failure {
	return Failed(Preflight, Infeasible, format, arguments...)
}

// faultFailure turns what a kernel did to its worker into a failure; nil for nil.
func faultFailure(stage Stage, fault *worker.Fault) *Failure {
	if fault == nil {
		return nil
	}
	return &Failure{Stage: stage, Reason: string(fault.Kind), Detail: fault.Explanation()}
}

// Outcome is what is known about a point in the end.
type Outcome struct {
	// Failure is nil for a point whose results are right and whose time was
	// measured.
	Failure *Failure `json:"failure,omitempty"`
	// Samples are milliseconds per launch, in the order taken; none after a
	// failure. Where the manifest names an objective they are its values.
	Samples []float64 `json:"samples,omitempty"`
	// Kinds are samples on other kinds of data than the declared one, taken in the same process.
	Kinds []KindSamples `json:"kinds,omitempty"`
	// Batch is the number of launches that each sample is the mean of.
	Batch int `json:"batch,omitempty"`
	// Binary is the digest of the machine code that was checked and measured.
	Binary string `json:"binary,omitempty"`
	// Device says on which device of a farm that was, all of one model; empty for this
	// machine's.
	Device string `json:"device,omitempty"`
	// SameAs is the point whose machine code is the same and whose samples
	// these are; empty for a measurement of its own.
	SameAs string `json:"same_as,omitempty"`
	// Stop says why no more samples were taken.
	Stop Stop `json:"stop,omitempty"`
	// Conditions is the state of the device while the samples were taken; nil
	// where nobody knows.
	Conditions *worker.Conditions `json:"conditions,omitempty"`
	// Resources is what the compiler says that the kernel needs.
	Resources *Resources `json:"resources,omitempty"`
	// Evidence is what the point has passed of the full tier since its last
	// outcome; nil for nothing.
	Evidence *check.Evidence `json:"evidence,omitempty"`
	// Measured are the quantities that an objective may use, by name, medians over the
	// samples; nil where the time is compared.
	Measured map[string]float64 `json:"measured,omitempty"`
	// Scores are the values of the manifest's objectives, in their order.
	Scores []float64 `json:"scores,omitempty"`
	// MachineFaults are what the machine did meanwhile, each of which had the point tried again: kills from outside,
	// refused system calls.
	MachineFaults []string `json:"machine_faults,omitempty"`
	// Spent says where the time went.
	Spent Spent `json:"spent"`

	// series is what was measured beside the time, until it is scored.
	series map[string][]float64
}

// KindSamples are samples on a kind of data: see package arguments.
type KindSamples struct {
	Kind    string    `json:"kind"`
	Samples []float64 `json:"samples"`
}

// Spent is where a point's time went.
type Spent struct {
	Compile time.Duration `json:"compile"`
	// Check is without the time for getting the kernel to the device.
	Check   time.Duration `json:"check"`
	Measure time.Duration `json:"measure"`
	// Kinds is the time for checks and samples on other kinds of data.
	Kinds time.Duration `json:"kinds,omitempty"`
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
