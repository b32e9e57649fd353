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
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
		series, err := readOwn(path)
		if err != nil {
			return nil, err
		}
		return choice.among(series)
	}
	for _, format := range formats {
		if series, known, err := format(object); known || err != nil {
			if err != nil {
				return nil, err
			}
			return choice.among(series)
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
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			if name := notNumber(content, int(syntax.Offset)); name != "" {
				return nil, fmt.Errorf("not JSON: it holds %s (byte %d), which is not a time: a measurement that failed is left out or repeated, not written", name, syntax.Offset-1)
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
	switch v := value.(type) {
	case map[string]any:
		for _, inner := range v {
			deep = max(deep, depth(inner))
		}
	case []any:
		for _, inner := range v {
			deep = max(deep, depth(inner))
		}
	default:
		return 0
	}
	return deep + 1
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
func (c Choice) among(series []Series) ([]Series, error) {
	if c.Key != "" {
		named := slices.DeleteFunc(slices.Clone(series), func(s Series) bool { return !matchesKey(s.path, c.Key) })
		if len(named) == 0 {
			return nil, fmt.Errorf("no list of times under %q; there are %s", c.Key, strings.Join(paths(series), ", "))
		}
		series = named
	}
	return c.selected(series)
}

func paths(series []Series) []string {
	var names []string
	for _, s := range series {
		names = append(names, s.path)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
