package results

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		content, key, choose string
		want, err            string
	}{
		"a bare list":      {content: "[1.5, 2]", want: "[[1.5 2]]"},
		"one list":         {content: `{"kernel": "x", "rounds": [[1, 2], [3]]}`, want: "[[1 2] [3]]"},
		"a named list":     {content: `{"a": {"samples": [1, 2]}, "b": [3]}`, key: "a.samples", want: "[[1 2]]"},
		"a list in a list": {content: `{"runs": [{"ms": [1, 2]}, {"ms": [3, 4]}]}`, key: "runs.1.ms", want: "[[3 4]]"},
		"one column":       {content: "ms\n1\n2\n", want: "[[1 2]]"},
		"no header":        {content: "1\n2\n", want: "[[1 2]]"},
		"a named column":   {content: "n,ms\n1,2.5\n2,2.6\n", key: "ms", want: "[[2.5 2.6]]"},
		"a mark of order":  {content: "\ufeff[1, 2]", want: "[[1 2]]"},
		"two lists":        {content: `{"a": [1], "b": [2]}`, err: "--key: a, b"},
		"no such list":     {content: `{"a": [1], "b": [2]}`, key: "c", err: `no list of times under "c"; there are a, b`},
		"no list":          {content: `{"a": 1}`, err: "no list of times"},
		"two columns":      {content: "n,ms\n1,2\n", err: "--key: n, ms"},
		"no such column":   {content: "n,ms\n1,2\n", key: "s", err: `no column "s"`},
		"zero":             {content: "[1, 0]", err: `"0" is not a time`},
		"negative":         {content: `{"samples": [1, -2]}`, err: `samples: "-2" is not a time`},
		"too large":        {content: "[1e999]", err: `"1e999" is not a time`},
		"NaN in a column":  {content: "ms\n1\nNaN\n", err: "line 3"},
		"NaN in JSON":      {content: "[1, NaN]", err: "not JSON: it holds NaN (byte 4), which is not a time"},
		"nan":              {content: `{"samples": [1, nan]}`, err: "it holds nan"},
		"NaN first":        {content: `{"samples": [NaN, 1]}`, err: "it holds NaN"},
		"infinity":         {content: `{"samples": [1, Infinity]}`, err: "it holds Infinity"},
		"minus infinity":   {content: `{"samples": [1, -Infinity]}`, err: "it holds Infinity"},
		"NaN as text":      {content: `{"samples": [1, "NaN"]}`, err: `element 1 is "NaN", which is not a time`},
		"cut off":          {content: `{"samples": [1, 2`, err: "cut off"},
		"two documents":    {content: "[1, 2]\n[3, 4]", err: "more than one JSON document"},
		"nothing":          {content: " \n", err: "empty"},
		"very deep": {
			content: strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000),
			err:     "nested deeper",
		},
		"a column of nobody": {content: "ms\n", err: "no samples"},

		// What is there must be a time: a process less is another result.
		"null among times": {content: `[[1, 2, null], [3, 4]]`, err: "list 0: element 2 is null"},
		"null for a process": {
			content: `{"samples": [[1, 2], null]}`,
			err:     "samples: element 1 is null, not a list of times",
		},
		"null first":          {content: `{"samples": [null, 1]}`, err: "element 0 is null"},
		"only null":           {content: `{"samples": [null, null]}`, err: "samples: null is not a time"},
		"an empty process":    {content: `[[1, 2], []]`, err: "list 1: the list is empty"},
		"a number and a list": {content: `{"samples": [[1, 2], 3]}`, err: "element 0 is [1,2]"},
		"numbers in quotes":   {content: `{"times": ["1.5", "1.6"]}`, err: `times: "1.5" is not a time`},
		"an empty list":       {content: `{"times": []}`, err: "times: the list is empty"},
		"true":                {content: `{"times": [1, true]}`, err: "element 1 is true"},
		"null in a bench file": {
			content: `{"kernel": "k", "workload": "w", "rounds": [[1, null]]}`,
			err:     "rounds: list 0: element 1 is null",
		},

		// A summary is no list of samples, whatever its pairs and shapes are called.
		"a summary": {
			content: `{"median_ms": 1.5, "ci95_ms": [1.4, 1.6], "shape": [32, 8, 512, 64]}`,
			err:     "ci95_ms, shape: this is not a list of raw samples",
		},
		"an interval by its key": {
			content: `{"median_ms": 1.5, "ci95_ms": [1.4, 1.6]}`,
			key:     "ci95_ms",
			err:     "ci95_ms: this is not a list of raw samples",
		},
		"percentiles":        {content: `{"latency_percentiles_ms": [1.4, 1.6, 2]}`, err: "not a list of raw samples"},
		"bounds":             {content: `{"time": {"bounds": [1.4, 1.6]}}`, err: "not a list of raw samples"},
		"a pair of any name": {content: `{"mean": 1.5, "pm": [1.4, 1.6]}`, err: "name it with --key: pm"},
		"means":              {content: `{"mean_ms": [1.4, 1.6]}`, err: "name it with --key: mean_ms"},
		"means by their key": {content: `{"mean_ms": [1.4, 1.6]}`, key: "mean_ms", want: "[[1.4 1.6]]"},
		"a rate":             {content: `{"samples_per_s": [10, 20]}`, err: "not a list of raw samples"},
		"points in time":     {content: `{"start_times": [10, 20]}`, err: "name it with --key: start_times"},
		"a summary beside": {
			content: `{"shape": [4, 4], "ci95_ms": [1, 2], "raw_latencies": [1, 2, 3]}`,
			want:    "[[1 2 3]]",
		},
		"p95 of a column": {content: "config,p95_ms\na,2\n", key: "p95_ms", err: "not a list of raw samples"},

		// Units.
		"seconds by name":    {content: `{"times_s": [0.001, 0.002]}`, want: "[[1 2]]"},
		"microseconds":       {content: `{"latencies_us": [1000, 2000]}`, want: "[[1 2]]"},
		"µs":                 {content: `{"time (µs)": [1000, 2000]}`, want: "[[1 2]]"},
		"nanoseconds, camel": {content: `{"elapsedNs": [1000000]}`, want: "[[1]]"},
		"of the object":      {content: `{"latency_us": {"samples": [1000]}}`, want: "[[1]]"},
		"a unit field":       {content: `{"unit": "us", "results": [{"samples": [1000]}]}`, want: "[[1]]"},
		"no unit of time": {
			content: `{"unit": "cycles", "samples": [1000]}`,
			err:     `unit is "cycles", which is not a unit of time`,
		},
		"two units":            {content: `{"unit": "us", "samples_ms": [1000]}`, err: "says ms"},
		"a column of seconds":  {content: "time_s\n0.5\n", want: "[[500]]"},
		"too small to convert": {content: `{"times_ns": [5e-324]}`, err: "is not a time"},

		// Several results.
		"one of several": {content: several, choose: "seq=512,batch=32", want: "[[1 2]]"},
		"by a number":    {content: several, choose: "seq=1024.0", want: "[[3 4]]"},
		"ambiguous": {
			content: several,
			choose:  "batch=32",
			err: "2 results have batch=32; choose one of seq=512 (results.0.raw_latencies); seq=1024 " +
				"(results.1.raw_latencies)",
		},
		"none": {
			content: several,
			choose:  "seq=7",
			err:     "no result has seq=7; there are seq=512 (results.0.raw_latencies); seq=1024 (results.1.raw_latencies)",
		},
		"no such setting": {content: several, choose: "heads=7", err: "no result has heads=7"},
		"flat results": {
			content: `[{"seq": 512, "latencies_ms": [1, 2]}, {"seq": 1024, "latencies_ms": [3]}]`,
			choose:  "seq=1024",
			want:    "[[3]]",
		},
		"by their names": {
			content: `{"a": {"dtype": "fp16", "times": [1]}, "b": {"dtype": "bf16", "times": [2]}}`,
			choose:  "dtype=bf16",
			want:    "[[2]]",
		},
		"nothing differs": {
			content: `{"runs": [{"samples": [1, 2]}, {"samples": [3, 4]}]}`,
			err:     "2 results that no setting distinguishes",
		},
		"two lists each": {
			content: `[{"seq": 1, "times": [1], "raw_times": [2]}, {"seq": 2, "times": [3], "raw_times": [4]}]`,
			choose:  "seq=2",
			err:     "2 results have seq=2",
		},
		"and a key": {
			content: `[{"seq": 1, "times": [1], "raw_times": [2]}, {"seq": 2, "times": [3], "raw_times": [4]}]`,
			key:     "times",
			choose:  "seq=2",
			want:    "[[3]]",
		},
		"bad but not meant": {
			content: `[{"seq": 1, "times": [null, 1]}, {"seq": 2, "times": [3]}]`,
			choose:  "seq=2",
			want:    "[[3]]",
		},
		"bad and meant": {
			content: `[{"seq": 1, "times": [null, 1]}, {"seq": 2, "times": [3]}]`,
			choose:  "seq=1",
			err:     "0.times: element 0 is null",
		},
		"rows":    {content: "seq,ms\n512,1\n1024,2\n512,3\n", key: "ms", choose: "seq=512", want: "[[1 3]]"},
		"no rows": {content: "seq,ms\n512,1\n", key: "ms", choose: "seq=7", err: "no row has seq=7"},

		// Other programs.
		"hyperfine": {
			content: `{"results": [{"command": "x", "mean": 0.5, "times": [0.5, 0.25], "exit_codes": [0, 0]}]}`,
			want:    "[[500] [250]]",
		},
		"hyperfine, no times": {content: `{"results": [{"command": "x", "mean": 0.5}]}`, err: "not a list of raw samples"},
		"hyperfine, one": {
			content: `{"results": [{"command": "x", "times": [1]}, {"command": "y", "times": [2], "parameters": {"n": "4"}}]}`,
			choose:  "n=4",
			want:    "[[2000]]",
		},
		"pyperf": {
			content: `{"version": "1.0", "metadata": {"name": "b", "unit": "second"}, "benchmarks": [{"runs": [{"warmups": [[1, 0.5]]}, {"values": [0.5, 0.25]}, {"values": [1]}]}]}`,
			want:    "[[500 250] [1000]]",
		},
		"pytest-benchmark": {
			content: `{"machine_info": {}, "benchmarks": [{"name": "t", "stats": {"min": 1, "data": [0.5, 0.25]}}]}`,
			want:    "[[500 250]]",
		},
		"pytest, no data": {
			content: `{"machine_info": {}, "benchmarks": [{"name": "t", "stats": {"min": 1}}]}`,
			err:     "--benchmark-save-data",
		},
		"Google Benchmark": {
			content: `{"context": {}, "benchmarks": [{"name": "b", "run_name": "b", "run_type": "iteration", "real_time": 5e5, "time_unit": "ns"}, {"name": "b", "run_name": "b", "run_type": "iteration", "real_time": 25e4, "time_unit": "ns"}, {"name": "b_mean", "run_name": "b", "run_type": "aggregate", "real_time": 1, "time_unit": "ns"}]}`,
			want:    "[[0.5 0.25]]",
		},
	} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte(c.content), 0o644); err != nil {
			t.Fatal(err)
		}
		conditions, err := ParseSelect(c.choose)
		if err != nil {
			t.Fatal(err)
		}
		series, err := Read(path, Choice{Key: c.key, Select: conditions})
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: got %v, %v, want %s", name, series, err, c.err)
			}
		case err != nil || len(series) != 1 || fmt.Sprint(series[0].Processes) != c.want:
			t.Errorf("%s: got %v, %v, want %s", name, series, err, c.want)
		}
	}
}

