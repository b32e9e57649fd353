// Package results reads raw samples from files that already exist: pawl's own, those
// of hyperfine, pyperf, pytest-benchmark and Google Benchmark, or any JSON or CSV
// with a list of times.
//
// It guesses nothing:
//
//   - a list is taken for raw samples only if its name says so, or if the caller
//     names it; an interval, a shape or a percentile never is;
//   - where a file holds several results, the caller chooses, and the error says
//     between which;
//   - a value that is not a positive number is an error and never skipped;
//   - the unit is what names and unit fields say; where nothing says, milliseconds,
//     and [Series.Unit] is empty.
package results

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"pawl/gate/baseline"
)

// Series are samples by process, in milliseconds, with the name under which they
// were found.
type Series struct {
	Name string
	// Device is empty where the file does not say.
	Device string
	// Unit is the unit of the file; empty where it names none, and milliseconds were
	// assumed.
	Unit      string
	Processes [][]float64

	path   string
	config map[string]string // everything beside the list that may choose it
}

// Choice says which of the lists of a file is meant. Its zero value takes what there
// is, if that is clear.
type Choice struct {
	// Key names a list: the path of a JSON value such as runs.0.samples, the same
	// without numbers, or its last name; or the column of a CSV file.
	Key string
	// Select are values that the result must have beside its list.
	Select []Condition
}

// Read returns what a file holds.
func Read(path string, choice Choice) ([]Series, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading results: %w", err)
	}
	series, err := parse(path, content, choice)
	if err != nil {
		return nil, fmt.Errorf("results %s: %w", path, err)
	}
	return series, nil
}

func parse(path string, content []byte, choice Choice) ([]Series, error) {
	content = bytes.TrimPrefix(content, []byte("\ufeff"))
	trimmed := bytes.TrimSpace(content)
	if len(trimmed) == 0 {
		return nil, errors.New("the file is empty")
	}
	if trimmed[0] != '{' && trimmed[0] != '[' {
		return readCSV(content, choice)
	}
	document, err := decode(content)
	if err != nil {
		return nil, err
	}
	object, _ := document.(map[string]any)
	if object["format"] == "pawl baseline" && choice.Key == "" {
		return choice.among(readOwn(path))
	}
	for _, format := range formats {
		if found, err := format(object); len(found) > 0 || err != nil {
			var series []Series
			for _, k := range found {
				s, err := k.series()
				if err != nil {
					return nil, err
				}
				series = append(series, s)
			}
			return choice.among(series, err)
		}
	}
	return readLists(document, choice)
}

// decode reads one JSON document and leaves its numbers as they are written.
func decode(content []byte) (any, error) {
	var document any
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.UseNumber()
	if err := decoder.Decode(&document); err != nil {
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			if name := notNumber(content, int(syntax.Offset)); name != "" {
				return nil,
					fmt.Errorf("not JSON: it holds %s (byte %d), which is not a time: a measurement that failed is left out or "+
						"repeated, not written", name, syntax.Offset-1)
			}
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, errors.New("not JSON: the file is cut off")
		}
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON document in it: put them into one list")
	}
	if depth(document) > deepest {
		return nil, fmt.Errorf("nested deeper than %d", deepest)
	}
	return document, nil
}

// notNumber returns the NaN or infinity on which reading stopped, or nothing. Some of
// them begin like something that JSON knows.
func notNumber(content []byte, offset int) string {
	near := content[min(len(content), max(0, offset-2)):min(len(content), offset+len("Infinity"))]
	for _, name := range []string{"NaN", "Infinity", "nan", "inf"} {
		if bytes.Contains(near, []byte(name)) {
			return name
		}
	}
	return ""
}

// deepest bounds how deep a document may be nested; results are a few levels deep.
const deepest = 32

