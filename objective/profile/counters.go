package profile

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// Metric is a value in base units.
type Metric struct {
	Value float64 `json:"value"`
	// Unit is a base unit such as second, byte/second or %; empty for a plain number.
	Unit string `json:"unit,omitempty"`
}

// Metrics are the counters of one launch, by the profiler's own names.
type Metrics map[string]Metric

// Get returns the value of a counter, if it is there.
func (m Metrics) Get(name string) (float64, bool) {
	metric, there := m[name]
	return metric.Value, there
}

// Launch is what was printed about one launch: the function's name, empty where the report has none, and the columns
// that hold a number.
type Launch struct {
	Kernel  string
	Metrics Metrics
}

// The columns of Nsight Compute that are no counters.
const (
	idColumn     = "ID"
	kernelColumn = "Kernel Name"
)

// described are the columns before the first counter; what stands there is no measurement.
var described = map[string]bool{
	idColumn: true, kernelColumn: true, "Process ID": true, "Process Name": true, "Host Name": true, "Context": true,
	"Stream":     true,
	"Block Size": true, "Grid Size": true, "Device": true, "CC": true,
	"thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg": true,
	"Id:Domain:Start/Stop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg":   true,
}

// ErrNoLaunch says that a report has nothing in it.
var ErrNoLaunch = errors.New("the report has no launch in it")

// ReadNsight reads what `ncu --page raw --csv` prints, in any order of columns, units and
// language. Lines before the header, of the profiled program or of ncu, are passed over. Values are turned into base
// units by the unit that stands with them; one that is not known is kept as it is.
func ReadNsight(text []byte) ([]Launch, error) {
	start := headerStart(text)
	if start < 0 {
		return nil,
			fmt.Errorf("%w: there is no line of column names (%s and %s among them)", ErrNoLaunch, idColumn, kernelColumn)
	}
	reader := csv.NewReader(bytes.NewReader(text[start:]))
	reader.FieldsPerRecord = -1
	reader.LazyQuotes = true
	reader.Comma = separator(text[start:])
	header, err := reader.Read()
	if err != nil {
		return nil, fmt.Errorf("the column names: %w", err)
	}
	var rows [][]string
	for {
		row, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("line %d of the report: %w", len(rows)+2, err)
		}
		if len(row) < len(header)/2 {
			continue // a line of ncu's own among the others
		}
		rows = append(rows, row)
	}
	return launches(header, rows)
}

// Longest returns the launch that took longest, the first where no times are known.
func Longest(all []Launch) *Launch {
	longest := &all[0]
	for i := range all {
		if all[i].Metrics[duration].Value > longest.Metrics[duration].Value {
			longest = &all[i]
		}
	}
	return longest
}

// headerStart is where the header begins, -1 for nowhere.
func headerStart(text []byte) int {
	for at := 0; at < len(text); {
		line, _, found := bytes.Cut(text[at:], []byte("\n"))
		if cells := string(line); strings.Contains(cells, idColumn) && strings.Contains(cells, kernelColumn) {
			return at
		}
		if !found {
			break
		}
		at += len(line) + 1
	}
	return -1
}

// separator is the character between the cells of the header.
func separator(text []byte) rune {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	best := ','
	for _, candidate := range []rune{';', '\t'} {
		if bytes.Count(line, []byte(string(candidate))) > bytes.Count(line, []byte(string(best))) {
			best = candidate
		}
	}
	return best
}

// scaled multiplies, without the rounding of a factor such as 1e-6.
func scaled(value, factor float64) float64 {
	if factor < 1 {
		return value / math.Round(1/factor)
	}
	return value * factor
}

func launches(header []string, rows [][]string) ([]Launch, error) {
	names := make([]string, len(header))
	id := -1
	for i, name := range header {
		names[i] = strings.TrimSpace(strings.TrimPrefix(name, "\ufeff"))
		if names[i] == idColumn {
			id = i
		}
	}
	cell := func(row []string, i int) string {
		if i < 0 || i >= len(row) {
			return ""
		}
		return strings.TrimSpace(row[i])
	}
	var units []string
	if len(rows) > 0 && cell(rows[0], id) == "" { // the row of units has no number
		units, rows = rows[0], rows[1:]
	}
	var numbers []string
	for _, row := range rows {
		for i := range names {
			if !described[names[i]] {
				numbers = append(numbers, cell(row, i))
			}
		}
	}
	written, err := findNotation(numbers)
	if err != nil {
		return nil, err
	}
	var all []Launch
	for _, row := range rows {
		launch := Launch{Metrics: Metrics{}}
		for i, name := range names {
			switch {
			case name == kernelColumn:
				launch.Kernel = cell(row, i)
			case name == "" || described[name]:
			default:
				if value, ok := written.parse(cell(row, i)); ok {
					base, factor := baseUnit(cell(units, i))
					if value = scaled(value, factor); !math.IsInf(value, 0) {
						launch.Metrics[name] = Metric{value, base}
					}
				}
			}
		}
		if len(launch.Metrics) > 0 {
			all = append(all, launch)
		}
	}
	if len(all) == 0 {
		return nil, ErrNoLaunch
	}
	return all, nil
}
