package replay

import (
	"bytes"
	"compress/gzip"
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pawl/objective"
	"pawl/space"
)

// cache is a Kernel Tuner cache of the test's own: two integers, one text
// parameter, every kind of outcome.
const cache = `{
"device_name": "Test GPU",
"kernel_name": "scale",
"problem_size": [64, 32],
"tune_params_keys": ["block", "tile", "layout"],
"tune_params": {"block": [32, 64], "tile": [1, 2], "layout": ["row", "column"]},
"objective": "time",
"cache": {
"32,1,row": {"block": 32, "tile": 1, "layout": "row", "time": "RuntimeFailedConfig", "compile_time": 12.5},
"32,2,row": {"block": 32, "tile": 2, "layout": "row", "time": 2.0, "times": [1.5, 2.5], "compile_time": 100},
"64,1,row": {"block": 64, "tile": 1, "layout": "row", "time": "CompilationFailedConfig"},
"64,2,row": {"block": 64, "tile": 2, "layout": "row", "time": 1.25},
"64,2,column": {"block": 64, "tile": 2, "layout": "column", "time": 1e20},
"64,1,column": {"block": 64, "tile": 1, "layout": "column", "time": 3, "__error__": "InvalidConfig"}`

const t4 = `{"metadata": {"timeunit": "seconds"}, "schema_version": "1.0.0", "results": [
{"configuration": {"b": 2, "a": true}, "times": {"compilation": 0.5, "runtimes": [0.001, 0.003]}, "invalidity": "correct",
 "measurements": [{"name": "power", "value": 3, "unit": "W"}, {"name": "time", "value": 0.002, "unit": ""}]},
{"configuration": {"b": 3, "a": false}, "times": {"compilation": 0.25}, "invalidity": "compile", "measurements": []},
{"configuration": {"b": 4, "a": false}, "times": {}, "invalidity": "correctness", "measurements": []},
{"configuration": {"b": 5, "a": false}, "times": {"runtimes": [1]}, "invalidity": "correct",
 "measurements": [{"name": "time", "value": 7, "unit": "ms"}]}]}`

const own = `{"format": "pawl-record", "version": 1, "kernel": "scale", "workload": "n=64",
"environment": {"backend": "host", "device": "cpu", "cores": 2, "system": "linux", "compiler": "cc", "flags": "-O2"},
"params": [{"name": "A", "values": [1, 2], "default": 2, "ordered": true}, {"name": "B", "values": ["x", "y z"], "default": "x", "ordered": false}],
"entries": [
{"point": "A=1,B=x", "samples": [3, 1, 2], "compile": 1.5},
{"point": "A=2,B=x", "failure": {"stage": "fuzz", "reason": "wrong result", "detail": "at 3"}},
{"point": "A=2,B=\"y z\"", "samples": [4]}
]}`

