package results

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"pawl/gate/baseline"
)

// formats are the JSON files whose form is known. Each returns the results in a
// document of its kind, and none for any other document.
var formats = []func(path string, document gjson.Result) ([]Series, error){readBaseline, readBench, readHyperfine,
	readPytest, readGoogle, readNvbench}

// errUnknown says what to do with a JSON file that no format fits.
var errUnknown = errors.New("not a file of pawl, hyperfine, pytest-benchmark, Google Benchmark, Criterion or " +
	"nvbench: name its list of " +
	"times with --key, such as --key results.0.times_ms or --key 'results.#(seq==512).times_ms'")

// readJSON reads a file of a known format, or the list that the caller names.
func readJSON(path string, content []byte, choice Choice) ([]Series, error) {
	document := gjson.ParseBytes(content)
	for _, format := range formats {
		series, err := format(path, document)
		if err != nil {
			return nil, err
		}
		if len(series) > 0 {
			return choice.among(series)
		}
	}
	if choice.Key == "" {
		return nil, errUnknown
	}
	list := document.Get(choice.Key)
	if !list.Exists() {
		return nil, fmt.Errorf("nothing at --key %q", choice.Key)
	}
	processes, err := asProcesses(list)
	if err != nil {
		return nil, fmt.Errorf("--key %q: %w", choice.Key, err)
	}
	return choice.series(choice.Key, processes)
}

// known returns the results of a known format that are meant.
func (c Choice) known(series []Series, err error) ([]Series, error) {
	if err != nil {
		return nil, err
	}
	return c.among(series)
}

// among returns the results of a known format that are meant.
func (c Choice) among(series []Series) ([]Series, error) {
	if c.Unit != "" && len(series) > 0 {
		return nil, fmt.Errorf("the format has %s as its unit: leave out --unit", series[0].Unit)
	}
	if len(series) == 0 {
		return nil, errors.New("no benchmark in it")
	}
	if c.Key == "" {
		return series, nil
	}
	var names []string
	for _, s := range series {
		if s.Name == c.Key {
			return []Series{s}, nil
		}
		names = append(names, s.Name)
	}
	return nil, fmt.Errorf("no result %q; there are %s", c.Key, strings.Join(names, ", "))
}

// readBaseline reads a baseline or current results, whose digest must hold.
func readBaseline(path string, document gjson.Result) ([]Series, error) {
	if document.Get("format").String() != "pawl baseline" {
		return nil, nil
	}
	f, err := baseline.Read(path)
	if err != nil {
		return nil, err
	}
	var series []Series
	for _, e := range f.Entries {
		name := e.Kernel + " " + e.Workload + " " + e.Type
		series = append(series, Series{Name: name, Device: e.Device, Unit: "ms", Processes: e.Samples})
	}
	if len(series) == 0 {
		return nil, errors.New("no entries")
	}
	return series, nil
}

func readBench(_ string, document gjson.Result) ([]Series, error) {
	kernel, workload, rounds := document.Get("kernel"), document.Get("workload"), document.Get("rounds")
	if kernel.String() == "" || workload.Type != gjson.String || !rounds.IsArray() {
		return nil, nil
	}
	series, err := found(kernel.String()+" "+workload.String(), "rounds", rounds, "ms")
	series.Device = document.Get("environment.device").String()
	return []Series{series}, err
}

// readHyperfine reads what hyperfine --export-json writes: seconds, and each run of
// a command is a process of its own.
func readHyperfine(_ string, document gjson.Result) (all []Series, err error) {
	for i, result := range document.Get("results").Array() {
		command, path := result.Get("command"), fmt.Sprintf("results.%d.times", i)
		if command.Type != gjson.String {
			return nil, nil
		}
		series, err := found(command.String(), path, result.Get("times"), "s")
		if err != nil {
			return nil, err
		}
		series.Processes = slices.Collect(slices.Chunk(slices.Concat(series.Processes...), 1))
		all = append(all, series)
	}
	return all, nil
}

// readPytest reads what pytest-benchmark writes: seconds, all of one process.
func readPytest(_ string, document gjson.Result) (all []Series, err error) {
	if !document.Get("machine_info").Exists() {
		return nil, nil
	}
	benchmarks := document.Get("benchmarks").Array()
	// Functions of two files may have one name, and then their full ones tell them apart.
	key, seen := "name", map[string]bool{}
	for _, benchmark := range benchmarks {
		if name := benchmark.Get("name").String(); seen[name] {
			key = "fullname"
		} else {
			seen[name] = true
		}
	}
	for i, benchmark := range benchmarks {
		data := benchmark.Get("stats.data")
		if !data.Exists() {
			return nil, fmt.Errorf("benchmarks.%d.stats.data is missing: save it with --benchmark-save-data", i)
		}
		series, err := found(benchmark.Get(key).String(), fmt.Sprintf("benchmarks.%d.stats.data", i), data, "s")
		if err != nil {
			return nil, err
		}
		all = append(all, series)
	}
	return all, nil
}

// readGoogle reads what Google Benchmark writes: the repetitions of one process, each
// with its unit. Aggregates are no samples.
func readGoogle(_ string, document gjson.Result) (all []Series, err error) {
	benchmarks := document.Get("benchmarks").Array()
	if !document.Get("context").Exists() || len(benchmarks) == 0 {
		return nil, nil
	}
	for i, run := range benchmarks {
		if run.Get("run_type").String() == "aggregate" {
			continue
		}
		name := cmp.Or(run.Get("run_name").String(), run.Get("name").String())
		sample, err := asTime(run.Get("real_time").Raw)
		if err != nil {
			return nil, fmt.Errorf("benchmarks.%d.real_time: %w", i, err)
		}
		series, err := Choice{Unit: run.Get("time_unit").String()}.series(name, [][]float64{{sample}})
		if err != nil || series[0].Unit == "" {
			return nil, fmt.Errorf("benchmarks.%d.time_unit is %q, not a unit of time", i, run.Get("time_unit"))
		}
		at := slices.IndexFunc(all, func(s Series) bool { return s.Name == name })
		if at < 0 {
			all = append(all, series...)
		} else {
			all[at].Processes[0] = append(all[at].Processes[0], series[0].Processes[0]...)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("only aggregates in it: run the benchmark with --benchmark_repetitions, and write all of them")
	}
	return all, nil
}

// found makes a series of a list in a file of a known format.
func found(name, path string, list gjson.Result, unit string) (Series, error) {
	if !list.Exists() {
		return Series{}, fmt.Errorf("%s is missing: only raw samples can be judged", path)
	}
	processes, err := asProcesses(list)
	if err != nil {
		return Series{}, fmt.Errorf("%s: %w", path, err)
	}
	series, err := Choice{Unit: unit}.series(name, processes)
	if err != nil {
		return Series{}, fmt.Errorf("%s: %w", path, err)
	}
	return series[0], nil
}
