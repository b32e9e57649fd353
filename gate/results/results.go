// Package results reads raw samples from files that already exist: pawl's own, or
// any JSON or CSV with a list of times in milliseconds.
//
// It guesses nothing: where a file holds more than one list, the caller must name
// one, and the error says which there are. A value that is not a positive number
// is an error and never skipped.
package results

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"pawl/gate/baseline"
)

// Series are samples by process, with the name under which they were found.
type Series struct {
	Name string
	// Device is empty where the file does not say.
	Device    string
	Processes [][]float64
}

// Read returns what a file holds. A key names one list: the path of a JSON value
// such as runs.samples, or the column of a CSV file.
func Read(path, key string) ([]Series, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading results: %w", err)
	}
	series, err := parse(path, content, key)
	if err != nil {
		return nil, fmt.Errorf("results %s: %w", path, err)
	}
	return series, nil
}

func parse(path string, content []byte, key string) ([]Series, error) {
	trimmed := bytes.TrimSpace(content)
	if len(trimmed) == 0 {
		return nil, errors.New("the file is empty")
	}
	if trimmed[0] != '{' && trimmed[0] != '[' {
		return readCSV(content, key)
	}
	var head struct {
		Format string `json:"format"`
		bench
	}
	if json.Unmarshal(content, &head) != nil || key != "" {
		return readJSON(content, key)
	}
	switch {
	case head.Format == "pawl baseline":
		return readOwn(path)
	case head.Kernel != "" && len(head.Rounds) > 0:
		return head.series()
	}
	return readJSON(content, key)
}

// bench is what pawl bench writes, as far as a comparison needs it.
type bench struct {
	Kernel      string      `json:"kernel"`
	Workload    string      `json:"workload"`
	Rounds      [][]float64 `json:"rounds"`
	Environment struct {
		Device string `json:"device"`
	} `json:"environment"`
}

func (b bench) series() ([]Series, error) {
	for i, samples := range b.Rounds {
		if len(samples) == 0 {
			return nil, fmt.Errorf("rounds.%d is empty", i)
		}
		for _, sample := range samples {
			if !(sample > 0) {
				return nil, fmt.Errorf("rounds.%d: %v is not a time in milliseconds", i, sample)
			}
		}
	}
	return []Series{{Name: b.Kernel + " " + b.Workload, Device: b.Environment.Device, Processes: b.Rounds}}, nil
}

// readOwn reads a baseline or current results, whose digest must hold.
func readOwn(path string) ([]Series, error) {
	f, err := baseline.Read(path)
	if err != nil {
		return nil, err
	}
	var series []Series
	for _, e := range f.Entries {
		series = append(series, Series{
			Name: e.Kernel + " " + e.Workload + " " + e.Type, Device: e.Device, Processes: e.Samples,
		})
	}
	if len(series) == 0 {
		return nil, errors.New("no entries")
	}
	return series, nil
}

func readJSON(content []byte, key string) ([]Series, error) {
	var document any
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.UseNumber()
	if err := decoder.Decode(&document); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	lists := map[string][][]float64{}
	var bad error
	collect(document, "", lists, &bad)
	if key == "" && len(lists) == 1 {
		for name, processes := range lists {
			return []Series{{Name: name, Processes: processes}}, bad
		}
	}
	if processes, ok := lists[key]; ok && key != "" {
		return []Series{{Name: key, Processes: processes}}, nil
	}
	if bad != nil {
		return nil, bad
	}
	return nil, chooseError(key, lists)
}

func chooseError(key string, lists map[string][][]float64) error {
	var names []string
	for name := range lists {
		names = append(names, name)
	}
	slices.Sort(names)
	switch {
	case len(names) == 0:
		return errors.New("no list of times in it")
	case key == "":
		return fmt.Errorf("more than one list of times; name one with --key: %s", strings.Join(names, ", "))
	}
	return fmt.Errorf("no list of times under %q; there are %s", key, strings.Join(names, ", "))
}

// collect finds every list of numbers, and every list of such lists, below a
// value.
func collect(value any, path string, lists map[string][][]float64, bad *error) {
	switch v := value.(type) {
	case map[string]any:
		for name, inner := range v {
			collect(inner, strings.TrimPrefix(path+"."+name, "."), lists, bad)
		}
	case []any:
		if processes, err := asProcesses(v); err != nil {
			*bad = fmt.Errorf("%s: %w", path, err)
		} else if processes != nil {
			lists[path] = processes
		} else {
			for i, inner := range v {
				collect(inner, strings.TrimPrefix(fmt.Sprintf("%s.%d", path, i), "."), lists, bad)
			}
		}
	}
}

// asProcesses returns a list of numbers as one process, a list of lists of numbers
// as many, and nil for anything else.
func asProcesses(list []any) ([][]float64, error) {
	if samples, err := asSamples(list); samples != nil || err != nil {
		return [][]float64{samples}, err
	}
	var processes [][]float64
	for _, inner := range list {
		nested, ok := inner.([]any)
		if !ok {
			return nil, nil
		}
		samples, err := asSamples(nested)
		if err != nil {
			return nil, err
		}
		if samples == nil {
			return nil, nil
		}
		processes = append(processes, samples)
	}
	return processes, nil
}

func asSamples(list []any) ([]float64, error) {
	var samples []float64
	for _, value := range list {
		number, ok := value.(json.Number)
		if !ok {
			return nil, nil
		}
		sample, err := asTime(number.String())
		if err != nil {
			return nil, err
		}
		samples = append(samples, sample)
	}
	return samples, nil
}

func asTime(text string) (float64, error) {
	sample, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(sample) || math.IsInf(sample, 0) || sample <= 0 {
		return 0, fmt.Errorf("%q is not a time in milliseconds", text)
	}
	return sample, nil
}

// readCSV reads a column; the first row names the columns. A file of one column
// without a name is one too.
func readCSV(content []byte, key string) ([]Series, error) {
	reader := csv.NewReader(bytes.NewReader(content))
	reader.Comment = '#'
	reader.TrimLeadingSpace = true
	header, err := reader.Read()
	if err != nil {
		return nil, fmt.Errorf("neither JSON nor CSV: %w", err)
	}
	column, samples, err := chooseColumn(header, key)
	if err != nil {
		return nil, err
	}
	for {
		row, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("not CSV: %w", err)
		}
		sample, err := asTime(row[column])
		if err != nil {
			line, _ := reader.FieldPos(column)
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		samples = append(samples, sample)
	}
	if len(samples) == 0 {
		return nil, errors.New("no samples in it")
	}
	return []Series{{Name: header[column], Processes: [][]float64{samples}}}, nil
}

// chooseColumn returns the column to read and, where the file has no header, the
// first sample.
func chooseColumn(header []string, key string) (int, []float64, error) {
	if key != "" {
		if column := slices.Index(header, key); column >= 0 {
			return column, nil, nil
		}
		return 0, nil, fmt.Errorf("no column %q; there are %s", key, strings.Join(header, ", "))
	}
	if len(header) > 1 {
		return 0, nil, fmt.Errorf("more than one column; name one with --key: %s", strings.Join(header, ", "))
	}
	if first, err := asTime(header[0]); err == nil {
		return 0, []float64{first}, nil
	}
	return 0, nil, nil
}
