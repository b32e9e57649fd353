package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"pawl/internal/collect"
	"pawl/objective"
)

// foreign is what is read of a Kernel Tuner cache, which has "cache", or of a T4 file, which has "results".
type foreign struct {
	Device   string          `json:"device_name"`
	Kernel   string          `json:"kernel_name"`
	Problem  json.RawMessage `json:"problem_size"`
	Keys     []string        `json:"tune_params_keys"` // the parameters in their order, where the file says it
	Metadata struct {
		TimeUnit string `json:"timeunit"`
	} `json:"metadata"`
	Cache   object            `json:"cache"`
	Results []json.RawMessage `json:"results"`
}

// object is a JSON object whose fields keep their order.
type object []field

type field struct {
	name  string
	value json.RawMessage
}

func (o *object) UnmarshalJSON(data []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return &json.UnmarshalTypeError{Value: fmt.Sprint(open), Type: reflect.TypeFor[object]()} // json adds the field
	}
	for *o = (object{}); decoder.More(); {
		name, err := decoder.Token()
		if err != nil {
			return err
		}
		f := field{name: name.(string)} // or else it is no JSON
		if err := decoder.Decode(&f.value); err != nil {
			return err
		}
		*o = append(*o, f)
	}
	return nil
}

// foreignEntry is an entry whose values are not yet typed: the kind of a
// parameter is known only when all of its values are.
type foreignEntry struct {
	values  map[string]json.RawMessage
	entry   Entry
	unit    string // of the entry's times, where it differs from the file's
	compile float64
	running float64 // checking and measuring
}

// errorTime is what old versions of Kernel Tuner record as the time of a configuration that failed.
const errorTime = 1e20

