// Package fuzz checks chosen points of a kernel as thoroughly as a person asks for:
// the full tier, then random cases, or one case only; as they are, or under sanitizers.
//
// A failure is shrunk to the smallest shape that fails in the same way, and comes with
// a command that repeats it. What a check is made of is in objective/check.
package fuzz

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"pawl/internal/escape"
	"pawl/objective"
	"pawl/objective/check"
	"pawl/objective/devices"
	"pawl/objective/worker"
	"pawl/space"
)

// Options say what is checked.
type Options struct {
	// Seed fixes shapes and inputs.
	Seed uint64
	// RunTimeout is how long one run of a kernel may take.
	RunTimeout time.Duration
	// Case is the only one that is checked; nil means the full tier and what Cases
	// and Time ask for.
	Case *check.Case
	// Cases is the number of random cases after the full tier, Time how long to go on
	// with them. With both, whatever ends first ends it.
	Cases int
	Time  time.Duration
	// Sanitizer runs kernels under the backend's sanitizers.
	Sanitizer bool
	// Observe gets a line for the user about what is being done.
	Observe func(text string)
}

// Report is what came of it.
type Report struct {
	Kernel   string `json:"kernel"`
	Workload string `json:"workload"`
	Seed     uint64 `json:"seed"`
	// Points holds each point once, or once for each sanitizer.
	Points []Point `json:"points"`
}

// Point is the result of one point.
type Point struct {
	Point space.Point `json:"point"`
	// Sanitizer names what the kernel ran under, if anything.
	Sanitizer string `json:"sanitizer,omitempty"`

	Cases   int                `json:"cases"`
	Failure *objective.Failure `json:"failure,omitempty"`
	// Found is the case that failed first, Case the smallest one that fails in
	// the same way, and Command repeats that.
	Found   *check.Case `json:"found,omitempty"`
	Case    *check.Case `json:"case,omitempty"`
	Command string      `json:"command,omitempty"`
	// Once says that the case did not fail again when it was repeated alone.
	Once bool `json:"once,omitempty"`
	// Note is what was seen that is no failure.
	Note string `json:"note,omitempty"`
}

// Wrong reports whether a point gives wrong results.
func (r *Report) Wrong() bool {
	return slices.ContainsFunc(r.Points,
		func(p Point) bool { return p.Failure != nil && p.Failure.Stage != objective.Preflight })
}

// Infeasible reports whether none of the points can run here.
func (r *Report) Infeasible() bool {
	return !slices.ContainsFunc(r.Points,
		func(p Point) bool { return p.Failure == nil || p.Failure.Stage != objective.Preflight })
}

// Run checks points of a target. An error that wraps objective.ErrNoSanitizer means
// that nothing was checked: a check that was asked for and not made must not end like
// one that passed.
func Run(ctx context.Context, m *devices.Machine, t devices.Target, points []space.Point, o Options) (*Report, error) {
	if t.Kernel.On().Program {
		return nil, devices.Argumentf("pawl fuzz holds results against a reference, and %s is a program without one: its "+
			"own check runs whenever it is measured; pawl check tries it", t.Kernel.Name)
	}
	b, err := m.Open(ctx, t, objective.Options{Seed: o.Seed, FullSeed: o.Seed, RunTimeout: o.RunTimeout})
	if err != nil {
		return nil, err
	}
	defer b.Close()
	checkers := []*checker{{Target: t, Options: o, Evaluator: b.Evaluator}}
	if o.Sanitizer {
		if checkers, err = sanitized(ctx, b, o); err != nil {
			return nil, err
		}
		for _, c := range checkers {
			defer c.Close()
		}
	}
	r := &Report{Kernel: t.Kernel.Name, Workload: t.Workload.Name, Seed: o.Seed}
	for _, point := range points {
		for _, c := range checkers {
			checked, err := c.check(ctx, point)
			if err != nil {
				return nil, err
			}
			r.Points = append(r.Points, checked)
		}
	}
	return r, nil
}

// checker checks points of a target, as they are or under a sanitizer.
type checker struct {
	devices.Target
	Options
	*objective.Evaluator
	// sanitizer is its name, empty for none.
	sanitizer string
	// slow says that there is time for a few small cases only, and none to look
	// for smaller ones.
	slow bool
}

func sanitized(ctx context.Context, b *devices.Bench, o Options) ([]*checker, error) {
	sanitizing, able := b.Backend.(objective.Sanitizing)
	if !able {
		return nil, fmt.Errorf("%w for backend %s", objective.ErrNoSanitizer, b.Kernel.Backend)
	}
	tools, err := sanitizing.Sanitized(ctx)
	if err != nil {
		return nil, err
	}
	var checkers []*checker
	for _, tool := range tools {
		evaluator := b.Evaluator.Beside(tool.Backend, objective.Options{
			Seed: o.Seed, FullSeed: o.Seed, RunTimeout: o.RunTimeout * time.Duration(tool.Slowdown),
		})
		checkers = append(checkers, &checker{b.Target, o, evaluator, tool.Name, tool.Slowdown > 1})
	}
	return checkers, nil
}

