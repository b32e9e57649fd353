// Package profile says why a point is as fast as it is, and what could be done about it.
//
//  1. NewStatic is what the compiler and the manifest's formulas say about a point before it has run.
//     It needs no profiler and no device.
//  2. Of adds the time of a launch and what Nsight Compute counts in exactly one. Where it cannot, what is known
//     without it stays, and the reason beside it.
//  3. Limiter names what the launch spends its time at.
//  4. Advise goes through the rules, each of which is data: when it applies, what that means, what to try, and how much
//     could be gained. Causes stand before symptoms. The gain is Amdahl's bound: what would be left if the loss were
//     gone altogether and nothing else changed. It is no promise. A rule whose counters are missing says nothing.
//  5. Compare says what differs between two launches, and which of it explains the time.
//
// A profiler is somebody else's program: it may be missing, refused by the driver, hang, die or print what nobody
// expects. All of that is an error that wraps objective.ErrNoProfiler and says what to do; nothing else ends with it.
// Nor does anything depend on the order of the columns that it prints.
package profile

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"pawl/internal/page"
	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/worker"
	"pawl/space"
)

// Subject is a kernel on its device.
type Subject struct {
	Kernel   *kernels.Kernel
	Workload kernels.Workload
	Backend  objective.Backend
	*objective.Evaluator
	// Getenv looks up where tools are.
	Getenv func(string) string
}

// Static is what is known about a point without running it, beside the facts.
type Static struct {
	Kernel   string      `json:"kernel"`
	Workload string      `json:"workload"`
	Dims     string      `json:"dims"`
	Point    space.Point `json:"point"`
	// Environment is what it was compiled with and for.
	Environment objective.Environment `json:"environment"`
	// Binary is the file with the machine code, Digest what executes in it.
	Binary string `json:"binary"`
	Digest string `json:"digest"`
	Facts
	// Floor is the shortest time of one launch that the device allows, in milliseconds, and
	// Bound what allows no shorter: compute or memory. Both are empty where that is unknown.
	Floor float64 `json:"floor,omitempty"`
	Bound string  `json:"bound,omitempty"`
	// Memory is what the arguments take on the device, in bytes.
	Memory int64 `json:"memory"`
}

// Profile is all that is known about one launch of a point.
type Profile struct {
	Static
	Created time.Time `json:"created,omitzero"`
	// Tool is the profiler, Report the file that it wrote; empty for none.
	Tool   string `json:"tool,omitempty"`
	Report string `json:"report,omitempty"`
	// NoMetrics says why there are no counters.
	NoMetrics string `json:"no_metrics,omitempty"`
	// File is where it was read from; empty for a profile that was just made.
	File string `json:"-"`
	Explanation
}

// Explanation is computed from the facts of a launch.
type Explanation struct {
	Limiter   Limiter  `json:"limiter"`
	Occupancy string   `json:"occupancy,omitempty"`
	Stalls    []Stall  `json:"stalls,omitempty"`
	Advice    []Advice `json:"advice,omitempty"`
}

func (p *Profile) explain() *Profile {
	f := p.Facts
	p.Explanation = Explanation{f.Limiter(), f.Occupancy(), f.Stalls(), Advise(f)}
	return p
}

// NewStatic describes a point that was compiled.
func NewStatic(on Subject, prepared objective.Prepared) (*Static, error) {
	facts := on.Backend.Facts()
	s := &Static{
		Kernel: on.Kernel.Name, Workload: on.Workload.Name, Dims: on.Workload.Dims.String(), Point: prepared.Point,
		Environment: facts.Environment, Binary: prepared.Binary.Path, Digest: prepared.Binary.Digest,
	}
	s.Resources, s.Roofline = prepared.Binary.Resources, facts.Roofline.Comparable()
	var err error
	if s.Memory, err = ArgumentBytes(on.Kernel.At(prepared.Point), on.Workload); err != nil {
		return nil, err
	}
	if s.Flops, s.Bytes, err = on.Kernel.Work.For(on.Workload.Dims, prepared.Point); err != nil {
		return nil, err
	}
	s.Product = on.Kernel.IsProduct(on.Workload, prepared.Point)
	s.Floor, s.Bound = s.Facts.floor()
	return s, nil
}

// ArgumentBytes is what the arguments of a kernel take on the device.
func ArgumentBytes(k *kernels.Kernel, w kernels.Workload) (total int64, err error) {
	bindings, err := k.Bind(w.Dims)
	if err != nil {
		return 0, err
	}
	for _, b := range bindings {
		total += int64(b.Bytes())
	}
	return total, nil
}

// Options say how a point is profiled.
type Options struct {
	// Folder is where the profiler's own reports go.
	Folder string
	// Seed fixes the inputs, Caches are as in measurements.
	Seed   uint64
	Caches worker.Caches
	// RunTimeout is how long one run of the kernel may take without a profiler. Zero means 10 s.
	RunTimeout time.Duration
	// Now is the time, for the record.
	Now time.Time
	// Static leaves the profiler out.
	Static bool
}

// Of describes a point that was compiled, checked and timed, and profiles one launch of it. Where
// no profiler can look, or the point fails under it, NoMetrics says why.
func Of(ctx context.Context, on Subject, prepared objective.Prepared, milliseconds float64,
	o Options) (*Profile, error) {
	static, err := NewStatic(on, prepared)
	if err != nil {
		return nil, err
	}
	p := &Profile{Static: *static, Created: o.Now}
	p.Milliseconds = milliseconds
	if o.Static {
		p.NoMetrics = "no profiler was asked for"
		return p.explain(), nil
	}
	failure, err := p.count(ctx, on, prepared, o)
	switch {
	case errors.Is(err, objective.ErrNoProfiler):
		p.NoMetrics = err.Error()
	case err != nil:
		return nil, err
	case failure != nil:
		p.NoMetrics = failure.String()
	}
	return p.explain(), nil
}

func (p *Profile) count(ctx context.Context, on Subject, prepared objective.Prepared,
	o Options) (*objective.Failure, error) {
	if _, able := on.Backend.(objective.Profiling); !able {
		return nil, fmt.Errorf("%w for backend %s: Nsight Compute sees CUDA kernels only; perf and the like see others",
			objective.ErrNoProfiler, on.Kernel.Backend)
	}
	program, err := FindNsight(on.Getenv)
	if err != nil {
		return nil, err
	}
	report := filepath.Join(o.Folder, p.Digest[:12]+".ncu-rep")
	launch, failure, err := program.Profile(ctx, on, prepared.Point, report, o)
	if err != nil || failure != nil {
		return failure, err
	}
	p.Tool, p.Report, p.Metrics = nsightName, report, launch.Metrics
	return nil, nil
}

// Name is how a profile is told from others: its kernel with the point, and the file that it came from.
func (p *Profile) Name() string {
	name := p.Kernel
	if p.Point.String() != "" {
		name += " at " + p.Point.String()
	}
	if p.File != "" {
		name += " (" + p.File + ")"
	}
	return name
}

// Summary says what the roofline and the launch look like, in lines for a person.
func (p *Profile) Summary() (lines []string) {
	if s := p.Facts.seconds(); s > 0 {
		line := "a launch takes " + page.Milliseconds(1e3*s)
		if share, bound := p.Facts.RooflineShare(); bound != "" {
			line += fmt.Sprintf(", %s of what the device's %s allows", page.WholePercent(share), bound)
		}
		lines = append(lines, line)
	}
	if p.Explanation.Occupancy != "" {
		lines = append(lines, p.Explanation.Occupancy)
	}
	return append(lines, p.Explanation.Limiter.Text)
}
