// Package results reads the times that other programs have written: pawl's own files, those of
// hyperfine, pytest-benchmark, Google Benchmark, Criterion, nvbench and Catch2, what go test
// -bench prints, CSV, and the list of any other JSON file that the caller names. The content
// says which it is, never the file's name.
//
// It guesses nothing:
//
//   - a list of a file whose format is not known is read only if the caller names it;
//   - a value that is not a positive number is an error and never skipped;
//   - the unit is what the format, the caller or the end of a name says; where nothing
//     says, milliseconds, and [Series.Unit] is empty.
//
// Its steps: Parse finds the format, formats.go and program_formats.go the rows in it,
// sample_units.go makes times of what is written there. ReadAll joins files of several runs.
package results

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
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
}

// Choice says what is read of a file. Its zero value is everything in a file of a known
// format.
type Choice struct {
	// Key is the gjson path of a list in a JSON file, the column of a CSV file, or the
	// name of one result in a file of a known format.
	Key string
	// Unit is the unit of the times where the format does not fix it: ns, us, ms or s.
	Unit string
}

// Read returns what a file holds, or Criterion's folder.
func Read(path string, choice Choice) ([]Series, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		series, err := readCriterionFolder(path)
		if err == nil {
			series, err = choice.among(series)
		}
		if err != nil {
			return nil, fmt.Errorf("results %s: %w", path, err)
		}
		return series, nil
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading results: %w", err)
	}
	series, err := Parse(path, content, choice)
	if err != nil {
		return nil, fmt.Errorf("results %s: %w", path, err)
	}
	return series, nil
}

// ReadAll returns what the files of several runs hold together: each is processes of its own.
func ReadAll(paths []string, choice Choice) (all []Series, err error) {
	for _, path := range paths {
		series, err := Read(path, choice)
		if err != nil {
			return nil, err
		}
		for _, s := range series {
			at := slices.IndexFunc(all, func(known Series) bool { return known.Name == s.Name && known.Device == s.Device })
			if at < 0 {
				all = append(all, s)
				continue
			}
			all[at].Processes = append(all[at].Processes, s.Processes...)
		}
	}
	return all, nil
}

// Parse returns what a content holds; the path is the file's that pawl has written itself.
func Parse(path string, content []byte, choice Choice) ([]Series, error) {
	content = bytes.TrimPrefix(content, []byte("\ufeff"))
	trimmed := bytes.TrimSpace(content)
	switch {
	case len(trimmed) == 0:
		return nil, errors.New("the file is empty")
	case trimmed[0] == '<':
		return choice.known(readCatch(trimmed))
	case goLine.Match(content):
		return choice.known(readGo(content))
	case trimmed[0] != '{' && trimmed[0] != '[':
		return readCSV(content, choice)
	case criterionLine.Match(trimmed):
		return choice.known(readCriterion(trimmed))
	}
	if err := json.Unmarshal(content, new(json.RawMessage)); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	return readJSON(path, content, choice)
}

// readCSV reads a column; the first row names the columns. A file of one column
// without a name is one too.
func readCSV(content []byte, choice Choice) ([]Series, error) {
	reader := csv.NewReader(bytes.NewReader(content))
	reader.Comment = '#'
	reader.TrimLeadingSpace = true
	header, err := reader.Read()
	if err != nil {
		return nil, fmt.Errorf("neither JSON nor CSV: %w", err)
	}
	if named, err := choice.namedRows(header); named != nil || err != nil {
		if err != nil {
			return nil, err
		}
		return named.read(reader)
	}
	column, samples, err := chooseColumn(header, choice.Key)
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
	return choice.series(header[column], [][]float64{samples})
}

// chooseColumn returns the column to read and, where the file has no header, the
// first sample.
func chooseColumn(header []string, key string) (int, []float64, error) {
	for i := range header {
		header[i] = strings.TrimSpace(header[i])
	}
	if key != "" {
		column := slices.Index(header, key)
		if column < 0 {
			return 0, nil, fmt.Errorf("no column %q; there are %s", key, strings.Join(header, ", "))
		}
		return column, nil, nil
	}
	if len(header) > 1 {
		return 0, nil, fmt.Errorf("more than one column; name one with --key: %s", strings.Join(header, ", "))
	}
	if first, err := asTime(header[0]); err == nil {
		return 0, []float64{first}, nil
	}
	return 0, nil, nil
}
