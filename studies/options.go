package studies

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"pawl/internal/escape"
	"pawl/kernels"
	"pawl/objective"
)

// Options are what a study was begun with, and its latest goals: the flags of pawl
// tune that decide what is measured, how, and how far. They are stored as one JSON
// object of texts by flag. What a resumed study takes from its record, what
// contradicts that, and the command that reproduces a study derive from this type.
//
// A field with the role "goal" says how far to go: a resumed study goes on towards its
// old goals unless it is given others. All others define the study: a resumed one
// takes them from its record, and a flag that contradicts it is an error. The tag "on"
// says where a field has an effect (option.effective), "usual" a value that goes without
// saying in a command. The order is that of the command.
type Options struct {
	Workload string   `json:"workload,omitempty" role:"subject"`
	Sampler  string   `json:"sampler,omitempty"`
	Seed     uint64   `json:"seed,string"`
	Trials   int      `json:"trials,string,omitempty" role:"goal"` // 0 for no limit
	Budget   Duration `json:"budget,omitempty" role:"goal"`        // 0 for no limit
	Cold     bool     `json:"cold,string,omitempty"`
	Target   string   `json:"target,omitempty" role:"goal"` // a speedup such as 1.1x
	Regret   string   `json:"regret,omitempty" role:"goal"` // a share such as 1%
	Backend  string   `json:"backend,omitempty" role:"subject"`
	// Record is the file that a replay answers from.
	Record   string `json:"record,omitempty" role:"subject" on:"replay"`
	Compiler string `json:"compiler,omitempty" on:"gpu"`
	Caches   string `json:"caches,omitempty" on:"gpu"`
	// LockClocks is in MHz, 0 for clocks as they are.
	LockClocks int `json:"lock-clocks,string,omitempty" on:"gpu"`
	Samples    int `json:"samples,string,omitempty" on:"called"`
	Finalists  int `json:"finalists,string,omitempty" role:"goal"`
	Rounds     int `json:"rounds,string,omitempty" role:"goal"`
	// Across measures the winner on the kernel's other workloads too.
	Across         bool     `json:"across,string,omitempty" role:"goal" on:"called"`
	RunTimeout     Duration `json:"run-timeout,omitempty" on:"called" usual:"10s"`
	CompileTimeout Duration `json:"compile-timeout,omitempty" on:"called" usual:"1m0s"`
}

// Duration is a time span that JSON has as text, such as 45s.
type Duration time.Duration

func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	*d = Duration(parsed)
	return err
}

// option is a field of Options.
type option struct {
	name, role, usual, on string
}

// effective says that the option has an effect on a backend: on every one, on GPUs, for
// kernels that are called and not run as programs, or on the one that it names.
func (o option) effective(backend string) bool {
	b := kernels.BackendOf(backend)
	switch o.on {
	case "":
		return true
	case "gpu":
		return b.GPU
	case "called":
		return b.Name != "" && !b.Program
	}
	return o.on == backend
}

// options are the fields in order.
var options = func() (all []option) {
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Options]()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		all = append(all, option{name, field.Tag.Get("role"), field.Tag.Get("usual"), field.Tag.Get("on")})
	}
	return all
}()

// texts returns the options by name, as text. What was not asked for is left out.
func (o Options) texts() map[string]string {
	var texts map[string]string
	encoded, err := json.Marshal(o)
	if err == nil {
		err = json.Unmarshal(encoded, &texts)
	}
	if err != nil {
		panic("studies: options have no JSON form: " + err.Error())
	}
	return texts
}

func fromTexts(texts map[string]string) (o Options) {
	encoded, err := json.Marshal(texts)
	if err == nil {
		err = json.Unmarshal(encoded, &o)
	}
	if err != nil {
		panic("studies: these texts are no valid options: " + err.Error())
	}
	return o
}

// For returns the options of a study: those that have an effect on its backend.
func (o Options) For(study Study) Options {
	o.Workload, o.Backend, o.Record = study.Workload, study.Backend, study.Origin
	texts := o.texts()
	for _, field := range options {
		if !field.effective(study.Backend) {
			delete(texts, field.name)
		}
	}
	return fromTexts(texts)
}

// recordedOptions returns the options of a study by name. One that was recorded
// before they were says little about them.
func (s Study) recordedOptions() (texts map[string]string, complete bool) {
	if s.Options != (Options{}) {
		return s.Options.texts(), true
	}
	return Options{Seed: s.Seed, Sampler: s.Sampler, Cold: slices.Contains(strings.Fields(s.Command), "--cold")}.texts(),
		false
}

// Contradiction says what a command line with these options wants otherwise than the
// study was begun with, or nothing. Given are the flags on it.
func (s Study) Contradiction(asked Options, given []string) string {
	recorded, complete := s.recordedOptions()
	now := asked.texts()
	for _, o := range options {
		before, known := recorded[o.name]
		if o.role == "goal" || !slices.Contains(given, o.name) || (!known && !complete) || now[o.name] == before {
			continue
		}
		return fmt.Sprintf("study %d was begun %s, and the command line says %s", s.ID, asFlag(o.name, before),
			asFlag(o.name, now[o.name]))
	}
	return ""
}

func asFlag(name, value string) string {
	switch {
	case value == "":
		return "without --" + name
	case value == "true":
		return "with --" + name
	}
	return "with --" + name + " " + value
}

// Adopt returns the options of a command line with those of the study for what it
// does not say, and whether that changes what is measured, and how.
func (s Study) Adopt(asked Options, given []string) (adopted Options, changed bool) {
	recorded, _ := s.recordedOptions()
	texts := asked.texts()
	limited := slices.Contains(given, "trials") || slices.Contains(given, "budget")
	for _, o := range options {
		value, known := recorded[o.name]
		skip := o.role == "subject" || (limited && (o.name == "trials" || o.name == "budget"))
		if skip || !known || slices.Contains(given, o.name) || texts[o.name] == value {
			continue
		}
		texts[o.name] = value
		changed = changed || o.role != "goal"
	}
	return fromTexts(texts), changed
}

// Elsewhere says what differs between the machine of the study and this one, or
// nothing. The device is the same.
func (s Study) Elsewhere(now objective.Environment) string {
	before := s.Environment
	for _, part := range []struct{ name, before, now string }{
		{"compiler", before.Compiler, now.Compiler},
		{"set of compiler flags", before.Flags, now.Flags},
		{"driver", before.Driver, now.Driver},
		{"system", before.System, now.System},
		{"number of cores", strconv.Itoa(before.Cores), strconv.Itoa(now.Cores)},
	} {
		if part.before != part.now {
			return fmt.Sprintf("study %d was measured with another %s: %q then, %q now", s.ID, part.name, part.before, part.now)
		}
	}
	return ""
}

// Reproduction returns the command that runs the study again.
func (s Study) Reproduction(getenv func(string) string) string {
	var words []string
	for _, variable := range kernels.BackendOf(s.Backend).Variables {
		if value := getenv(variable); value != "" {
			words = append(words, variable+"="+escape.Shell(value))
		}
	}
	words = append(words, "pawl tune")
	if s.Options.Record == "" {
		words = append(words, escape.Shell(s.Origin))
	}
	texts := s.Options.texts()
	for _, o := range options {
		value, given := texts[o.name]
		switch {
		case !given || value == o.usual:
		case value == "true":
			words = append(words, "--"+o.name)
		default:
			words = append(words, "--"+o.name+" "+escape.Shell(value))
		}
	}
	return strings.Join(words, " ")
}
