package results

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// formats are the files whose form is known. Each says whether a document is of its
// kind, and reads it.
var formats = []func(document map[string]any) (series []Series, known bool, err error){
	readBench, readHyperfine, readPyperf, readPytest, readGoogle,
}

// readBench reads what pawl bench writes; other lists in it are no samples.
func readBench(document map[string]any) ([]Series, bool, error) {
	kernel, _ := document["kernel"].(string)
	rounds, isList := document["rounds"].([]any)
	if _, hasBatch := document["workload"].(string); kernel == "" || !isList || !hasBatch {
		return nil, false, nil
	}
	workload, _ := document["workload"].(string)
	environment, _ := document["environment"].(map[string]any)
	device, _ := environment["device"].(string)
	s, err := known("rounds", rounds, "ms")
	if err != nil {
		return nil, true, err
	}
	s.Name, s.Device = kernel+" "+workload, device
	s.config = scope{}.with(document).fields
	return []Series{s}, true, nil
}

// known returns the samples of a list that must be one.
func known(path string, list []any, unit string) (Series, error) {
	processes, err := asProcesses(list, true)
	if err == nil && processes == nil {
		err = errors.New("this is not a list of raw samples")
	}
	if err == nil {
		processes, err = inMilliseconds(processes, unit)
	}
	if err != nil {
		return Series{}, fmt.Errorf("%s: %w", path, err)
	}
	return Series{Unit: unit, Processes: processes, path: path}, nil
}

// readHyperfine reads what hyperfine --export-json writes: seconds, and each run of
// a command is a process of its own.
func readHyperfine(document map[string]any) ([]Series, bool, error) {
	results := objects(document["results"])
	if len(results) == 0 || slices.ContainsFunc(results, func(r map[string]any) bool { _, ok := r["command"].(string); return !ok }) {
		return nil, false, nil
	}
	var series []Series
	for i, result := range results {
		path := fmt.Sprintf("results.%d.times", i)
		times, ok := result["times"].([]any)
		if !ok {
			return nil, true, fmt.Errorf("%s is missing: this is not a list of raw samples", path)
		}
		s, err := known(path, times, "s")
		if err != nil {
			return nil, true, err
		}
		var runs [][]float64
		for _, time := range slices.Concat(s.Processes...) {
			runs = append(runs, []float64{time})
		}
		s.Name, s.Processes = result["command"].(string), runs
		s.config = scope{}.with(result).fields
		series = append(series, s)
	}
	return series, true, nil
}

// readPyperf reads what pyperf writes: runs are processes, and the unit is seconds
// unless the metadata say otherwise.
func readPyperf(document map[string]any) ([]Series, bool, error) {
	benchmarks := objects(document["benchmarks"])
	if len(benchmarks) == 0 || slices.ContainsFunc(benchmarks, func(b map[string]any) bool { return len(objects(b["runs"])) == 0 }) {
		return nil, false, nil
	}
	var series []Series
	for i, benchmark := range benchmarks {
		fields := scope{}.with(document).with(benchmark).fields
		unit := "s"
		if named, err := unitOf(nil, fields); err != nil {
			return nil, true, err
		} else if named != "" {
			unit = named
		}
		var runs []any
		for _, run := range objects(benchmark["runs"]) {
			if values, ok := run["values"].([]any); ok { // a run that only calibrates has none
				runs = append(runs, values)
			}
		}
		s, err := known(fmt.Sprintf("benchmarks.%d.runs", i), runs, unit)
		if err != nil {
			return nil, true, err
		}
		s.Name, s.config = fields["name"], fields
		series = append(series, s)
	}
	return series, true, nil
}

// readPytest reads what pytest-benchmark writes: seconds, all of one process.
func readPytest(document map[string]any) ([]Series, bool, error) {
	benchmarks := objects(document["benchmarks"])
	if _, machine := document["machine_info"]; !machine || len(benchmarks) == 0 {
		return nil, false, nil
	}
	var series []Series
	for i, benchmark := range benchmarks {
		path := fmt.Sprintf("benchmarks.%d.stats.data", i)
		stats, _ := benchmark["stats"].(map[string]any)
		data, ok := stats["data"].([]any)
		if !ok {
			return nil, true, fmt.Errorf("%s is missing: save it with --benchmark-save-data", path)
		}
		s, err := known(path, data, "s")
		if err != nil {
			return nil, true, err
		}
		s.config = scope{}.with(benchmark).fields
		s.Name = s.config["name"]
		series = append(series, s)
	}
	return series, true, nil
}

// readGoogle reads what Google Benchmark writes: the repetitions of one process, each
// with its unit. Aggregates are no samples.
func readGoogle(document map[string]any) ([]Series, bool, error) {
	benchmarks := objects(document["benchmarks"])
	if _, context := document["context"]; !context || len(benchmarks) == 0 {
		return nil, false, nil
	}
	runs := map[string][]any{}
	unit := map[string]string{}
	for i, run := range benchmarks {
		if run["run_type"] == "aggregate" {
			continue
		}
		name, _ := run["run_name"].(string)
		if name == "" {
			name, _ = run["name"].(string)
		}
		time, ok := run["real_time"].(json.Number)
		if !ok {
			return nil, true, fmt.Errorf("benchmarks.%d.real_time is %s, not a time", i, written(run["real_time"]))
		}
		named, err := unitOf(nil, scope{}.with(run).fields)
		if err != nil || named == "" || unit[name] != "" && unit[name] != named {
			return nil, true, fmt.Errorf("benchmarks.%d.time_unit is %s: one unit of time is needed", i, written(run["time_unit"]))
		}
		runs[name], unit[name] = append(runs[name], time), named
	}
	if len(runs) == 0 {
		return nil, true, errors.New("only aggregates in it: this is not a list of raw samples")
	}
	var series []Series
	for _, name := range slices.Sorted(maps.Keys(runs)) {
		s, err := known("benchmarks."+name, runs[name], unit[name])
		if err != nil {
			return nil, true, err
		}
		s.Name, s.config = name, map[string]string{"name": name}
		series = append(series, s)
	}
	return series, true, nil
}

// objects returns a list of objects, or nothing where a value is anything else.
func objects(value any) []map[string]any {
	list, _ := value.([]any)
	var all []map[string]any
	for _, inner := range list {
		object, ok := inner.(map[string]any)
		if !ok {
			return nil
		}
		all = append(all, object)
	}
	return all
}
