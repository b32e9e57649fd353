package results

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		content, key string
		want, err    string
	}{
		"a bare list":        {content: "[1.5, 2]", want: "[[1.5 2]]"},
		"one list":           {content: `{"kernel": "x", "rounds": [[1, 2], [3]]}`, want: "[[1 2] [3]]"},
		"a named list":       {content: `{"a": {"samples": [1, 2]}, "b": [3]}`, key: "a.samples", want: "[[1 2]]"},
		"a list in a list":   {content: `{"runs": [{"ms": [1, 2]}, {"ms": [3, 4]}]}`, key: "runs.1.ms", want: "[[3 4]]"},
		"one column":         {content: "ms\n1\n2\n", want: "[[1 2]]"},
		"no header":          {content: "1\n2\n", want: "[[1 2]]"},
		"a named column":     {content: "n,ms\n1,2.5\n2,2.6\n", key: "ms", want: "[[2.5 2.6]]"},
		"two lists":          {content: `{"a": [1], "b": [2]}`, err: "--key: a, b"},
		"no such list":       {content: `{"a": [1], "b": [2]}`, key: "c", err: `no list of times under "c"; there are a, b`},
		"no list":            {content: `{"a": 1}`, err: "no list of times"},
		"two columns":        {content: "n,ms\n1,2\n", err: "--key: n, ms"},
		"no such column":     {content: "n,ms\n1,2\n", key: "s", err: `no column "s"`},
		"zero":               {content: "[1, 0]", err: `"0" is not a time`},
		"NaN in a column":    {content: "ms\n1\nNaN\n", err: "line 3"},
		"NaN in JSON":        {content: "[1, NaN]", err: "not JSON"},
		"nothing":            {content: " \n", err: "empty"},
		"a column of nobody": {content: "ms\n", err: "no samples"},
	} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte(c.content), 0o644); err != nil {
			t.Fatal(err)
		}
		series, err := Read(path, c.key)
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: got %v, want %s", name, err, c.err)
			}
		case err != nil || len(series) != 1 || fmt.Sprint(series[0].Processes) != c.want:
			t.Errorf("%s: got %v, %v, want %s", name, series, err, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"a": [[1, 2], [3]]}`), "a")
	f.Add([]byte("n,ms\n1,2\n"), "ms")
	f.Fuzz(func(t *testing.T, content []byte, key string) {
		series, err := parse("file", content, key)
		if err != nil {
			return
		}
		for _, s := range series {
			for _, process := range s.Processes {
				for _, sample := range process {
					if !(sample > 0) {
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
	series, err := parse("bench.json", []byte(file), "")
	want := []Series{{Name: "scale small", Device: "Example", Processes: [][]float64{{1, 2}, {3}}}}
	if err != nil || !reflect.DeepEqual(series, want) {
		t.Errorf("%+v, %v", series, err)
	}
	if _, err := parse("bench.json", []byte(strings.Replace(file, "[3]", "[0]", 1)), ""); err == nil {
		t.Error("a time of zero")
	}
}
