package studies

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"pawl/internal/escape"
	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/worker"
	"pawl/search/trial"
	"pawl/space"
)

// Definition is what makes a study the one it is: what is measured, and how. A resumed study takes it from its
// record, and a flag that contradicts that is an error. It travels whole, to the devices of a farm too.
//
// The tag "flag" names the flag of pawl tune, "on" where a field has an effect (option.effective), and "usual" a value
// that goes without saying in a command.
type Definition struct {
	// Workload, Backend and Record choose what is tuned; Record is the file that a replay answers from.
	Workload string `flag:"workload" role:"subject"`
	Sampler  string `flag:"sampler"`
	Seed     uint64 `flag:"seed"`
	// Cold learns nothing from earlier studies.
	Cold bool `flag:"ignore-earlier"`
	// Wide searches all values of the parameters.
	Wide bool `flag:"wide"`
	// Fix and Only keep the search to some values of parameters.
	Fix     space.Restriction `flag:"fix"`
	Only    space.Restriction `flag:"only"`
	Backend string            `flag:"backend" role:"subject"`
	Record  string            `flag:"record" role:"subject" on:"replay"`
	// Device names what somebody else measures on.
	Device   string `flag:"device" on:"ask"`
	Compiler string `flag:"compiler" on:"gpu"`
	Caches   string `flag:"caches" on:"called"`
	// LockClocks is in MHz, 0 for clocks as they are.
	LockClocks     int           `flag:"lock-clocks" on:"gpu"`
	Samples        int           `flag:"samples" on:"called"`
	RunTimeout     time.Duration `flag:"run-timeout" on:"called" usual:"10s"`
	CompileTimeout time.Duration `flag:"compile-timeout" on:"called" usual:"1m0s"`
}

// Searched is the part of a kernel's space that the study searches.
func (d Definition) Searched(s *space.Space) (*space.Space, error) {
	kept := d.Fix
	if err := kept.Set(string(d.Only)); err != nil {
		return nil, fmt.Errorf("--fix and --only: %w", err)
	}
	if !d.Wide {
		s = s.Narrow()
	}
	s, err := s.Restrict(kept)
	if err != nil {
		return nil, fmt.Errorf("--fix and --only: %w", err)
	}
	return s, nil
}

// Measuring says how points are measured.
func (d Definition) Measuring() objective.Options {
	return objective.Options{
		Seed: d.Seed, RunTimeout: d.RunTimeout, Stopping: objective.Stopping{Floor: d.Samples},
		Caches: worker.Caches(d.Caches),
	}
}

// Options are a study's definition and its latest goals. They are stored as one JSON object of texts by flag. What a
// resumed study takes from its record, what contradicts that, and the command that reproduces a study derive from
// this type, in its order.
type Options struct {
	Definition
	trial.Goals `role:"goal"`
	// Across measures the winner on the kernel's other workloads too.
	Across bool `flag:"across" role:"goal" on:"called"`
}

