package winner

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pawl/gate"
	"pawl/gate/baseline"
	"pawl/gate/policy"
	"pawl/gate/ratchet"
	gatereport "pawl/gate/reporting"
	"pawl/internal/kerneltest"
	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/devices"
	"pawl/search/trial"
	"pawl/space"
	"pawl/studies"
	"pawl/studies/report"
)

// TestMain lets the test binary be its own worker.
func TestMain(m *testing.M) {
	devices.Serve()
	os.Exit(m.Run())
}

// scale is a kernel that a point makes slow, or wrong.
var scale = kerneltest.Scale{
	Params:    []string{"WASTE: {values: [0, 1], default: 1}", "WRONG: {values: [0, 1], default: 0}"},
	Workloads: []string{"small: {N: 400}", "tiny: {N: 40}"},
	Repeats:   "1 + WASTE", Factor: "2 + WRONG",
}

const initialPoint, best, wrongPoint = "WASTE=1,WRONG=0", "WASTE=0,WRONG=0", "WASTE=0,WRONG=1"

// bench is a kernel, a database and a place for a baseline, all real.
type bench struct {
	t              *testing.T
	folder, path   string
	builder        *devices.Builder
	store          *studies.Store
	device, digest string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	root := t.TempDir()
	b := &bench{t: t, folder: filepath.Join(root, "scale"), path: filepath.Join(root, "results", "baseline.json")}
	if err := scale.Write(b.folder); err != nil {
		t.Fatal(err)
	}
	cache := filepath.Join(root, "cache")
	b.builder = &devices.Builder{
		Machine: devices.Here(devices.Tools{
			Cache:          cache,
			CompileTimeout: time.Minute,
			Getenv:         os.Getenv,
			Notice:         func(text string) { t.Log(text) },
		}),
		Cache: cache, Version: "a version", Options: objective.Options{Seed: 1, RunTimeout: time.Minute},
	}
	t.Cleanup(b.builder.Close)
	var err error
	if b.store, err = studies.Open(t.Context(), filepath.Join(root, kernels.DatabaseName)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.store.Close() })
	k := b.kernel()
	opened, err := b.builder.Open(t.Context(), k, "small", "")
	if err != nil {
		t.Fatal(err)
	}
	b.device = opened.Backend.Facts().Environment.Device
	opened.Close()
	if b.digest, err = k.Digest(); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bench) kernel() *kernels.Kernel {
	b.t.Helper()
	k, err := b.builder.Machine.Load(b.t.Context(), b.folder, kernels.Host)
	if err != nil {
		b.t.Fatal(err)
	}
	return k
}

