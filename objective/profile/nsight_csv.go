package profile

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Metrics are the counters of one launch, by the profiler's own names, in base units: seconds, bytes, per cent.
type Metrics map[string]float64

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

// errUnits says that a report was printed for people.
var errUnits = errors.New("its units vary: print it by ncu --page raw --csv --print-units base")

// ReadNsight reads what `ncu --page raw --csv --print-units base` prints, in any order of columns. Lines before the
// header, of the profiled program or of ncu, are passed over.
func ReadNsight(text []byte) ([]Launch, error) {
	start := headerStart(text)
	if start < 0 {
		return nil,
			fmt.Errorf("%w: there is no line of column names (%s and %s among them)", ErrNoLaunch, idColumn, kernelColumn)
	}
	reader := csv.NewReader(bytes.NewReader(text[start:]))
	reader.FieldsPerRecord = -1
	reader.LazyQuotes = true
	rows, err := reader.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("the report: %w", err)
	}
	return launches(rows[0], rows[1:])
}

// Longest returns the launch that took longest, the first where no times are known.
func Longest(all []Launch) *Launch {
	longest := &all[0]
	for i := range all {
		if all[i].Metrics[duration] > longest.Metrics[duration] {
			longest = &all[i]
		}
	}
	return longest
}

// headerStart is where the header begins, -1 for nowhere.
func headerStart(text []byte) int {
	at := 0
	for line := range bytes.Lines(text) {
		if cells := string(line); strings.Contains(cells, idColumn) && strings.Contains(cells, kernelColumn) {
			return at
		}
		at += len(line)
	}
	return -1
}

func launches(header []string, rows [][]string) ([]Launch, error) {
	id := slices.Index(header, idColumn)
	if id < 0 {
		return nil, fmt.Errorf("%w: its columns are not separated by commas", ErrNoLaunch)
	}
	// A line of ncu's own among the others is short.
	rows = slices.DeleteFunc(rows, func(row []string) bool { return len(row) < len(header)/2 || len(row) <= id })
	if len(rows) > 0 && rows[0][id] == "" { // the row of units has no number
		if at := slices.Index(header, duration); at >= 0 && at < len(rows[0]) {
			if unit := rows[0][at]; unit != "ns" && unit != "nsecond" {
				return nil, errUnits
			}
		}
		rows = rows[1:]
	}
	var all []Launch
	for _, row := range rows {
		launch := Launch{Metrics: Metrics{}}
		for i, name := range header[:min(len(header), len(row))] {
			value, err := strconv.ParseFloat(strings.ReplaceAll(row[i], ",", ""), 64)
			switch {
			case name == kernelColumn:
				launch.Kernel = row[i]
			case name == "" || described[name] || err != nil || math.IsInf(value, 0) || math.IsNaN(value):
			case strings.HasPrefix(name, "gpu__time_duration"): // in nanoseconds
				launch.Metrics[name] = value / 1e9
			default:
				launch.Metrics[name] = value
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