type option struct {
	name, role, usual, on string
	index                 []int
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

// options are the fields in order. The role of an embedded struct is that of its fields.
var options = func() (all []option) {
	kind := reflect.TypeFor[Options]()
	for _, field := range reflect.VisibleFields(kind) {
		if field.Anonymous {
			continue
		}
		role := cmp.Or(field.Tag.Get("role"), kind.Field(field.Index[0]).Tag.Get("role"))
		all = append(all, option{field.Tag.Get("flag"), role, field.Tag.Get("usual"), field.Tag.Get("on"), field.Index})
	}
	return all
}()

// texts returns the options by name, as text. What was not asked for is left out.
func (o Options) texts() map[string]string {
	texts := map[string]string{}
	for _, field := range options {
		if value := reflect.ValueOf(o).FieldByIndex(field.index); !value.IsZero() || field.name == "seed" {
			texts[field.name] = fmt.Sprint(value)
		}
	}
	return texts
}

func fromTexts(texts map[string]string) (o Options, err error) {
	for _, field := range options {
		text, given := texts[field.name]
		if !given {
			continue
		}
		switch p := reflect.ValueOf(&o).Elem().FieldByIndex(field.index).Addr().Interface().(type) {
		case *string:
			*p = text
		case *bool:
			*p, err = strconv.ParseBool(text)
		case *int:
			*p, err = strconv.Atoi(text)
		case *uint64:
			*p, err = strconv.ParseUint(text, 10, 64)
		case *time.Duration:
			*p, err = time.ParseDuration(text)
		case flag.Value:
			err = p.Set(text)
		}
		if err != nil {
			return o, fmt.Errorf("option %s: %w", field.name, err)
		}
	}
	return o, nil
}

func (o Options) MarshalJSON() ([]byte, error) { return json.Marshal(o.texts()) }

func (o *Options) UnmarshalJSON(encoded []byte) error {
	var texts map[string]string
	err := json.Unmarshal(encoded, &texts)
	if err == nil {
		*o, err = fromTexts(texts)
	}
	return err
}

// must returns the options of texts that were options before.
func must(texts map[string]string) Options {
	o, err := fromTexts(texts)
	if err != nil {
		panic("studies: " + err.Error())
	}
	return o
}

// For returns the options of a study: those that have an effect on its backend.
func (o Options) For(study Study) Options {
	o.Workload, o.Backend, o.Record = study.Workload, study.Backend, study.Origin
	o.Caches = cmp.Or(o.Caches, kernels.BackendOf(study.Backend).Caches)
	texts := o.texts()
	if study.Backend == Ask {
		delete(texts, "backend") // the command says so
	}
	for _, field := range options {
		if !field.effective(study.Backend) {
			delete(texts, field.name)
		}
	}
	return must(texts)
}

// Contradiction says what a command line with these options wants otherwise than the
// study was begun with, or nothing. Given are the flags on it.
func (s Study) Contradiction(asked Options, given []string) string {
	recorded, now := s.Options.texts(), asked.texts()
	for _, o := range options {
		before := recorded[o.name]
		if o.role == "goal" || !slices.Contains(given, o.name) || now[o.name] == before {
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
	recorded, texts := s.Options.texts(), asked.texts()
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
	return must(texts), changed
}

// Elsewhere says what differs between the machine of the study and this one, or nothing. The device is the same.
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

// command is the name of the command that runs such a study.
func (s Study) command() string {
	if s.Backend == Ask {
		return Ask
	}
	return "tune"
}

// Resume is the command that resumes the study, with further flags.
func (s Study) Resume(further ...any) string {
	words := []any{s.command(), s.Origin, "--workload", s.Workload, "--resume"}
	switch b := kernels.BackendOf(s.Backend); {
	case s.Backend == Ask && s.Options.Device != "":
		words = append(words, "--device", s.Options.Device)
	case s.Backend == Ask:
	case s.Backend == Replay:
		words = []any{"tune", "--backend", Replay, "--record", s.Origin, "--resume"}
	case !b.GPU && !b.Program: // or a GPU comes first
		words = append(words, "--backend", s.Backend)
	}
	if s.Options.Wide { // these make the space what it is
		words = append(words, "--wide")
	}
	if s.Options.Fix != "" {
		words = append(words, "--fix", string(s.Options.Fix))
	}
	if s.Options.Only != "" {
		words = append(words, "--only", string(s.Options.Only))
	}
	return s.Place.Pawl(append(words, further...)...)
}

// Again is the command that runs the study again, from a page.
func (s Study) Again() string {
	return strings.TrimSpace(s.Command + " " + escape.Shell(s.Place.flags([]string{s.command()})...))
}

// Reproduction returns the command that runs the study again.
func (s Study) Reproduction(getenv func(string) string) string {
	var words []string
	for _, variable := range kernels.BackendOf(s.Backend).Variables {
		if value := getenv(variable); value != "" {
			words = append(words, variable+"="+escape.Shell(value))
		}
	}
	words = append(words, "pawl "+s.command())
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
