package results

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The forms of programs with many rows, as their documentation has them, shortened. Every row is read with its name.
func TestRows(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ content, key, unit, want, err string }{
		"go test -bench": {
			content: "goos: linux\npkg: x/y\nBenchmarkA-2   \t 100\t  1500000 ns/op\t 8 B/op\nBenchmarkA-2 100 2.5e6 ns/op\n" +
				"BenchmarkB/n=1-2 1 3000000 ns/op\nPASS\n",
			want: "BenchmarkA-2 [1.5 2.5]; BenchmarkB/n=1-2 [3]",
		},
		"go test -bench of packages": {
			content: "\npkg: x/y\nBenchmarkA 1 1000000 ns/op\npkg: x/z\nBenchmarkA 1 2000000 ns/op\n",
			want:    "x/y.BenchmarkA [1]; x/z.BenchmarkA [2]",
		},
		"go test -bench, zero": {content: "BenchmarkA 1 0 ns/op\n", err: "0 is not a time"},
		"Criterion's messages": {
			content: `{"reason":"benchmark-complete","id":"g/f","iteration_count":[1,2],"measured_values":[2000000,5000000],"unit":"ns"}
{"reason":"group-complete","group_name":"g"}
{"reason":"benchmark-complete","id":"g/h","iteration_count":[4],"measured_values":[4000],"unit":"ns"}
`,
			want: "g/f [2 2.5]; g/h [0.001]",
		},
		"Criterion, uneven": {
			content: `{"reason":"benchmark-complete","id":"g","iteration_count":[1,2],"measured_values":[2],"unit":"ns"}`,
			err:     "criterion g: 1 times of 2 samples",
		},
		"Criterion, none": {content: `{"reason":"group-complete","group_name":"g"}`, err: "no benchmark in it"},
		"nvbench": {
			content: `{"meta": {}, "devices": [], "benchmarks": [{"name": "copy", "states": [
				{"name": "Device=0 N=2^10", "is_skipped": false, "summaries": [
					{"tag": "nv/cold/time/cpu/mean", "data": [{"name": "value", "type": "float64", "value": "9"}]},
					{"tag": "nv/cold/time/gpu/mean", "data": [{"name": "value", "type": "float64", "value": "0.0025"}]},
					{"tag": "nv/batch/time/gpu/mean", "data": [{"name": "value", "type": "float64", "value": "0.003"}]}]},
				{"name": "Device=0 N=2^40", "is_skipped": true, "summaries": []}]}]}`,
			want: "copy Device=0 N=2^10 [2.5]",
		},
		"Catch2": {
			content: `<?xml version="1.0" encoding="UTF-8"?><Catch2TestRun name="t"><TestCase name="Fibonacci">
				<BenchmarkResults name="fib 20" samples="100"><mean value="20000000" lowerBound="1" upperBound="2"/>
				<standardDeviation value="3"/><outliers/></BenchmarkResults><Section name="large">
				<BenchmarkResults name="fib 25"><mean value="3000000"/></BenchmarkResults></Section>
				</TestCase></Catch2TestRun>`,
			want: "Fibonacci / fib 20 [20]; Fibonacci / large / fib 25 [3]",
		},
		"Catch2, none": {content: "<Catch2TestRun/>", err: "--reporter xml"},
		"XML, cut off": {content: "<Catch2TestRun>", err: "not XML"},
		"CSV with names": {
			content: "name,n,time_us\na,1,1000\nb ms,2,3000\na,1,2000\n",
			want:    "a [1 2]; b ms [3]",
		},
		"CSV, a column by the caller": {content: "case,gpu,cpu\na,1,2\n", key: "cpu", unit: "s", want: "a [2000]"},
		"CSV, two times":              {content: "name,gpu_ms,cpu_ms\na,1,2\n", err: "with --key: name, gpu_ms, cpu_ms"},
		"CSV, no time":                {content: "name,n\na,1\n", err: "which column has the times"},
		"CSV of Google Benchmark": {
			content: "name,iterations,real_time,cpu_time,time_unit\nBM_A,10,500000,1,ns\nBM_B,10,2,1,ms\n",
			want:    "BM_A [0.5]; BM_B [2]",
		},
		"pytest, one name in two files": {
			content: `{"machine_info": {}, "benchmarks": [
				{"name": "t", "fullname": "a.py::t", "stats": {"data": [0.5]}},
				{"name": "t", "fullname": "b.py::t", "stats": {"data": [0.25]}}]}`,
			want: "a.py::t [500]; b.py::t [250]",
		},
	} {
		series, err := Parse("file", []byte(c.content), Choice{Key: c.key, Unit: c.unit})
		got := text(series)
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: got %s, %v, want %s", name, got, err, c.err)
			}
		case err != nil || got != c.want:
			t.Errorf("%s: got %s, %v, want %s", name, got, err, c.want)
		}
	}
}

// text has the rows of one process each.
func text(all []Series) string {
	var rows []string
	for _, s := range all {
		for _, process := range s.Processes {
			rows = append(rows, fmt.Sprintf("%s %v", s.Name, process))
		}
	}
	return strings.Join(rows, "; ")
}

// Criterion's folder has a file for every benchmark, of the last run and of those before.
func TestCriterionFolder(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write := func(name, content string) {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Read(folder, Choice{}); err == nil || !strings.Contains(err.Error(), "without results of Criterion") {
		t.Errorf("an empty folder: %v", err)
	}
	write("g/f/new/benchmark.json", `{"group_id": "g", "full_id": "g/f"}`)
	write("g/f/new/sample.json", `{"sampling_mode": "Linear", "iters": [1, 2], "times": [1000000, 4000000]}`)
	write("g/f/base/sample.json", `{"iters": [1], "times": [7]}`)
	write("report/index.html", "")
	series, err := Read(folder, Choice{})
	if err != nil || text(series) != "g/f [1 2]" {
		t.Errorf("%v, %v", text(series), err)
	}
}

// Files of several runs are as many processes.
func TestReadAll(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	var paths []string
	for i, content := range []string{"name,ms\na,1\nb,2\n", "name,ms\nb,3\na,4\n"} {
		paths = append(paths, filepath.Join(folder, fmt.Sprint(i)))
		if err := os.WriteFile(paths[i], []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	series, err := ReadAll(paths, Choice{})
	if err != nil || text(series) != "a [1]; a [4]; b [2]; b [3]" {
		t.Errorf("%v, %v", text(series), err)
	}
	if _, err := ReadAll(append(paths, "missing"), Choice{}); err == nil {
		t.Error("a missing file was read")
	}
}
