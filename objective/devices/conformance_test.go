package devices

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/platform"
	"pawl/space"
)

// conforming is a kernel that every backend has a source of.
const conforming = "testdata/conformance"

// Every section of a manifest has a platform, every platform a section.
func TestEveryBackendIsRegistered(t *testing.T) {
	var described, registered []string
	for _, b := range kernels.Backends {
		described = append(described, b.Name)
	}
	for _, p := range platforms {
		registered = append(registered, p.Name)
		if b := kernels.BackendOf(p.Name); b.Program != (p.Worker == nil) || len(b.Languages) == 0 != b.Program {
			t.Errorf("%s: a program has neither worker nor languages, and others have both", p.Name)
		}
	}
	slices.Sort(described)
	slices.Sort(registered)
	if !slices.Equal(described, registered) {
		t.Errorf("the manifest has sections for %q, and registered are %q", described, registered)
	}
}

// TestConformance is what every backend must do, with a kernel that is right, wrong, broken or
// endless as its parameter says. What this machine lacks is skipped, after what must hold then.
func TestConformance(t *testing.T) {
	for _, p := range platforms {
		t.Run(p.Name, func(t *testing.T) {
			var notices []string
			m := here(t, &notices)
			k, err := kernels.Load(conforming, p.Name)
			if err != nil {
				t.Fatalf("%s has no source for it: %v", conforming, err)
			}
			target, err := NewTarget(k, "")
			if err != nil {
				t.Fatal(err)
			}
			if missing := m.installed[p.Name].Missing(t.Context(), k); missing != nil {
				conformAbsent(t, m, target)
				t.Skip(missing)
			}
			bench, err := m.Open(t.Context(), target, objective.Options{Seed: 1, RunTimeout: 3 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			defer bench.Close()
			c := conformance{t, m, bench}
			c.describes()
			c.compiles()
			c.survives()
			c.sanitizes()
			c.lends()
			c.stops()
		})
	}
}

// conformAbsent is what must hold of a platform that is not here.
func conformAbsent(t *testing.T, m *Machine, target Target) {
	if limits := m.Limits(t.Context(), target); limits != nil {
		t.Errorf("limits of a device that is not here: %v", limits)
	}
	if b, err := m.Open(t.Context(), target, objective.Options{}); err == nil {
		b.Close()
		t.Error("opened, although it is missing")
	}
	_, err := m.Load(t.Context(), conforming, target.Kernel.Backend)
	if !errors.As(err, new(*AbsentError)) {
		t.Errorf("loading it: %v", err)
	}
}

type conformance struct {
	*testing.T
	machine *Machine
	bench   *Bench
}

func (c conformance) at(mode string) space.Point {
	point, err := c.bench.Point("MODE=" + mode)
	if err != nil {
		c.Fatal(err)
	}
	return point
}

// outcome measures a point.
func (c conformance) outcome(b *Bench, mode string) objective.Outcome {
	prepared, err := b.Evaluator.Prepare(c.Context(), c.at(mode))
	if err != nil {
		c.Fatalf("%s: %v", mode, err)
	}
	o, err := b.Evaluator.Measure(c.Context(), prepared, 0)
	if err != nil {
		c.Fatalf("%s: %v", mode, err)
	}
	return o
}

// describes: limits that let the default pass, and facts that stay the same.
func (c conformance) describes() {
	backend := c.bench.Kernel.On()
	if failure := c.machine.Limits(c.Context(), c.bench.Target).Preflight(c.at("good")); failure != nil {
		c.Errorf("the limits rule the default out: %v", failure)
	}
	facts := c.bench.Backend.Facts()
	if e := facts.Environment; facts.Width < 1 || e.Backend != backend.Name || e.Device == "" || e.System == "" {
		c.Errorf("facts %+v", facts)
	}
	if again := c.bench.Backend.Facts(); !reflect.DeepEqual(facts.Environment, again.Environment) {
		c.Errorf("facts change: %+v, %+v", facts, again)
	}
	if _, program := c.bench.Backend.(objective.Program); program != backend.Program {
		c.Errorf("as a kernels.Backend it is a program: %v, as an objective.Backend: %v", backend.Program, program)
	}
}

// compiles: one point is one binary.
func (c conformance) compiles() {
	var digests []string
	for range 2 {
		binary, failure, err := c.bench.Backend.Compile(c.Context(), c.at("good"))
		if err != nil || failure != nil || binary.Digest == "" {
			c.Fatalf("%+v, %v, %v", binary, failure, err)
		}
		digests = append(digests, binary.Digest)
	}
	if digests[0] != digests[1] {
		c.Errorf("one point, two binaries: %q", digests)
	}
}

// survives: a point that fails is a value with the right stage, and hurts no other.
func (c conformance) survives() {
	for _, tried := range []struct {
		mode  string
		stage objective.Stage
	}{
		{"good", ""}, {"unbuilt", objective.Compile}, {"wrong", objective.Fuzz}, {"crashes", objective.Fuzz},
		{"hangs", objective.Fuzz}, {"good", ""},
	} {
		o := c.outcome(c.bench, tried.mode)
		switch {
		case tried.stage == "" && (o.Failure != nil || len(o.Samples) == 0 || slices.Min(o.Samples) <= 0):
			c.Errorf("%s: %v, samples %v", tried.mode, o.Failure, o.Samples)
		case tried.stage != "" && (o.Failure == nil || o.Failure.Stage != tried.stage || len(o.Samples) > 0):
			c.Errorf("%s: failure %v, samples %v; it should fail at stage %s", tried.mode, o.Failure, o.Samples, tried.stage)
		}
	}
}

// sanitizes: tools with a backend each, or an error that says that there are none.
func (c conformance) sanitizes() {
	sanitizing, can := c.bench.Backend.(objective.Sanitizing)
	if !can {
		return
	}
	tools, err := sanitizing.Sanitized(c.Context())
	if err != nil && !errors.Is(err, objective.ErrNoSanitizer) {
		c.Errorf("sanitizers: %v", err)
	}
	for _, tool := range tools {
		if tool.Name == "" || tool.Backend == nil || tool.Slowdown < 1 {
			c.Errorf("sanitizer %+v", tool)
		}
	}
}

// elsewhere is a device with the binaries of another bench.
type elsewhere struct {
	objective.Backend
	binaries objective.Backend
}

func (e elsewhere) Compile(ctx context.Context, p space.Point) (objective.Binary, *objective.Failure, error) {
	return e.binaries.Compile(ctx, p)
}

func (e elsewhere) Reference(ctx context.Context, given space.Point) (objective.Binary, error) {
	return e.binaries.Reference(ctx, given)
}

// lends: what was compiled elsewhere runs, without a compiler here.
func (c conformance) lends() {
	lender, can := c.machine.installed[c.bench.Kernel.Backend].(platform.Lender)
	built := func(device objective.Backend) objective.Backend { return elsewhere{device, c.bench.Backend} }
	if !can {
		if b, err := c.machine.OpenBuilt(c.Context(), c.bench.Target, objective.Options{}, built); err == nil {
			b.Close()
			c.Error("it lends nothing, and is opened for others")
		}
		return
	}
	measures, compiles := lender.Offers(c.Context(), "here", nil)
	if measures == nil || measures.Backend != c.bench.Kernel.Backend || measures.Width < 1 || len(compiles) == 0 {
		c.Errorf("offers %+v, %+v", measures, compiles)
	}
	bare := Here(Tools{Cache: c.TempDir(), Getenv: func(string) string { return "" }, Notice: func(string) {}})
	o := objective.Options{Seed: 1, RunTimeout: 3 * time.Second}
	lent, err := bare.OpenBuilt(c.Context(), c.bench.Target, o, built)
	if err != nil {
		c.Fatal(err)
	}
	defer lent.Close()
	if o := c.outcome(lent, "good"); o.Failure != nil || len(o.Samples) == 0 {
		c.Errorf("compiled elsewhere: %v, samples %v", o.Failure, o.Samples)
	}
	if o := c.outcome(lent, "wrong"); o.Failure == nil {
		c.Error("compiled elsewhere, a wrong point passes")
	}
}

// stops: who waits for a device that others have taken goes when the context ends.
func (c conformance) stops() {
	ctx, cancel := context.WithTimeout(c.Context(), 100*time.Millisecond)
	defer cancel()
	for {
		slot, err := c.bench.Backend.Reserve(ctx, c.at("good"))
		if err != nil {
			if ctx.Err() == nil {
				c.Errorf("waiting for a device: %v", err)
			}
			return
		}
		defer slot.Release()
	}
}
