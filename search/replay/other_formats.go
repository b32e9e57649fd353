package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"pawl/internal/collect"
	"pawl/objective"
)

// foreign collects what Kernel Tuner caches and T4 files have in common.
type foreign struct {
	device   string
	kernel   string
	problem  json.RawMessage
	keys     []string // the parameters in their order, where the file says it
	metadata struct {
		TimeUnit string `json:"timeunit"`
	}
	cached  bool
	results bool
	entries []foreignEntry
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

// readCache reads the entries of a Kernel Tuner cache. It returns io.EOF when the file ends behind an entry.
func (f *foreign) readCache(decoder *json.Decoder) error {
	if err := expect(decoder, '{'); err != nil {
		return err
	}
	f.cached = true
	for {
		name, err := key(decoder)
		if err != nil || name == "" {
			return err
		}
		var fields map[string]json.RawMessage
		if err := decoder.Decode(&fields); err != nil {
			return fmt.Errorf("entry %q: %w", name, cut(err))
		}
		e, err := cacheEntry(fields)
		if err != nil {
			return fmt.Errorf("entry %q: %w", name, err)
		}
		f.entries = append(f.entries, e)
	}
}

// cut keeps an entry that breaks off from being taken for a file that was merely not closed.
func cut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the file ends in the middle of it")
	}
	return err
}

// cacheEntry reads one configuration. Its time is a number, or the name of what
// went wrong; newer versions put that name into __error__.
func cacheEntry(fields map[string]json.RawMessage) (foreignEntry, error) {
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
	Configuration json.RawMessage `json:"configuration"`
	Times         t4Times         `json:"times"`
	Invalidity    string          `json:"invalidity"`
	Measurements  []t4Measurement `json:"measurements"`
}

type t4Times struct {
	Compilation float64   `json:"compilation"`
	Validation  float64   `json:"validation"`
	Runtimes    []float64 `json:"runtimes"`
}

type t4Measurement struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"` // a number for times
	Unit  string          `json:"unit"`
}

func (f *foreign) readResults(decoder *json.Decoder) error {
	if err := expect(decoder, '['); err != nil {
		return err
	}
	f.results = true
	for decoder.More() {
		var r t4Result
		if err := decoder.Decode(&r); err != nil {
			return fmt.Errorf("result %d: %w", len(f.entries), cut(err))
		}
		e, err := f.resultEntry(r)
		if err != nil {
			return fmt.Errorf("result %d: %w", len(f.entries), err)
		}
		f.entries = append(f.entries, e)
	}
	return expect(decoder, ']')
}

func (f *foreign) resultEntry(r t4Result) (foreignEntry, error) {
	e := foreignEntry{compile: r.Times.Compilation, running: r.Times.Validation}
	for _, runtime := range r.Times.Runtimes {
		e.running += runtime
	}
	if err := json.Unmarshal(r.Configuration, &e.values); err != nil {
		return e, fmt.Errorf("configuration: %w", err)
	}
	if f.keys == nil {
		keys, err := keysInOrder(r.Configuration)
		if err != nil {
			return e, fmt.Errorf("configuration: %w", err)
		}
		f.keys = keys
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

func keysInOrder(object json.RawMessage) ([]string, error) {
	decoder := json.NewDecoder(strings.NewReader(string(object)))
	if err := expect(decoder, '{'); err != nil {
		return nil, err
	}
	var keys []string
	for {
		name, err := key(decoder)
		if err != nil {
			return nil, unexpected(err)
		}
		if name == "" {
			return keys, nil
		}
		keys = append(keys, name)
		var skipped json.RawMessage
		if err := decoder.Decode(&skipped); err != nil {
			return nil, err
		}
	}
}

// units are milliseconds per unit of time. The first T4 files spell it so.
var units = map[string]float64{
	"": 1, "ms": 1, "milliseconds": 1, "miliseconds": 1,
	"s": 1e3, "seconds": 1e3, "us": 1e-3, "microseconds": 1e-3, "ns": 1e-6, "nanoseconds": 1e-6,
}

// record types the values and puts the record together.
func (f *foreign) record() (*Record, error) {
	if f.cached == f.results {
		return nil,
			errors.New(`unknown format: neither a pawl record ("format" first), nor a Kernel Tuner cache ("cache"), ` +
				`nor a T4 file ("results")`)
	}
	if len(f.entries) == 0 {
		return nil, errors.New("the file has no entries")
	}
	if len(f.keys) == 0 {
		return nil, errors.New("the file does not name its parameters")
	}
	fileUnit, ok := units[strings.ToLower(f.metadata.TimeUnit)]
	if !ok {
		return nil, fmt.Errorf("unknown unit of time %q", f.metadata.TimeUnit)
	}
	r := &Record{Kernel: f.kernel, Workload: workload(f.problem), Environment: objective.Environment{Device: f.device}}
	table, err := newValueTable(f.keys, f.entries)
	if err != nil {
		return nil, err
	}
	for i, e := range f.entries {
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