func depth(value any) int {
	deep := 0
	inner, isList := value.([]any)
	object, isObject := value.(map[string]any)
	for _, v := range slices.AppendSeq(inner, maps.Values(object)) {
		deep = max(deep, depth(v))
	}
	if isList || isObject {
		deep++
	}
	return deep
}

// readOwn reads a baseline or current results, whose digest must hold.
func readOwn(path string) ([]Series, error) {
	f, err := baseline.Read(path)
	if err != nil {
		return nil, err
	}
	var series []Series
	for i, e := range f.Entries {
		series = append(series, Series{
			Name: e.Kernel + " " + e.Workload + " " + e.Type, Device: e.Device, Unit: "ms", Processes: e.Samples,
			path:   fmt.Sprintf("entries.%d.samples", i),
			config: map[string]string{"kernel": e.Kernel, "workload": e.Workload, "type": e.Type, "device": e.Device},
		})
	}
	if len(series) == 0 {
		return nil, errors.New("no entries")
	}
	return series, nil
}

// among returns the series of a known format that are meant.
func (c Choice) among(series []Series, err error) ([]Series, error) {
	if err != nil {
		return nil, err
	}
	if c.Key != "" {
		named := slices.DeleteFunc(slices.Clone(series), func(s Series) bool { return !matchesKey(s.path, c.Key) })
		if len(named) == 0 {
			return nil, fmt.Errorf("no list of times under %q; there are %s", c.Key, strings.Join(paths(series), ", "))
		}
		series = named
	}
	return c.selected(series)
}

// readCSV reads a column; the first row names the columns. A file of one column
// without a name is one too. Conditions choose rows.
func readCSV(content []byte, choice Choice) ([]Series, error) {
	reader := csv.NewReader(bytes.NewReader(content))
	reader.Comment = '#'
	reader.TrimLeadingSpace = true
	header, err := reader.Read()
	if err != nil {
		return nil, fmt.Errorf("neither JSON nor CSV: %w", err)
	}
	column, samples, err := chooseColumn(header, choice.Key)
	if err != nil {
		return nil, err
	}
	for _, condition := range choice.Select {
		if !slices.Contains(header, condition.Name) {
			return nil, fmt.Errorf("no column %q; there are %s", condition.Name, strings.Join(header, ", "))
		}
	}
	for {
		row, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("not CSV: %w", err)
		}
		if slices.ContainsFunc(choice.Select,
			func(c Condition) bool { return !c.holds(strings.TrimSpace(row[slices.Index(header, c.Name)])) }) {
			continue
		}
		sample, err := asTime(row[column])
		if err != nil {
			line, _ := reader.FieldPos(column)
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		samples = append(samples, sample)
	}
	if len(samples) == 0 && len(choice.Select) > 0 {
		return nil, fmt.Errorf("no row has %s", writeConditions(choice.Select))
	}
	if len(samples) == 0 {
		return nil, errors.New("no samples in it")
	}
	unit, err := unitOf(header[column:column+1], nil)
	if err != nil {
		return nil, err
	}
	processes, err := inMilliseconds([][]float64{samples}, unit)
	return []Series{{Name: header[column], Unit: unit, Processes: processes, path: header[column]}}, err
}

// chooseColumn returns the column to read and, where the file has no header, the
// first sample.
func chooseColumn(header []string, key string) (int, []float64, error) {
	for i := range header {
		header[i] = strings.TrimSpace(header[i])
	}
	column := 0
	switch {
	case key != "":
		if column = slices.Index(header, key); column < 0 {
			return 0, nil, fmt.Errorf("no column %q; there are %s", key, strings.Join(header, ", "))
		}
	case len(header) > 1:
		return 0, nil, fmt.Errorf("more than one column; name one with --key: %s", strings.Join(header, ", "))
	}
	if first, err := asTime(header[column]); err == nil && key == "" {
		return column, []float64{first}, nil
	}
	if isNever(header[column]) {
		return 0, nil, fmt.Errorf("column %q: %s", header[column], notSamples)
	}
	return column, nil, nil
}
