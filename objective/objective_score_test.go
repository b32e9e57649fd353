package objective

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pawl/kernels"
	"pawl/objective/check"
	"pawl/objective/worker"
	"pawl/space"
)

// scored loads a kernel of the processor with some keys more, and returns how it is scored.
func scored(t *testing.T, keys string) *score {
	t.Helper()
	dir := t.TempDir()
	manifest := `name: scored
entry: f
source: {host: f.c}
reference: {host: f.c}
params: {STEPS: {values: [1, 2, 4], default: 1}}
workloads: {small: {N: 10}}
args: [{name: y, type: f32, shape: [N], out: true}]
` + keys
	for name, content := range map[string]string{kernels.ManifestName: manifest, "f.c": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	k, err := kernels.Load(dir, kernels.Host)
	if err != nil {
		t.Fatal(err)
	}
	return &score{kernel: k, dims: k.Workloads[0].Dims}
}

func prepared(t *testing.T, point string) Prepared {
	t.Helper()
	p, err := space.ParsePoint(point)
	if err != nil {
		t.Fatal(err)
	}
	return Prepared{
		Point:  p,
		Binary: Binary{Digest: "code", Module: Module{File: "file"}, Size: 4096},
		Spent:  Spent{Compile: 300 * time.Millisecond},
	}
}

// Samples of 1, 2, 3, 4 and 5 ms, put through formulas; the expected numbers are worked out
// by hand.
func TestScores(t *testing.T) {
	for _, c := range []struct {
		keys, point string
		want        []float64
		failure     string
		unit        string
	}{
		{keys: "", point: "STEPS=2", want: []float64{1, 2, 3, 4, 5}},
		{keys: "minimize: time / STEPS", point: "STEPS=2", want: []float64{0.5, 1, 1.5, 2, 2.5}, unit: "ms"},
		{keys: "minimize: time * time / N", point: "STEPS=1", want: []float64{0.1, 0.4, 0.9, 1.6, 2.5}},
		{keys: "maximize: 100 / time", point: "STEPS=1", want: []float64{0.01, 0.02, 0.03, 0.04, 0.05}},
		{keys: "minimize: least", point: "STEPS=1", want: []float64{1}, unit: "ms"},
		{keys: "minimize: p95", point: "STEPS=1", want: []float64{4.8}, unit: "ms"},
		{keys: "minimize: binary_size", point: "STEPS=1", want: []float64{4096}, unit: "bytes"},
		{keys: "minimize: time + binary_size", point: "STEPS=1", want: []float64{4097, 4098, 4099, 4100, 4101}},
		{
			keys:    "minimize: time - 3",
			point:   "STEPS=1",
			failure: "bench: no objective: time - 3 is -2 (time is 1 ms): points are compared by ratios, so it must be above 0",
		},
		{
			keys:    "minimize: time / (STEPS - 1)",
			point:   "STEPS=1",
			failure: `bench: no objective: expression "time / (STEPS - 1)": division by zero`,
		},
		{
			keys:    "require: [time < 2]",
			point:   "STEPS=1",
			failure: "bench: requirement not met: require time < 2: time is 3 ms",
		},
		{keys: "require: [time < 4]", point: "STEPS=1", want: []float64{1, 2, 3, 4, 5}},
		{
			keys:    "require: [binary_size <= 100]",
			point:   "STEPS=1",
			failure: "compile: requirement not met: require binary_size <= 100: binary_size is 4 KiB",
		},
	} {
		s, p := scored(t, c.keys), prepared(t, c.point)
		failure := s.beforehand(p)
		var o Outcome
		if failure == nil {
			o = s.apply(p, Outcome{Samples: []float64{1, 2, 3, 4, 5}}, nil)
			failure = o.Failure
		}
		if text := ""; failure != nil || c.failure != "" {
			if failure != nil {
				text = failure.String()
			}
			if text != c.failure || len(o.Samples) > 0 {
				t.Errorf("%s: got %q with %v, want %q", c.keys, text, o.Samples, c.failure)
			}
			continue
		}
		if !slices.EqualFunc(o.Samples, c.want, func(a, b float64) bool { return a > 0.999999*b && a < 1.000001*b }) {
			t.Errorf("%s: got %v, want %v", c.keys, o.Samples, c.want)
		}
		if len(s.kernel.Objectives) > 0 && s.kernel.Objectives[0].Unit != c.unit {
			t.Errorf("%s: unit %q, want %q", c.keys, s.kernel.Objectives[0].Unit, c.unit)
		}
	}
}

// The same machine code at two points is two binaries where the objective tells them apart,
// and a time is hopeless against what it comes to.
func TestScoresTellPointsApart(t *testing.T) {
	one, two := prepared(t, "STEPS=1"), prepared(t, "STEPS=2")
	for keys, same := range map[string]bool{"": true, "minimize: p95": true, "minimize: time / STEPS": false} {
		s := scored(t, keys)
		if got := s.distinguish(one.Binary, one.Point).Digest == s.distinguish(two.Binary, two.Point).Digest; got != same {
			t.Errorf("%q: same %v, want %v", keys, got, same)
		}
	}
	// Half a millisecond per step is a millisecond for two of them.
	for keys, want := range map[string]float64{
		"":                             0.5,
		"minimize: time / STEPS":       1,
		"minimize: p95":                0,
		"minimize: time * binary_size": 0,
	} {
		if got := scored(t, keys).incumbent(two.Point, 0.5); got != want {
			t.Errorf("%q: incumbent %v, want %v", keys, got, want)
		}
	}
}

// Several objectives: the first decides, and each has its value.
func TestSeveralObjectives(t *testing.T) {
	s, p := scored(t, "minimize: [time, binary_size]"), prepared(t, "STEPS=1")
	o := s.apply(p, Outcome{Samples: []float64{1, 2, 3}}, nil)
	if o.Failure != nil || !slices.Equal(o.Samples, []float64{1, 2, 3}) || !slices.Equal(o.Scores, []float64{2, 4096}) {
		t.Errorf("got %+v", o)
	}
}

// A formula that fails at a point fails nothing where no speed is held against it.
func TestWorkThatBoundsNothingMayFail(t *testing.T) {
	k := scored(t, `work: {flops: N, bytes: "8 * N / (STEPS - 2)"}`).kernel
	b := &benchmark{kernel: k, workload: check.Case{Dims: k.Workloads[0].Dims}}
	at := prepared(t, "STEPS=2").Point
	b.caches = worker.Warm
	for _, roofline := range []Roofline{{}, {Flops: 1e12, Bytes: 1e12}} {
		b.roofline = roofline
		outcome := Outcome{Samples: []float64{1}}
		if err := b.plausible(&outcome, at); err != nil || outcome.Failure != nil {
			t.Errorf("%+v: %v, %v", roofline, err, outcome.Failure)
		}
	}
	b.caches = worker.Cold
	if err := b.plausible(&Outcome{Samples: []float64{1}}, at); err == nil {
		t.Error("a formula that bounds the time fails, and nobody says so")
	}
}
