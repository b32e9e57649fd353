package results

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// rows collects samples by name, in the order of their first.
type rows struct {
	all []Series
	at  map[string]int
}

// add adds samples of one process to a row.
func (r *rows) add(name, unit string, samples ...float64) error {
	if len(samples) == 0 {
		return fmt.Errorf("%s has no samples", name)
	}
	series, err := Choice{Unit: unit}.series("", [][]float64{samples}) // a row's name says nothing of its unit
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	series[0].Name = name
	at, known := r.at[name]
	if !known {
		if r.at == nil {
			r.at = map[string]int{}
		}
		r.at[name] = len(r.all)
		r.all = append(r.all, series[0])
		return nil
	}
	r.all[at].Processes[0] = append(r.all[at].Processes[0], series[0].Processes[0]...)
	return nil
}

// goLine is a line of go test -bench.
var goLine = regexp.MustCompile(`(?m)^(Benchmark\S*)\s+\d+\s+(\S+) ns/op`)

// readGo reads what go test -bench prints: each line is a sample. Benchmarks of several packages are
// named with theirs.
func readGo(content []byte) ([]Series, error) {
	var found rows
	packages := bytes.Count(content, []byte("\npkg: ")) + 1
	prefix := ""
	for line := range strings.Lines(string(content)) {
		if name, is := strings.CutPrefix(line, "pkg: "); is && packages > 2 {
			prefix = strings.TrimSpace(name) + "."
		}
		match := goLine.FindStringSubmatch(line)
		if match == nil {
			continue
		}
		sample, err := asTime(match[2])
		if err == nil {
			err = found.add(prefix+match[1], "ns", sample)
		}
		if err != nil {
			return nil, err
		}
	}
	return found.all, nil
}

// criterionLine is the beginning of a message of cargo-criterion.
var criterionLine = regexp.MustCompile(`^\{\s*"reason"\s*:`)

// readCriterion reads the messages of cargo criterion --message-format=json. Each sample is the time of
// several iterations.
func readCriterion(content []byte) ([]Series, error) {
	var found rows
	for line := range bytes.Lines(content) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		if err := json.Unmarshal(line, new(json.RawMessage)); err != nil {
			return nil, fmt.Errorf("not a message of Criterion: %w", err)
		}
		message := gjson.ParseBytes(line)
		if message.Get("reason").String() != "benchmark-complete" {
			continue
		}
		name := message.Get("id").String()
		samples, err := perIteration(message.Get("iteration_count"), message.Get("measured_values"))
		if err == nil {
			err = found.add(name, cmp.Or(message.Get("unit").String(), "ns"), samples...)
		}
		if err != nil {
			return nil, fmt.Errorf("criterion %s: %w", name, err)
		}
	}
	return found.all, nil
}

// perIteration divides the times of samples by their iterations.
func perIteration(iterations, times gjson.Result) ([]float64, error) {
	counts, err := asSamples(iterations)
	if err != nil {
		return nil, fmt.Errorf("iterations: %w", err)
	}
	samples, err := asSamples(times)
	if err != nil {
		return nil, fmt.Errorf("times: %w", err)
	}
	if len(counts) != len(samples) {
		return nil, fmt.Errorf("%d times of %d samples", len(samples), len(counts))
	}
	for i := range samples {
		samples[i] /= counts[i]
	}
	return samples, nil
}

// readCriterionFolder reads target/criterion: the last run of every benchmark.
func readCriterionFolder(folder string) ([]Series, error) {
	var found rows
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != "sample.json" || filepath.Base(filepath.Dir(path)) != "new" {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		about, err := os.ReadFile(filepath.Join(filepath.Dir(path), "benchmark.json"))
		if err != nil {
			return err
		}
		if !gjson.ValidBytes(content) || !gjson.ValidBytes(about) {
			return fmt.Errorf("%s is not JSON", path)
		}
		sample := gjson.ParseBytes(content)
		samples, err := perIteration(sample.Get("iters"), sample.Get("times"))
		if err == nil {
			err = found.add(gjson.GetBytes(about, "full_id").String(), "ns", samples...)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return nil
	})
	if err == nil && len(found.all) == 0 {
		err = errors.New("a folder without results of Criterion, which are BENCHMARK/new/sample.json")
	}
	return found.all, err
}

// nvbenchTimes are the summaries of nvbench that hold a time, the best first. All are seconds.
var nvbenchTimes = []string{"nv/cold/time/gpu/mean", "nv/batch/time/gpu/mean", "nv/cpu_only/time/cpu/mean"}

