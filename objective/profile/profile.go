package profile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"pawl/internal/page"
	"pawl/objective"
	"pawl/objective/counters"
	"pawl/objective/devices"
	"pawl/objective/explain"
	"pawl/objective/nsight"
	"pawl/objective/worker"
	"pawl/space"
)

// Profile is all that is known about one launch of a point.
type Profile struct {
	Static
	// Milliseconds is the time of a launch, measured without a profiler; 0 where it was not.
	Milliseconds float64   `json:"milliseconds,omitempty"`
	Created      time.Time `json:"created,omitzero"`
	// Tool is the profiler, Report the file that it wrote; empty for none.
	Tool   string `json:"tool,omitempty"`
	Report string `json:"report,omitempty"`
	// Metrics are its counters; nil where NoMetrics says why not.
	Metrics   counters.Metrics `json:"metrics,omitempty"`
	NoMetrics string           `json:"no_metrics,omitempty"`
	// File is where it was read from; empty for a profile that was just made.
	File string `json:"-"`
	// What follows is computed from what stands above.
	Limiter   explain.Limiter  `json:"limiter"`
	Occupancy string           `json:"occupancy,omitempty"`
	Stalls    []explain.Stall  `json:"stalls,omitempty"`
	Advice    []explain.Advice `json:"advice,omitempty"`
}

// Facts are what package explain needs.
func (p *Profile) Facts() explain.Facts {
	return explain.Facts{
		Metrics: p.Metrics, Resources: p.Resources, Mix: p.Mix, Milliseconds: p.Milliseconds,
		Flops: p.Flops, Bytes: p.Bytes, Roofline: p.Roofline,
	}
}

// explain fills in what is computed.
func (p *Profile) explain() *Profile {
	f := p.Facts()
	p.Limiter, p.Occupancy, p.Stalls, p.Advice = f.Limiter(), f.Occupancy(), f.Stalls(), explain.Advise(f)
	return p
}

// Options say how a point is profiled.
type Options struct {
	// Folder is where the profiler's own reports go.
	Folder string
	// Seed fixes the inputs, Caches are as in measurements.
	Seed   uint64
	Caches worker.Caches
	// RunTimeout is how long one run of the kernel may take without a profiler.
	RunTimeout time.Duration
	// Now is the time, for the record.
	Now time.Time
	// Static leaves the profiler out.
	Static bool
}

// Run compiles, checks and times a point, and profiles one launch of it. A failure is the
// point's own. Where no profiler can look, NoMetrics says why, and all else is there.
func Run(ctx context.Context, m *devices.Machine, t devices.Target, point space.Point,
	o Options) (*Profile, *objective.Failure, error) {
	b, err := m.Open(ctx, t, objective.Options{Seed: o.Seed, Caches: o.Caches, RunTimeout: o.RunTimeout})
	if err != nil {
		return nil, nil, err
	}
	defer b.Close()
	prepared, err := b.Prepare(ctx, point)
	if err != nil || prepared.Failure != nil {
		return nil, prepared.Failure, err
	}
	outcome, err := b.Measure(ctx, prepared, 0)
	if err != nil || outcome.Failure != nil {
		return nil, outcome.Failure, err
	}
	b.End() // the workers that measured leave the device to the profiler's
	p, err := Of(ctx, m, b, prepared, outcome.Milliseconds(), o)
	return p, nil, err
}