// entries reads what the file has of each configuration.
func (f *foreign) entries() (entries []foreignEntry, err error) {
	for _, one := range f.Cache {
		e, err := cacheEntry(one.value)
		if err != nil {
			return nil, fmt.Errorf("entry %q: %w", one.name, err)
		}
		entries = append(entries, e)
	}
	for i, raw := range f.Results {
		e, err := f.resultEntry(raw)
		if err != nil {
			return nil, fmt.Errorf("result %d: %w", i, err)
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// cacheEntry reads one configuration. Its time is a number, or the name of what
// went wrong; newer versions put that name into __error__.
func cacheEntry(text json.RawMessage) (foreignEntry, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return foreignEntry{}, err
	}
	e := foreignEntry{values: fields}
	var reason string
	if raw, ok := fields["__error__"]; ok {
		if err := json.Unmarshal(raw, &reason); err != nil {
			return e, fmt.Errorf("__error__: %w", err)
		}
	}
	e.compile = known(fields["compile_time"])
	e.running = known(fields["verification_time"]) + known(fields["benchmark_time"])
	raw, ok := fields["time"]
	if !ok && reason == "" {
		return e, errors.New("no time")
	}
	if ok && reason == "" && json.Unmarshal(raw, &reason) != nil {
		if err := json.Unmarshal(raw, &e.entry.Milliseconds); err != nil {
			return e, fmt.Errorf("time: %w", err)
		}
		if e.entry.Milliseconds >= errorTime {
			reason = "RuntimeFailedConfig"
		}
	}
	if reason != "" {
		e.entry.Failure, e.entry.Milliseconds = foreignFailure(reason), 0
		return e, nil
	}
	if raw, ok := fields["times"]; ok {
		if err := json.Unmarshal(raw, &e.entry.Samples); err != nil {
			return e, fmt.Errorf("times: %w", err)
		}
	}
	return e, nil
}

// known reads a duration. Some versions write null or text instead; then it is unknown, which is 0.
func known(raw json.RawMessage) float64 {
	var duration float64
	if json.Unmarshal(raw, &duration) != nil {
		return 0
	}
	return max(duration, 0)
}

// failures says what went wrong in the words of Kernel Tuner and of T4.
var failures = []struct {
	cache, t4 string
	stage     objective.Stage
	reason    string
}{
	{"InvalidConfig", "constraints", objective.Preflight, objective.Infeasible},
	{"CompilationFailedConfig", "compile", objective.Compile, objective.CompileError},
	{"", "correctness", objective.Fuzz, objective.WrongResult},
	{"RuntimeFailedConfig", "runtime", objective.Bench, "runtime error"},
}

// foreignFailure says what a word of Kernel Tuner or T4 means.
func foreignFailure(word string) *objective.Failure {
	for _, f := range failures {
		switch word {
		case f.cache:
			return &objective.Failure{Stage: f.stage, Reason: f.reason, Detail: word}
		case f.t4:
			return &objective.Failure{Stage: f.stage, Reason: f.reason}
		}
	}
	return &objective.Failure{Stage: objective.Bench, Reason: word}
}

// t4Result is what is read of a result of a T4 file.
type t4Result struct {
	Configuration object `json:"configuration"`
	Times         struct {
		Compilation float64   `json:"compilation"`
		Validation  float64   `json:"validation"`
		Runtimes    []float64 `json:"runtimes"`
	} `json:"times"`
	Invalidity   string `json:"invalidity"`
	Measurements []struct {
		Name  string          `json:"name"`
		Value json.RawMessage `json:"value"` // a number for times
		Unit  string          `json:"unit"`
	} `json:"measurements"`
}

// resultEntry reads one result. The first names the parameters.
func (f *foreign) resultEntry(text json.RawMessage) (foreignEntry, error) {
	var r t4Result
	if err := json.Unmarshal(text, &r); err != nil {
		return foreignEntry{}, err
	}
	e := foreignEntry{
		values: map[string]json.RawMessage{}, compile: r.Times.Compilation, running: r.Times.Validation,
	}
	for _, runtime := range r.Times.Runtimes {
		e.running += runtime
	}
	first := f.Keys == nil
	for _, parameter := range r.Configuration {
		e.values[parameter.name] = parameter.value
		if first {
			f.Keys = append(f.Keys, parameter.name)
		}
	}
	if r.Invalidity != "correct" && r.Invalidity != "" {
		e.entry.Failure = foreignFailure(r.Invalidity)
		return e, nil
	}
	for _, m := range r.Measurements {
		if m.Name != "time" {
			continue
		}
		if err := json.Unmarshal(m.Value, &e.entry.Milliseconds); err != nil {
			return e, fmt.Errorf("time: %w", err)
		}
		e.unit = m.Unit
		e.entry.Samples = r.Times.Runtimes
		return e, nil
	}
	return e, errors.New(`no measurement "time"`)
}

// units are milliseconds per unit of time. The first T4 files spell it so.
var units = map[string]float64{
	"": 1, "ms": 1, "milliseconds": 1, "miliseconds": 1,
	"s": 1e3, "seconds": 1e3, "us": 1e-3, "microseconds": 1e-3, "ns": 1e-6, "nanoseconds": 1e-6,
}

// record types the values and puts the record together.
func (f *foreign) record() (*Record, error) {
	if (f.Cache == nil) == (f.Results == nil) {
		return nil,
			errors.New(`unknown format: neither a pawl record ("format" first), nor a Kernel Tuner cache ("cache"), ` +
				`nor a T4 file ("results")`)
	}
	entries, err := f.entries()
	if err != nil {
		return nil, err
	}
	if len(entries) == 0 {
		return nil, errors.New("the file has no entries")
	}
	if len(f.Keys) == 0 {
		return nil, errors.New("the file does not name its parameters")
	}
	fileUnit, ok := units[strings.ToLower(f.Metadata.TimeUnit)]
	if !ok {
		return nil, fmt.Errorf("unknown unit of time %q", f.Metadata.TimeUnit)
	}
	r := &Record{Kernel: f.Kernel, Workload: workload(f.Problem), Environment: objective.Environment{Device: f.Device}}
	table, err := newValueTable(f.Keys, entries)
	if err != nil {
		return nil, err
	}
	for i, e := range entries {
		entryUnit := fileUnit
		if e.unit != "" {
			if entryUnit, ok = units[strings.ToLower(e.unit)]; !ok {
				return nil, fmt.Errorf("entry %d: unknown unit of time %q", i, e.unit)
			}
		}
		entry := e.entry
		entry.Compile = time.Duration(e.compile * fileUnit * float64(time.Millisecond))
		entry.Spent = entry.Compile + time.Duration(e.running*fileUnit*float64(time.Millisecond))
		if entry.Point, err = table.point(i); err != nil {
			return nil, fmt.Errorf("entry %d: %w", i, err)
		}
		entry.Milliseconds *= entryUnit
		for k := range entry.Samples {
			entry.Samples[k] *= fileUnit
		}
		if entry.OK() && len(entry.Samples) == 0 {
			entry.Samples = []float64{entry.Milliseconds}
		}
		r.Entries = append(r.Entries, entry)
	}
	r.Params = table.params(max(0, slices.IndexFunc(r.Entries, Entry.OK)))
	return r, nil
}

// workload names a problem size as we do: 4096x4096.
func workload(problem json.RawMessage) string {
	var sizes []json.Number
	if json.Unmarshal(problem, &sizes) != nil {
		var size json.Number
		if json.Unmarshal(problem, &size) != nil {
			return strings.Trim(string(problem), `"`)
		}
		return size.String()
	}
	return strings.Join(collect.Each(sizes, json.Number.String), "x")
}