func read(t *testing.T, text string) *Space {
	t.Helper()
	record, err := Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(record)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func entryAt(t *testing.T, s *Space, text string) Entry {
	t.Helper()
	p, err := space.ParsePoint(text)
	if err != nil {
		t.Fatal(err)
	}
	index, err := s.Pool().Index(p)
	if err != nil {
		t.Fatal(err)
	}
	return s.Entry(index)
}

func TestKernelTunerCache(t *testing.T) {
	// Kernel Tuner closes the cache when a run ends well, ends behind an entry
	// or behind a comma when it does not.
	for name, ending := range map[string]string{
		"closed":         "}\n}",
		"half closed":    "}",
		"open":           "",
		"behind a comma": ",\n",
	} {
		t.Run(name, func(t *testing.T) {
			s := read(t, cache+ending)
			if got := s.Pool().Len(); got != 6 {
				t.Fatalf("%d points, want 6", got)
			}
			if r := s.Record(); r.Kernel != "scale" || r.Workload != "64x32" || r.Environment.Device != "Test GPU" {
				t.Errorf("record of %q, %q on %q", r.Kernel, r.Workload, r.Environment.Device)
			}
			good := entryAt(t, s, "block=32,tile=2,layout=row")
			if good.Milliseconds != 2 || len(good.Samples) != 2 || good.Compile != 100*time.Millisecond {
				t.Errorf("the first working entry is %+v", good)
			}
			if got := s.Space().Default().String(); got != "block=32,layout=row,tile=2" {
				t.Errorf("default %s, want the first entry that works", got)
			}
			if bare := entryAt(t, s, "block=64,tile=2,layout=row"); len(bare.Samples) != 1 || bare.Samples[0] != 1.25 {
				t.Errorf("an entry without raw samples has %v, want its time", bare.Samples)
			}
			for point, stage := range map[string]objective.Stage{
				"block=32,tile=1,layout=row": objective.Bench, "block=64,tile=1,layout=row": objective.Compile,
				"block=64,tile=2,layout=column": objective.Bench, "block=64,tile=1,layout=column": objective.Preflight,
			} {
				if e := entryAt(t, s, point); e.Failure == nil || e.Failure.Stage != stage {
					t.Errorf("%s: failure %v, want stage %s", point, e.Failure, stage)
				}
			}
			if s.Optimum().Milliseconds != 1.25 {
				t.Errorf("optimum %v, want 1.25", s.Optimum().Milliseconds)
			}
			for _, p := range s.Space().Params() {
				if p.Ordered != (p.Name != "layout") {
					t.Errorf("%s: ordered %v", p.Name, p.Ordered)
				}
			}
		})
	}
}

func TestT4(t *testing.T) {
	s := read(t, t4)
	// Seconds by the file's unit; the last measurement names its own.
	if e := entryAt(t, s, "a=true,b=2"); e.Milliseconds != 2 || e.Samples[1] != 3 || e.Compile != 500*time.Millisecond {
		t.Errorf("in seconds: %+v", e)
	}
	if e := entryAt(t, s, "a=false,b=5"); e.Milliseconds != 7 || e.Samples[0] != 1000 {
		t.Errorf("in its own unit: %+v", e)
	}
	if e := entryAt(t, s, "a=false,b=3"); e.Failure == nil || e.Failure.Stage != objective.Compile {
		t.Errorf("a compile failure: %+v", e)
	}
	if e := entryAt(t, s, "a=false,b=4"); e.Failure == nil || e.Failure.Stage != objective.Fuzz {
		t.Errorf("a wrong result: %+v", e)
	}
	if names := s.Space().Params(); names[0].Name != "b" || names[1].Name != "a" {
		t.Errorf("parameters %v, want the file's order", names)
	}
}

func TestOwnRecordRoundTrip(t *testing.T) {
	first := read(t, own)
	if !first.Record().DefaultKnown || first.Space().Default().String() != "A=2,B=x" {
		t.Errorf("default %s, known %v", first.Space().Default(), first.Record().DefaultKnown)
	}
	if e := entryAt(t, first, "A=1,B=x"); e.Milliseconds != 2 {
		t.Errorf("time %v, want the median 2 of 3, 1, 2", e.Milliseconds)
	}
	var before, after bytes.Buffer
	if err := first.Record().Write(&before); err != nil {
		t.Fatal(err)
	}
	record, err := Read(bytes.NewReader(before.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if err := record.Write(&after); err != nil {
		t.Fatal(err)
	}
	if before.String() != after.String() {
		t.Errorf("after a round trip\n%s\nwant\n%s", after.String(), before.String())
	}
}

func TestWriteRefusesWhatIsNotANumber(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), -1, 0} {
		record, err := Read(strings.NewReader(own))
		if err != nil {
			t.Fatal(err)
		}
		record.Entries[0].Samples = []float64{1, bad}
		var out bytes.Buffer
		if err := record.Write(&out); err == nil || out.Len() > 0 {
			t.Errorf("%v was written: %s", bad, out.String())
		}
	}
}

func TestReadErrors(t *testing.T) {
	entry := `{"block": 1, "time": 1}`
	for name, test := range map[string]struct{ text, want string }{
		"empty":            {"", "not a JSON object"},
		"a list":           {"[1]", "not a JSON object"},
		"something else":   {`{"a": 1}`, "unknown format"},
		"cut off early":    {`{"device_name": "x"`, "unexpected EOF"},
		"cut inside entry": {`{"tune_params_keys": ["block"], "cache": {"1": {"block": 1, "ti`, "ends in the middle"},
		"no entries":       {`{"tune_params_keys": ["block"], "cache": {}}`, "no entries"},
		"no keys":          {`{"cache": {"1": ` + entry + `}}`, "does not name its parameters"},
		"missing value":    {`{"tune_params_keys": ["block", "tile"], "cache": {"1": ` + entry + `}}`, "no value for tile"},
		"no time":          {`{"tune_params_keys": ["block"], "cache": {"1": {"block": 1}}}`, "no time"},
		"a list as value": {`{"tune_params_keys": ["block"], "cache": {"1": {"block": [1], "time": 1}}}`,
			"is not an integer"},
		"a list as cache": {`{"cache": [1]}`, "foreign.cache"},
		"a list as configuration": {`{"results": [{"configuration": [1]}]}`, "result 0: json: cannot unmarshal [ into Go " +
			"struct field t4Result.configuration"},
		"T4 cut off":    {`{"results": [`, "EOF"},
		"unknown unit":  {strings.Replace(t4, "seconds", "fortnights", 1), "fortnights"},
		"other version": {strings.Replace(own, `"version": 1`, `"version": 3`, 1), "version 3"},
		"other format":  {strings.Replace(own, "pawl-record", "other", 1), `"other"`},
		"unknown field": {strings.Replace(own, `"kernel"`, `"kernal"`, 1), "kernal"},
		"samples + failure": {strings.Replace(own, `"samples": [4]`,
			`"samples": [4], "failure": {"stage": "fuzz", "reason": "x"}`, 1), "failure with samples"},
		"neither":            {strings.Replace(own, `"samples": [4]`, `"samples": []`, 1), "neither samples nor a failure"},
		"negative time":      {strings.Replace(own, "[4]", "[-4]", 1), "not a time"},
		"no default":         {strings.Replace(own, `"default": 2, `, "", 1), "no default"},
		"both cache, result": {`{"cache": {"1": ` + entry + `}, "results": []}`, "unknown format"},
	} {
		if _, err := Read(strings.NewReader(test.text)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", name, err, test.want)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"recorded twice": strings.Replace(own, `"A=2,B=\"y z\""`, `"A=1,B=x"`, 1),
		"no value":       strings.Replace(own, `"A=2,B=\"y z\""`, `"A=1"`, 1),
		"is not one of":  strings.Replace(own, `"A=2,B=\"y z\""`, `"A=7,B=x"`, 1),
	} {
		record, err := Read(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := New(record); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want %q", err, name)
		}
	}
	onlyFailures := `{"tune_params_keys": ["a"], "cache": {"1": {"a": 1, "time": "InvalidConfig"}}}`
	record, err := Read(strings.NewReader(onlyFailures))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(record); err == nil || !strings.Contains(err.Error(), "none of 1 points works") {
		t.Errorf("error %v, want that none works", err)
	}
}

func TestMixedNumbersBecomeDecimals(t *testing.T) {
	s := read(t, `{"tune_params_keys": ["half", "whole-number"], "cache": {
"a": {"half": 0.5, "whole-number": 2.0, "time": 1}, "b": {"half": 1, "whole-number": 3, "time": 2}}}`)
	params := s.Space().Params()
	if params[0].Kind() != space.Text || !params[0].Ordered || params[0].Values[0].String() != "0.5" ||
		params[0].Values[1].String() != "1.0" {
		t.Errorf("fractions: %+v", params[0])
	}
	if params[1].Kind() != space.Integer || params[1].Name != "whole_number" {
		t.Errorf("whole numbers: %+v", params[1])
	}
}

func TestMixedKindsBecomeText(t *testing.T) {
	s := read(t, `{"tune_params_keys": ["type"], "cache": {
"a": {"type": 1, "time": 1}, "b": {"type": "long long", "time": 2}, "c": {"type": "", "time": 3}}}`)
	want := []space.Value{space.TextValue("1"), space.TextValue("long long"), space.TextValue("")}
	if got := s.Space().Params()[0].Values; !slices.Equal(got, want) {
		t.Errorf("values %v, want %v", got, want)
	}
}

func TestGzipBombIsRefused(t *testing.T) {
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	if _, err := w.Write(make([]byte, 1<<16)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := readAll(&zipped, 1<<10); err == nil || !strings.Contains(err.Error(), "larger than 1024") {
		t.Errorf("error %v, want that it is too large", err)
	}
}

func TestEvaluator(t *testing.T) {
	ctx := context.Background()
	s := read(t, own)
	e := NewEvaluator(s, 1)
	point := func(text string) space.Point {
		p, err := space.ParsePoint(text)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	prepared, err := e.Prepare(ctx, point("A=1,B=x"))
	if err != nil || prepared.Failure != nil || prepared.Spent.Compile != 1500*time.Microsecond {
		t.Fatalf("prepared %+v, %v", prepared, err)
	}
	outcome, err := e.Measure(ctx, prepared, 0)
	if err != nil || outcome.Milliseconds() != 2 {
		t.Errorf("measured %+v, %v", outcome, err)
	}
	sampled, err := e.Sample(ctx, prepared, 50)
	if err != nil || len(sampled.Samples) != 50 {
		t.Fatalf("sampled %+v, %v", sampled, err)
	}
	for _, sample := range sampled.Samples {
		if sample != 1 && sample != 2 && sample != 3 {
			t.Errorf("sample %v was never recorded", sample)
		}
	}
	again, err := NewEvaluator(s, 1).Sample(ctx, prepared, 50)
	if err != nil || !equal(again.Samples, sampled.Samples) {
		t.Errorf("the same seed drew other samples: %v", err)
	}

	// A failure of a late stage shows when the point is measured.
	prepared, err = e.Prepare(ctx, point("A=2,B=x"))
	if err != nil || prepared.Failure != nil {
		t.Fatalf("prepared %+v, %v", prepared, err)
	}
	if outcome, err := e.Measure(ctx, prepared, 0); err != nil || outcome.Failure == nil ||
		outcome.Failure.Reason != "wrong result" {
		t.Errorf("measured %+v, %v", outcome, err)
	}
	if failure, err := e.Verify(ctx, prepared); err != nil || failure == nil {
		t.Errorf("verified %v, %v", failure, err)
	}
	if _, err := e.Prepare(ctx, point(`A=1,B="y z"`)); err == nil {
		t.Error("a point that was never recorded has been answered")
	}
}

func equal(a, b []float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
