package results

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// formats are the files whose form is known. Each returns the results in a document
// of its kind, and none for any other document.
var formats = []func(document map[string]any) ([]known, error){readBench, readHyperfine, readPyperf, readPytest,
	readGoogle}

// known is a result of a known format, with a list that must be raw samples.
type known struct {
	path         string
	list         any
	unit         string
	name, device string
	fields       map[string]string // what may choose it
	alone        bool              // each sample has a process of its own
	missing      string            // what to say where there is no list; empty for the usual
}

// notSamples says that a list is something else.
const notSamples = "this is not a list of raw samples"

func (k known) series() (Series, error) {
	list, ok := k.list.([]any)
	if !ok {
		return Series{}, fmt.Errorf("%s is missing: %s", k.path, cmp.Or(k.missing, notSamples))
	}
	processes, err := asProcesses(list, true)
	if err == nil && processes == nil {
		err = errors.New(notSamples)
	}
	if err == nil {
		processes, err = inMilliseconds(processes, k.unit)
	}
	if err != nil {
		return Series{}, fmt.Errorf("%s: %w", k.path, err)
	}
	if k.alone {
		processes = slices.Collect(slices.Chunk(slices.Concat(processes...), 1))
	}
	return Series{Name: k.name, Device: k.device, Unit: k.unit, Processes: processes, path: k.path, config: k.fields}, nil
}

// readBench reads what pawl bench writes; other lists in it are no samples.
func readBench(document map[string]any) ([]known, error) {
	kernel, _ := document["kernel"].(string)
	workload, hasWorkload := document["workload"].(string)
	rounds, isList := document["rounds"].([]any)
	if kernel == "" || !hasWorkload || !isList {
		return nil, nil
	}
	environment, _ := document["environment"].(map[string]any)
	device, _ := environment["device"].(string)
	return []known{{
		path:   "rounds",
		list:   rounds,
		unit:   "ms",
		name:   kernel + " " + workload,
		device: device,
		fields: fieldsOf(document),
	}}, nil
}

// readHyperfine reads what hyperfine --export-json writes: seconds, and each run of
// a command is a process of its own.
func readHyperfine(document map[string]any) (all []known, err error) {
	for i, result := range objects(document["results"]) {
		command, ok := result["command"].(string)
		if !ok {
			return nil, nil
		}
		all = append(all,
			known{
				path:   fmt.Sprintf("results.%d.times", i),
				list:   result["times"],
				unit:   "s",
				name:   command,
				fields: fieldsOf(result),
				alone:  true,
			})
	}
	return all, nil
}

// readPyperf reads what pyperf writes: runs are processes, and the unit is seconds
// unless the metadata say otherwise.
func readPyperf(document map[string]any) (all []known, err error) {
	for i, benchmark := range objects(document["benchmarks"]) {
		runs := objects(benchmark["runs"])
		if len(runs) == 0 {
			return nil, nil
		}
		k := known{path: fmt.Sprintf("benchmarks.%d.runs", i), fields: fieldsOf(document, benchmark)}
		if k.unit, err = unitOf(nil, k.fields); err != nil {
			return nil, err
		}
		k.unit, k.name = cmp.Or(k.unit, "s"), k.fields["name"]
		var processes []any
		for _, run := range runs {
			if values, ok := run["values"].([]any); ok { // a run that only calibrates has none
				processes = append(processes, values)
			}
		}
		k.list = processes
		all = append(all, k)
	}
	return all, nil
}

// readPytest reads what pytest-benchmark writes: seconds, all of one process.
func readPytest(document map[string]any) (all []known, err error) {
	if _, machine := document["machine_info"]; !machine {
		return nil, nil
	}
	for i, benchmark := range objects(document["benchmarks"]) {
		stats, _ := benchmark["stats"].(map[string]any)
		fields := fieldsOf(benchmark)
		all = append(all,
			known{
				path:    fmt.Sprintf("benchmarks.%d.stats.data", i),
				list:    stats["data"],
				unit:    "s",
				name:    fields["name"],
				fields:  fields,
				missing: "save it with --benchmark-save-data",
			})
	}
	return all, nil
}

// readGoogle reads what Google Benchmark writes: the repetitions of one process, each
// with its unit. Aggregates are no samples.
func readGoogle(document map[string]any) (all []known, err error) {
	benchmarks := objects(document["benchmarks"])
	if _, context := document["context"]; !context || len(benchmarks) == 0 {
		return nil, nil
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
			return nil, fmt.Errorf("benchmarks.%d.real_time is %s, not a time", i, written(run["real_time"]))
		}
		named, err := unitOf(nil, fieldsOf(run))
		if err != nil || named == "" || unit[name] != "" && unit[name] != named {
			return nil, fmt.Errorf("benchmarks.%d.time_unit is %s: one unit of time is needed", i, written(run["time_unit"]))
		}
		runs[name], unit[name] = append(runs[name], time), named
	}
	if len(runs) == 0 {
		return nil, errors.New("only aggregates in it: " + notSamples)
	}
	for _, name := range slices.Sorted(maps.Keys(runs)) {
		all = append(all,
			known{
				path:   "benchmarks." + name,
				list:   runs[name],
				unit:   unit[name],
				name:   name,
				fields: map[string]string{"name": name},
			})
	}
	return all, nil
}

// fieldsOf returns the plain values of objects, an inner one last.
func fieldsOf(objects ...map[string]any) map[string]string {
	var s scope
	for _, object := range objects {
		s = s.with(object)
	}
	return s.fields
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
