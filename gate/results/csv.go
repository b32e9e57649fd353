package results

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

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
		if slices.ContainsFunc(choice.Select, func(c Condition) bool { return !c.holds(strings.TrimSpace(row[slices.Index(header, c.Name)])) }) {
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
		return 0, nil, fmt.Errorf("column %q: this is not a list of raw samples", header[column])
	}
	return column, nil, nil
}