// Of describes a point that was compiled, checked and timed, and profiles one launch of it. Where
// no profiler can look, or the point fails under it, NoMetrics says why.
func Of(ctx context.Context, m *devices.Machine, b *devices.Bench, prepared objective.Prepared, milliseconds float64,
	o Options) (*Profile, error) {
	static, err := newStatic(ctx, m, b, prepared)
	if err != nil {
		return nil, err
	}
	p := &Profile{Static: *static, Milliseconds: milliseconds, Created: o.Now}
	if o.Static {
		p.NoMetrics = "nobody asked for a profiler"
		return p.explain(), nil
	}
	failure, err := p.count(ctx, m, b, prepared, o)
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

// count lets a profiler look at one launch.
func (p *Profile) count(ctx context.Context, m *devices.Machine, b *devices.Bench, prepared objective.Prepared,
	o Options) (*objective.Failure, error) {
	if b.Kernel.On().Program {
		return nil, fmt.Errorf("%w for a program: its own tools profile it", objective.ErrNoProfiler)
	}
	if _, able := b.Backend.(objective.Profiling); !able { // the worker counts by itself
		counted, failure, err := b.Count(ctx, prepared)
		if len(counted) > 0 && failure == nil {
			p.Tool, p.Metrics = "the processor's counters", counters.Metrics{}
			for name, value := range counted {
				p.Metrics[name] = counters.Metric{Value: value}
			}
		}
		return failure, err
	}
	program, err := m.Profiler()
	if err != nil {
		return nil, err
	}
	report := filepath.Join(o.Folder, p.Digest[:12]+".ncu-rep")
	launch, failure, err := program.Profile(ctx, b.Kernel, b.Workload, b.Backend, prepared.Point,
		nsight.Options{Report: report, Seed: o.Seed, Caches: o.Caches})
	if err != nil || failure != nil {
		return failure, err
	}
	p.Tool, p.Report, p.Metrics = "Nsight Compute", report, launch.Metrics
	return nil, nil
}

// mostFile is how large a profile that is read may be, in bytes.
const mostFile = 64 << 20

// Read reads a profile from a file: one that pawl has written (.json), what ncu prints with
// --page raw --csv (.csv), or ncu's own report (.ncu-rep), which needs ncu. What a file is not is
// an *devices.ArgumentError.
func Read(ctx context.Context, m *devices.Machine, path string) (*Profile, error) {
	wrong := func(err error) error {
		return &devices.ArgumentError{Err: fmt.Errorf("%s is no profile: %w", path, err)}
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, &devices.ArgumentError{Err: err}
	}
	if info.Size() > mostFile || !info.Mode().IsRegular() {
		return nil, wrong(errors.New("it is too large, or no plain file"))
	}
	p := &Profile{File: path}
	switch filepath.Ext(path) {
	case ".ncu-rep":
		program, err := m.Profiler()
		if err != nil {
			return nil, err
		}
		launch, err := program.Read(ctx, path, 0)
		if err != nil {
			return nil, err
		}
		p.Kernel, p.Metrics, p.Tool, p.Report = launch.Kernel, launch.Metrics, "Nsight Compute", path
		return p.explain(), nil
	case ".csv":
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		all, err := counters.ReadNsight(text)
		if err != nil {
			return nil, wrong(err)
		}
		launch := counters.Longest(all)
		p.Kernel, p.Metrics, p.Tool = launch.Kernel, launch.Metrics, "Nsight Compute"
		return p.explain(), nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, p); err != nil {
		if other := new(json.UnmarshalTypeError); errors.As(err, &other) {
			err = fmt.Errorf("a profile has something else than this %s, after %d bytes", other.Value, other.Offset)
		}
		return nil, wrong(err)
	}
	if p.Kernel == "" {
		return nil, wrong(errors.New("it names no kernel"))
	}
	return p.explain(), nil
}

// IsFile reports whether a text names a file that Read reads, and no point.
func IsFile(text string) bool {
	switch filepath.Ext(text) {
	case ".json", ".csv", ".ncu-rep":
		return !strings.Contains(text, "=")
	}
	return false
}

// Name is how a profile is told from others: its kernel with the point, and the file that it came
// from.
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
	f := p.Facts()
	if ms := f.Time(); ms > 0 {
		line := "a launch takes " + page.Milliseconds(ms)
		if share, bound := f.RooflineShare(); bound != "" {
			line += fmt.Sprintf(", %s of what the device's %s allows", page.WholePercent(share), bound)
		}
		lines = append(lines, line)
	}
	if p.Occupancy != "" {
		lines = append(lines, p.Occupancy)
	}
	return append(lines, p.Limiter.Text)
}