func (c *checker) check(ctx context.Context, point space.Point) (Point, error) {
	result := Point{Point: point, Sanitizer: c.sanitizer}
	prepared, err := c.Prepare(ctx, point)
	if err != nil {
		return result, err
	}
	prefix := ""
	if c.sanitizer != "" {
		prefix = c.sanitizer + ", "
	}
	cases, total := c.cases(point)
	done := 0
	finding, err := c.Tester.Try(ctx, prepared, cases, func(next check.Case) {
		done++
		c.Observe(fmt.Sprintf("%scase %d%s: %s", prefix, done, total, next))
	})
	if err != nil {
		return result, err
	}
	result.Cases, result.Failure, result.Note = finding.Checked, finding.Failure, c.Tester.Note(point)
	if finding.Failure == nil || finding.Failure.Stage != objective.Fuzz {
		return result, nil
	}
	smallest, again := finding, true
	if !c.slow && c.Case == nil {
		c.Observe("looking for a smaller case that fails")
		if smallest, again, err = c.Tester.Shrink(ctx, prepared, finding); err != nil {
			return result, err
		}
	}
	result.Failure, result.Found, result.Case, result.Once = smallest.Failure, &finding.Case, &smallest.Case, !again
	result.Command = fmt.Sprintf("%s %s",
		escape.Shell("pawl", "fuzz", c.Kernel.Origin, "--workload", c.Workload.Name, "--at", point.String()), smallest.Case)
	if c.Sanitizer {
		result.Command += " --sanitizer"
	}
	return result, nil
}

// cases returns the cases of a point and how many there are, as text.
func (c *checker) cases(point space.Point) (iter.Seq[check.Case], string) {
	if c.Case != nil {
		return func(yield func(check.Case) bool) { yield(*c.Case) }, ""
	}
	full := c.Tester.FullCases(point)
	if c.slow {
		// The workload comes last. It is large, and what a tool sees there it
		// sees on small shapes too.
		full = c.Tester.QuickCases(point)
		full = full[:max(1, len(full)-1)]
	}
	total := fmt.Sprintf(" of %d", len(full)+c.Cases)
	if c.Time > 0 {
		total = ""
	}
	deadline := time.Now().Add(c.Time)
	more := func(done int) bool {
		if c.Time > 0 {
			return time.Now().Before(deadline) && (c.Cases == 0 || done < c.Cases)
		}
		return done < c.Cases
	}
	return func(yield func(check.Case) bool) {
		for _, next := range full {
			if !yield(next) {
				return
			}
		}
		rng := rand.New(rand.NewPCG(c.Seed, 0))
		for done := 0; more(done); done++ {
			if !yield(check.Random(c.Kernel, c.Workload, point, rng)) {
				return
			}
		}
	}, total
}

// NewCase returns the case of a target that sizes such as B=1,S=33 describe; what they
// leave out is the workload's. What the kernel does not allow is an
// *devices.ArgumentError.
func NewCase(t devices.Target, sizes, family, layout string, seed uint64) (*check.Case, error) {
	parsed, err := space.ParsePoint(sizes)
	if err != nil {
		return nil, devices.Argumentf("--shape: %w", err)
	}
	c := &check.Case{Dims: maps.Clone(t.Workload.Dims), Seed: seed, Family: family, Layout: worker.Layout(layout)}
	for _, size := range parsed.Assignments() {
		if _, ok := c.Dims[size.Name]; !ok || size.Value.Integer() < 1 {
			return nil, devices.Argumentf("--shape: %s=%s: a size of at least 1 for one of %s", size.Name, size.Value,
				t.Workload.Dims)
		}
		c.Dims[size.Name] = size.Value.Integer()
	}
	if !t.Kernel.Allows(c.Dims) {
		return nil, devices.Argumentf("--shape: %s is outside the domain of %s in its manifest", c.Dims, t.Kernel.Name)
	}
	if !t.Kernel.SameClass(t.Workload.Dims, c.Dims) {
		return nil, devices.Argumentf("--shape: machine code for %s is made for %s, which %s is not: name a workload of "+
			"such sizes", t.Workload.Name, t.Kernel.Class(t.Workload), c.Dims)
	}
	if family != "" {
		if _, err := t.Kernel.BindFamily(c.Dims, family); err != nil {
			return nil, devices.Argumentf("--family: %w", err)
		}
	}
	switch c.Layout {
	case "", worker.Guarded, worker.Aligned, worker.Misaligned:
		return c, nil
	}
	return nil, devices.Argumentf("--layout %q: guarded, aligned or misaligned", layout)
}