func (b *bench) write(name, content string) {
	b.t.Helper()
	if err := os.MkdirAll(b.folder, 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.folder, name), []byte(content), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// study records a study that a point has won, with made-up times; rounds may be none.
func (b *bench) study(winner string, rounds int, change func(*studies.Study)) int64 {
	b.t.Helper()
	study := studies.Study{
		Subject: studies.Subject{Kernel: "scale", Origin: b.folder, Workload: "small", Dims: "N=400", Backend: kernels.Host},
		Sampler: "grid",
		Source:  b.digest,
		Space: studies.SpaceFacts{Params: []studies.ParamFacts{
			{Name: "WASTE", Values: []string{"0", "1"}, Default: "1", Ordered: true},
			{Name: "WRONG", Values: []string{"0", "1"}, Default: "0", Ordered: true},
		}},
		Environment: objective.Environment{Backend: kernels.Host, Device: b.device}, Created: time.Now(),
	}
	if change != nil {
		change(&study)
	}
	id, err := b.store.Create(b.t.Context(), study)
	if err != nil {
		b.t.Fatal(err)
	}
	recorder := b.store.Recorder(id)
	for i, at := range []struct {
		point string
		ms    float64
	}{{initialPoint, 2}, {winner, 1}} {
		point, err := space.ParsePoint(at.point)
		if err != nil {
			b.t.Fatal(err)
		}
		tried := trial.Trial{Number: i, Point: point, Outcome: objective.Outcome{Samples: []float64{at.ms, at.ms}}}
		if err := errors.Join(recorder.Started(tried), recorder.Finished(tried)); err != nil {
			b.t.Fatal(err)
		}
		for round := range rounds {
			if err := recorder.Measured(trial.Round{
				Phase:   trial.Confirmation,
				Number:  round,
				Point:   point,
				Outcome: tried.Outcome,
			}); err != nil {
				b.t.Fatal(err)
			}
		}
	}
	return id
}

// rules are quick, and so wide that no noise decides.
func (b *bench) rules(at string) *policy.File {
	rules := policy.Default(b.folder)
	rules.Kernels[0].At, rules.Kernels[0].Workloads = at, []string{"small"}
	rules.Kernels[0].Policy.Rounds, rules.Kernels[0].Policy.Samples = []int{10}, 2
	return rules
}

// run makes the baseline of a point.
func (b *bench) run(at string) {
	b.t.Helper()
	r, _, err := ratchet.Run(b.t.Context(), b.builder,
		ratchet.Options{
			Again:   studies.Place{}.Pawl,
			Setting: b.setting(),
			Policy:  b.rules(at),
			Backend: kernels.Host,
			Exit:    func(*gatereport.Report) int { return 0 },
		})
	if err != nil || !r.Updated {
		b.t.Fatal(err)
	}
}

func (b *bench) setting() ratchet.Setting {
	return ratchet.Setting{On: ratchet.Here(b.builder), Baseline: b.path}
}

func (b *bench) gate(study int64, change func(*Options)) (Outcome, error) {
	b.t.Helper()
	o := Options{Setting: b.setting(), Study: study, Policy: b.rules("")}
	if change != nil {
		change(&o)
	}
	return Gate(b.t.Context(), b.builder, b.store, o)
}

// must gates, and makes sure that what was returned is what was recorded.
func (b *bench) must(study int64, change func(*Options)) studies.Gating {
	b.t.Helper()
	outcome, err := b.gate(study, change)
	if err != nil {
		b.t.Fatal(err)
	}
	all, err := b.store.Gatings(b.t.Context(), study)
	if err != nil || len(all) == 0 {
		b.t.Fatal(err)
	}
	last := all[len(all)-1]
	if g := outcome.Gating; g.Verdict != last.Verdict || g.Point != last.Point || g.Standing != last.Standing ||
		len(last.Result) == 0 || last.Pawl != "a version" {
		b.t.Errorf("returned %+v, recorded %+v", g, last)
	}
	return last
}

// Without a baseline nothing is known, and none is made.
func TestNoBaseline(t *testing.T) {
	b := newBench(t)
	g := b.must(b.study(best, 3, nil), nil)
	if g.Standing != studies.Undecided || g.Verdict != string(gate.New) ||
		!strings.Contains(g.Reason, "pawl gate "+b.folder+" makes one") || g.Speedup != nil {
		t.Errorf("%+v", g)
	}
	if _, err := os.Stat(filepath.Dir(b.path)); err == nil {
		t.Error("something was written beside the baseline")
	}
}

// A winner that the baseline has, by its machine code or by its point and sources, is not
// measured; a wrong one is refused before anything else.
func TestWhatIsRunAlready(t *testing.T) {
	b := newBench(t)
	b.run(best)
	won, lies := b.study(best, 3, nil), b.study(wrongPoint, 3, nil)
	unmeasured := func(o *Options) {
		o.Observe = func(string, string, int, int) { t.Error("it was measured") }
	}
	before, err := os.ReadFile(b.path)
	if err != nil {
		t.Fatal(err)
	}
	g := b.must(won, unmeasured)
	if g.Standing != studies.Running || g.Verdict != AlreadyRun || g.BaselinePoint != best || len(g.Notes) > 0 {
		t.Errorf("%+v", g)
	}
	if s, err := report.Read(t.Context(), b.store, won); err != nil || s.Advice.Verdict != report.Running ||
		s.Suggestion != nil {
		t.Errorf("%+v, %v", s.Advice, err)
	}
	if g := b.must(lies, unmeasured); g.Standing != studies.Refused || g.Verdict != string(gate.Wrong) {
		t.Errorf("%+v", g)
	}

	// The manifest changed, the machine code did not.
	b.write(kernels.ManifestName, "# a remark\n"+scale.Manifest())
	if g := b.must(won, unmeasured); g.Standing != studies.Running || len(g.Notes) != 1 ||
		!strings.Contains(g.Notes[0], "changed since the study") {
		t.Errorf("%+v", g)
	}
	b.write(kernels.ManifestName, scale.Manifest())
	if after, err := os.ReadFile(b.path); err != nil || string(after) != string(before) {
		t.Errorf("the baseline changed (%v)", err)
	}

	// Another point had this machine code.
	err = baseline.Update(b.path, func(f *baseline.File) error {
		for _, e := range f.Entries {
			e.Point = "BLOCK=1"
			f.Put(e.Entry)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if g := b.must(won, unmeasured); g.Standing != studies.Running || !strings.Contains(g.Reason, "at another point") {
		t.Errorf("%+v", g)
	}

	// Another compiler made the baseline's machine code; point and sources are the same.
	err = baseline.Update(b.path, func(f *baseline.File) error {
		for _, e := range f.Entries {
			e.Binary, e.Point = "another", best
			f.Put(e.Entry)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if g := b.must(won, unmeasured); g.Standing != studies.Running {
		t.Errorf("%+v", g)
	}

	// A baseline of another device, or of other sizes, is none.
	alter := func(change func(*baseline.Entry)) {
		t.Helper()
		err := baseline.Update(b.path, func(f *baseline.File) error {
			e := f.Entries[0].Entry
			f.Entries = nil
			change(&e)
			f.Put(e)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	alter(func(e *baseline.Entry) { e.Dims = "N=399" })
	if g := b.must(won, unmeasured); g.Standing != studies.Undecided || g.Verdict != string(gate.New) ||
		!strings.Contains(g.Reason, "N=399") {
		t.Errorf("%+v", g)
	}
	alter(func(e *baseline.Entry) { e.Device = "another chip" })
	if g := b.must(won, unmeasured); g.Standing != studies.Undecided || g.Verdict != string(gate.New) ||
		!strings.Contains(g.Reason, "another chip") {
		t.Errorf("%+v", g)
	}
}

// What cannot be gated says why, and nothing is recorded.
func TestWhatCannotBeGated(t *testing.T) {
	b := newBench(t)
	won := b.study(best, 3, nil)
	for name, test := range map[string]struct {
		study  int64
		change func(*Options)
		want   string
		usage  bool
	}{
		"another device": {b.study(best, 3, func(s *studies.Study) { s.Environment.Device = "another chip" }), nil,
			"it was measured on another chip, and this is " + b.device, true},
		"a record": {b.study(best, 3, func(s *studies.Study) { s.Backend = "replay" }), nil, "replays a record",
			true},
		"other sizes": {b.study(best, 3, func(s *studies.Study) { s.Dims = "N=399" }), nil, "tune again", true},
		"another kernel": {b.study(best, 3, func(s *studies.Study) { s.Kernel = "other" }), nil,
			`is of kernel "other", not of "scale"`, true},
		"no such folder":   {won, func(o *Options) { o.Kernel = "nowhere" }, "nowhere", true},
		"no such point":    {won, func(o *Options) { o.At = "NONE=1" }, "no parameter NONE", true},
		"no such workload": {won, func(o *Options) { o.Workload = "none" }, `no workload "none"`, true},
		"no winner":        {b.study(best, 0, nil), nil, "no confirmed winner", false},
		"no study":         {99, nil, "no such study", false},
		"no baseline file": {won, func(o *Options) { o.Baseline = b.folder }, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := b.gate(test.study, test.change)
			var argument *devices.ArgumentError
			if err == nil || !strings.Contains(err.Error(), test.want) || errors.As(err, &argument) != test.usage {
				t.Errorf("%v", err)
			}
			if all, err := b.store.Gatings(t.Context(), test.study); err != nil || len(all) > 0 {
				t.Errorf("recorded %v, %v", all, err)
			}
		})
	}
}

// What is stopped before its verdict leaves nothing.
func TestStopped(t *testing.T) {
	b := newBench(t)
	b.run(initialPoint)
	won := b.study(best, 3, nil)
	ctx, cancel := context.WithCancel(t.Context())
	o := Options{Setting: b.setting(), Study: won, Policy: b.rules("")}
	o.Observe = func(string, string, int, int) { cancel() }
	if _, err := Gate(ctx, b.builder, b.store, o); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if all, err := b.store.Gatings(t.Context(), won); err != nil || len(all) > 0 {
		t.Errorf("recorded %v, %v", all, err)
	}
}

func TestLimits(t *testing.T) {
	b := newBench(t)
	k := b.kernel()
	one, two := gate.Presets["strict"], gate.Presets["relaxed"]
	rules := &policy.File{Kernels: []policy.Kernel{
		{Name: "other", Policy: two}, {Name: b.folder + "/", Workloads: []string{"small"}, Policy: one},
		{Name: "scale", Policy: two},
	}}
	for workload, want := range map[string]float64{"small": one.Regression, "tiny": two.Regression} {
		if got := limits(rules, k, workload).Regression; got != want {
			t.Errorf("%s: %v, want %v", workload, got, want)
		}
	}
	if got := limits(nil, k, "small").Regression; got != gate.Presets[gate.DefaultPreset].Regression {
		t.Errorf("without a policy: %v", got)
	}
}

// Every verdict of the gate has a standing.
func TestStandings(t *testing.T) {
	want := map[gate.Verdict]studies.Standing{
		gate.Wrong: studies.Refused, gate.Regression: studies.Refused, gate.Improvement: studies.Faster,
		gate.Maintained: studies.Equal, gate.NoDifference: studies.Equal,
		gate.New: studies.Undecided, gate.Vanished: studies.Undecided,
		gate.Inconclusive: studies.Undecided, gate.Infeasible: studies.Undecided,
	}
	for _, verdict := range gate.Verdicts {
		held := ratchet.Held{}
		held.Verdict = verdict
		if got := standing(held); got != want[verdict] {
			t.Errorf("%s: %s, want %s", verdict, got, want[verdict])
		}
	}
}