const several = `{"device": "X", "results": [
	{"config": {"seq": 512, "batch": 32}, "median_ms": 1.5, "raw_latencies": [1, 2]},
	{"config": {"seq": 1024, "batch": 32}, "median_ms": 3.5, "raw_latencies": [3, 4]}]}`

// Several results are named by what distinguishes them, and not by what was measured.
func TestSeveralResults(t *testing.T) {
	series, err := parse("file", []byte(several), Choice{})
	if err != nil || len(series) != 2 || series[0].Name != "batch=32 seq=512" || series[1].Name != "batch=32 seq=1024" ||
		series[0].Unit != "" {
		t.Errorf("%+v, %v", series, err)
	}
	flat := `{"host": "a", "runs": [{"seq": 1, "iterations": 5, "mean": 2, "p95_us": 7, "latencies_us": [1]}, {"seq": 2, "iterations": 6, "mean": 3, "p95_us": 8, "latencies_us": [2]}]}`
	series, err = parse("file", []byte(flat), Choice{})
	if err != nil || len(series) != 2 || series[0].Name != "seq=1" || series[0].Unit != "µs" ||
		series[1].Processes[0][0] != 0.002 {
		t.Errorf("%+v, %v", series, err)
	}
}

func TestParseSelect(t *testing.T) {
	if c, err := ParseSelect("seq=512, batch = 32"); err != nil ||
		!reflect.DeepEqual(c, []Condition{{"seq", "512"}, {"batch", "32"}}) {
		t.Errorf("%v, %v", c, err)
	}
	for _, bad := range []string{"seq", "=1", "seq=", "seq=1,,b=2"} {
		if _, err := ParseSelect(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

// FuzzParse holds the reader to its promise: times that are positive and finite, or an
// error in words; never a process without samples.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"a": [[1, 2], [3]]}`), "a", "")
	f.Add([]byte("n,ms\n1,2\n"), "ms", "n=1")
	f.Add([]byte(several), "", "seq=512")
	f.Add([]byte(`[[1, 2, null], [3]]`), "", "")
	f.Add([]byte(`[1, -Infinity]`), "", "")
	f.Add([]byte(`{"ci95_ms": [1, 2], "times_s": [1e308]}`), "", "")
	f.Add([]byte(`{"results": [{"command": "x", "times": [0.5]}]}`), "", "command=x")
	f.Add([]byte(`{"version": "1.0", "benchmarks": [{"runs": [{"values": [0.5]}]}]}`), "", "")
	f.Add([]byte(`{"context": {}, "benchmarks": [{"name": "b", "real_time": 5, "time_unit": "ns"}]}`), "", "")
	f.Add([]byte(`{"machine_info": {}, "benchmarks": [{"stats": {"data": [1]}}]}`), "benchmarks.stats.data", "")
	f.Add([]byte(`{"kernel": "k", "workload": "w", "rounds": [[1], []]}`), "", "")
	f.Fuzz(func(t *testing.T, content []byte, key, choose string) {
		conditions, err := ParseSelect(choose)
		if err != nil {
			return
		}
		series, err := parse("file", content, Choice{Key: key, Select: conditions})
		if err != nil {
			return
		}
		if len(series) == 0 {
			t.Error("neither samples nor an error")
		}
		for _, s := range series {
			if len(s.Processes) == 0 {
				t.Errorf("%s has no processes", s.Name)
			}
			for _, process := range s.Processes {
				if len(process) == 0 {
					t.Errorf("%s has a process without samples", s.Name)
				}
				for _, sample := range process {
					if !(sample > 0) || math.IsInf(sample, 0) {
						t.Errorf("sample %v", sample)
					}
				}
			}
		}
	})
}

// What pawl bench writes says which kernel and device it is about; other lists in
// it are no samples.
func TestBenchFiles(t *testing.T) {
	const file = `{"kernel": "scale", "workload": "small", "rounds": [[1, 2], [3]],
		"resources": {"launch": {"grid": [8, 1, 1]}}, "environment": {"device": "Example"}}`
	series, err := parse("bench.json", []byte(file), Choice{})
	if err != nil || len(series) != 1 || series[0].Name != "scale small" || series[0].Device != "Example" ||
		!reflect.DeepEqual(series[0].Processes, [][]float64{{1, 2}, {3}}) {
		t.Errorf("%+v, %v", series, err)
	}
	for _, bad := range []string{"[0]", "[]", "null", "[null]"} {
		if _, err := parse("bench.json", []byte(strings.Replace(file, "[3]", bad, 1)), Choice{}); err == nil {
			t.Errorf("%s for a process", bad)
		}
	}
}