// readNvbench reads what nvbench --json writes: a mean for every state, which is a sample of its process.
func readNvbench(_ string, document gjson.Result) ([]Series, error) {
	benchmarks := document.Get("benchmarks").Array()
	if len(benchmarks) == 0 || !benchmarks[0].Get("states").IsArray() {
		return nil, nil
	}
	var found rows
	for _, benchmark := range benchmarks {
		for _, state := range benchmark.Get("states").Array() {
			if state.Get("is_skipped").Bool() {
				continue
			}
			name := strings.TrimSpace(benchmark.Get("name").String() + " " + state.Get("name").String())
			var value gjson.Result
			for _, tag := range slices.Backward(nvbenchTimes) {
				for _, summary := range state.Get("summaries").Array() {
					if summary.Get("tag").String() == tag {
						value = summary.Get(`data.#(name=="value").value`)
					}
				}
			}
			sample, err := asTime(value.String())
			if err == nil {
				err = found.add(name, "s", sample)
			}
			if err != nil {
				return nil, fmt.Errorf("nvbench's %s: %w", name, err)
			}
		}
	}
	if len(found.all) == 0 {
		return nil, errors.New("nvbench has skipped every state")
	}
	return found.all, nil
}

// readCatch reads Catch2's XML: the mean of every benchmark, in nanoseconds, which is a sample of its process.
func readCatch(content []byte) ([]Series, error) {
	var found rows
	decoder := xml.NewDecoder(bytes.NewReader(content))
	var path []string // names of the elements that are open; empty for those without
	row := ""
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("not XML: %w", err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			name := attribute(t, "name")
			switch t.Name.Local {
			case "TestCase", "Section":
				path = append(path, name)
			case "BenchmarkResults":
				row = strings.Join(append(slices.Clone(path), name), " / ")
			case "mean":
				if row == "" {
					continue
				}
				sample, err := asTime(attribute(t, "value"))
				if err == nil {
					err = found.add(row, "ns", sample)
				}
				if err != nil {
					return nil, fmt.Errorf("Catch2's %s: %w", row, err)
				}
			}
		case xml.EndElement:
			switch t.Name.Local {
			case "TestCase", "Section":
				path = path[:len(path)-1]
			case "BenchmarkResults":
				row = ""
			}
		}
	}
	if len(found.all) == 0 {
		return nil, errors.New("no BenchmarkResults in it: run Catch2 with --reporter xml")
	}
	return found.all, nil
}

func attribute(of xml.StartElement, name string) string {
	for _, a := range of.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// rowNames are what a column with the names of rows is called.
var rowNames = []string{"name", "benchmark", "case", "test", "kernel", "row"}

// namedColumns are those of a CSV file whose rows have names.
type namedColumns struct {
	name, time, unit int // unit is -1 where the file's is one
	fixed            string
}

// namedRows finds the columns of a file whose rows have names; nil where it has no such column. The
// times are in the column that the caller names, or in the only one whose name is a time's.
func (c Choice) namedRows(header []string) (*namedColumns, error) {
	lower := make([]string, len(header))
	for i := range header {
		lower[i] = strings.ToLower(strings.TrimSpace(header[i]))
	}
	found := namedColumns{name: -1, time: -1, unit: slices.Index(lower, "time_unit")}
	for _, name := range rowNames {
		if found.name = slices.Index(lower, name); found.name >= 0 {
			break
		}
	}
	if found.name < 0 || len(header) < 2 {
		return nil, nil
	}
	var times []string
	for i, name := range lower {
		wanted := strings.TrimSpace(header[i]) == c.Key
		if c.Key == "" {
			wanted = i != found.name && i != found.unit && (name == "time" || name == "real_time" || unitAtEnd.MatchString(name))
		}
		if wanted {
			times = append(times, header[i])
			found.time = i
		}
	}
	if len(times) != 1 {
		return nil, fmt.Errorf("which column has the times of the rows? Name one with --key: %s", strings.Join(header, ", "))
	}
	found.fixed = c.Unit
	if match := unitAtEnd.FindStringSubmatch(lower[found.time]); found.fixed == "" && match != nil {
		found.fixed = match[1]
	}
	return &found, nil
}

// read reads the rows: one that comes again has another sample of the same process.
func (c *namedColumns) read(reader *csv.Reader) ([]Series, error) {
	var found rows
	for {
		row, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("not CSV: %w", err)
		}
		unit := c.fixed
		if c.unit >= 0 {
			unit = row[c.unit]
		}
		sample, err := asTime(row[c.time])
		if err == nil {
			err = found.add(row[c.name], unit, sample)
		}
		if err != nil {
			line, _ := reader.FieldPos(c.time)
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
	}
	if len(found.all) == 0 {
		return nil, errors.New("no samples in it")
	}
	return found.all, nil
}
