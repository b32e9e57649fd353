package results

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for name, c := range map[string]struct {
		content, key, unit string
		want, err          string
	}{
		// Any JSON, by its key.
		"a list":            {content: `{"a": {"samples": [1, 2]}, "b": [3]}`, key: "a.samples", want: "[[1 2]]"},
		"processes":         {content: `{"kernel": "x", "rounds": [[1, 2], [3]]}`, key: "rounds", want: "[[1 2] [3]]"},
		"a bare list":       {content: "[1.5, 2]", key: "@this", want: "[[1.5 2]]"},
		"one of several":    {content: `{"runs": [{"ms": [1, 2]}, {"ms": [3, 4]}]}`, key: "runs.1.ms", want: "[[3 4]]"},
		"all of several":    {content: `{"runs": [{"ms": [1, 2]}, {"ms": [3, 4]}]}`, key: "runs.#.ms", want: "[[1 2] [3 4]]"},
		"a number each":     {content: `[{"ms": 1}, {"ms": 2}]`, key: "#.ms", want: "[[1 2]]"},
		"by a condition":    {content: several, key: "results.#(config.seq==1024).raw", want: "[[3 4]]"},
		"by two conditions": {content: several, key: "results.#(config.seq==512)#|#(config.batch==32).raw", want: "[[1 2]]"},
		"a mark of order":   {content: "\ufeff[1, 2]", key: "@this", want: "[[1 2]]"},
		"pyperf": {
			content: `{"benchmarks": [{"runs": [{"warmups": [[1, 0.5]]}, {"values": [0.5, 0.25]}, {"values": [1]}]}]}`,
			key:     "benchmarks.0.runs.#.values",
			unit:    "s",
			want:    "[[500 250] [1000]]",
		},
		"no key":         {content: `{"samples": [1, 2]}`, err: "name its list of times with --key, such as --key results."},
		"no key, a list": {content: `[1, 2]`, err: "with --key"},
		"no such key":    {content: `{"a": [1], "b": [2]}`, key: "c", err: `nothing at --key "c"`},
		"no result":      {content: several, key: "results.#(config.seq==7).raw", err: "nothing at --key"},
		"a number":       {content: `{"a": 1.5}`, key: "a", err: `--key "a": 1.5 is not a list of times`},
		"an object":      {content: `{"a": {"b": [1]}}`, key: "a", err: "is not a list of times"},
		"objects":        {content: `{"a": [{"b": 1}]}`, key: "a", err: `element 0: {"b": 1} is not a time`},

		// What is there must be a time: a process less is another result.
		"zero": {content: "[1, 0]", key: "@this", err: "0 is not a time"},
		"negative": {
			content: `{"samples": [1, -2]}`,
			key:     "samples",
			err:     `--key "samples": element 1: -2 is not`,
		},
		"too large":         {content: "[1e999]", key: "@this", err: "1e999 is not a time"},
		"NaN":               {content: "[1, NaN]", key: "@this", err: "not JSON: invalid character 'N'"},
		"infinity":          {content: `{"samples": [1, -Infinity]}`, key: "samples", err: "not JSON"},
		"NaN as text":       {content: `{"samples": [1, "NaN"]}`, key: "samples", err: `element 1: "NaN" is not a time`},
		"numbers in quotes": {content: `{"times": ["1.5", "1.6"]}`, key: "times", err: `"1.5" is not a time`},
		"null among times": {
			content: `[[1, 2, null], [3, 4]]`,
			key:     "@this",
			err:     "list 0: element 2: null is not a time",
		},
		"null for a process":  {content: `{"a": [[1, 2], null]}`, key: "a", err: "list 1: null is not a list of times"},
		"null":                {content: `{"a": null}`, key: "a", err: "null is not a list of times"},
		"an empty process":    {content: `[[1, 2], []]`, key: "@this", err: "list 1: the list is empty"},
		"an empty list":       {content: `{"times": []}`, key: "times", err: "the list is empty"},
		"a list and a number": {content: `[[1, 2], 3]`, key: "@this", err: "list 1: 3 is not a list of times"},
		"a number and a list": {content: `[3, [1, 2]]`, key: "@this", err: "element 1: [1, 2] is not a time"},
		"true":                {content: `{"times": [1, true]}`, key: "times", err: "element 1: true is not a time"},
		"cut off":             {content: `{"samples": [1, 2`, key: "samples", err: "unexpected end"},
		"two documents":       {content: "[1, 2]\n[3, 4]", key: "@this", err: "not JSON"},
		"nothing":             {content: " \n", err: "empty"},

		// Units.
		"seconds by name":      {content: `{"times_s": [0.001, 0.002]}`, key: "times_s", want: "[[1 2]]"},
		"microseconds":         {content: `{"latencies_us": [1000, 2000]}`, key: "latencies_us", want: "[[1 2]]"},
		"µs":                   {content: "time (µs)\n1000\n2000\n", want: "[[1 2]]"},
		"a word that ends so":  {content: `{"times": [1]}`, key: "times", want: "[[1]]"},
		"by the caller":        {content: `{"times": [1000]}`, key: "times", unit: "us", want: "[[1]]"},
		"the caller knows":     {content: `{"times_ms": [1]}`, key: "times_ms", unit: "s", want: "[[1000]]"},
		"no unit of time":      {content: "[1]", key: "@this", unit: "cycles", err: `unknown unit "cycles" (want ns, us`},
		"a column of seconds":  {content: "time_s\n0.5\n", want: "[[500]]"},
		"too small to convert": {content: `{"ns": [5e-324]}`, key: "ns", err: "is not a time"},

		// Columns.
		"one column":         {content: "ms\n1\n2\n", want: "[[1 2]]"},
		"no header":          {content: "1\n2\n", want: "[[1 2]]"},
		"a named column":     {content: "n,ms\n1,2.5\n2,2.6\n", key: "ms", want: "[[2.5 2.6]]"},
		"two columns":        {content: "n,ms\n1,2\n", err: "--key: n, ms"},
		"no such column":     {content: "n,ms\n1,2\n", key: "s", err: `no column "s"`},
		"NaN in a column":    {content: "ms\n1\nNaN\n", err: "line 3"},
		"a column of nobody": {content: "ms\n", err: "no samples"},

		// Known formats.
		"hyperfine": {
			content: `{"results": [{"command": "x", "mean": 0.5, "times": [0.5, 0.25], "exit_codes": [0, 0]}]}`,
			want:    "[[500] [250]]",
		},
		"hyperfine, no times": {content: `{"results": [{"command": "x", "mean": 0.5}]}`, err: "results.0.times is missing"},
		"hyperfine, one":      {content: commands, key: "y", want: "[[2000]]"},
		"hyperfine, no such":  {content: commands, key: "z", err: `no result "z"; there are x, y`},
		"hyperfine, a unit":   {content: commands, unit: "ms", err: "the format has s as its unit: leave out --unit"},
		"pytest-benchmark": {
			content: `{"machine_info": {}, "benchmarks": [{"name": "t", "stats": {"min": 1, "data": [0.5, 0.25]}}]}`,
			want:    "[[500 250]]",
		},
		"pytest, no data": {
			content: `{"machine_info": {}, "benchmarks": [{"name": "t", "stats": {"min": 1}}]}`,
			err:     "--benchmark-save-data",
		},
		"Google Benchmark": {
			content: `{"context": {}, "benchmarks": [
				{"name": "b", "run_name": "b", "run_type": "iteration", "real_time": 5e5, "time_unit": "ns"},
				{"name": "b", "run_name": "b", "run_type": "iteration", "real_time": 25e4, "time_unit": "ns"},
				{"name": "b_mean", "run_name": "b", "run_type": "aggregate", "real_time": 1, "time_unit": "ns"}]}`,
			want: "[[0.5 0.25]]",
		},
		"Google Benchmark, aggregates": {
			content: `{"context": {}, "benchmarks": [{"name": "b", "run_type": "aggregate", "real_time": 1}]}`,
			err:     "only aggregates",
		},
		"Google Benchmark, no unit": {
			content: `{"context": {}, "benchmarks": [{"name": "b", "real_time": 1, "time_unit": "cycles"}]}`,
			err:     `benchmarks.0.time_unit is "cycles"`,
		},
	} {
		series, err := Parse("file", []byte(c.content), Choice{Key: c.key, Unit: c.unit})
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

const several = `{"results": [
	{"config": {"seq": 512, "batch": 16}, "median_ms": 1.5, "raw": [5, 6]},
	{"config": {"seq": 512, "batch": 32}, "median_ms": 1.5, "raw": [1, 2]},
	{"config": {"seq": 1024, "batch": 32}, "median_ms": 3.5, "raw": [3, 4]}]}`

const commands = `{"results": [{"command": "x", "times": [1]}, {"command": "y", "times": [2]}]}`

// FuzzParse holds the reader to its promise: times that are positive and finite, or an
// error in words; never a process without samples.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"a": [[1, 2], [3]]}`), "a", "")
	f.Add([]byte("n,ms\n1,2\n"), "ms", "us")
	f.Add([]byte(several), "results.#(config.seq==512)#|#(config.batch==32).raw", "")
	f.Add([]byte(`[[1, 2, null], [3]]`), "@this", "")
	f.Add([]byte(`{"times_s": [1e308]}`), "times_s", "")
	f.Add([]byte(commands), "x", "")
	f.Add([]byte(`{"context": {}, "benchmarks": [{"name": "b", "real_time": 5, "time_unit": "ns"}]}`), "", "")
	f.Add([]byte(`{"machine_info": {}, "benchmarks": [{"stats": {"data": [1]}}]}`), "", "")
	f.Add([]byte(`{"kernel": "k", "workload": "w", "rounds": [[1], []]}`), "", "")
	f.Fuzz(func(t *testing.T, content []byte, key, unit string) {
		series, err := Parse("file", content, Choice{Key: key, Unit: unit})
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
	series, err := Parse("bench.json", []byte(file), Choice{})
	if err != nil || len(series) != 1 || series[0].Name != "scale small" || series[0].Device != "Example" ||
		!reflect.DeepEqual(series[0].Processes, [][]float64{{1, 2}, {3}}) {
		t.Errorf("%+v, %v", series, err)
	}
	for _, bad := range []string{"[0]", "[]", "null", "[null]"} {
		if _, err := Parse("bench.json", []byte(strings.Replace(file, "[3]", bad, 1)), Choice{}); err == nil {
			t.Errorf("%s for a process", bad)
		}
	}
}
