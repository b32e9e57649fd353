package importer

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"pawl/internal/collect"
	"pawl/kernels"
	"pawl/space"
)

type description struct {
	name, entry, backend string
	// origin says in a comment what it was made from.
	origin string
	params []parameter
	// constraints are expressions of pawl's; those that could not be written are gaps.
	constraints []string
	// sizes are the dimensions of the only workload.
	sizes []size
	args  []argument
	launch
	flags []string
	// constants are the arguments that are variables of the source, which a reference takes as its last parameters.
	constants []argument
	// objective is a line of the manifest, referenceParams are its parameters: they change the work of a launch.
	objective       string
	referenceParams []string
	atol            string
	contents
	remarks
}

// launch has formulas; all are empty on the host.
type launch struct {
	grid, block []string
	shared      string
	// These launch the reference; empty where it is launched as the kernel is.
	referenceGrid, referenceBlock []string
}

// contents are what stands beside the manifest.
type contents struct {
	source, reference string // file names
	files             []kernels.File
	arrays            []array
	recorded          string // the folder of what the stand-in has recorded
}

// remarks are for whoever goes on with the manifest.
type remarks struct{ gaps, notes []string }

func (d *description) tunes(name string) bool {
	return slices.ContainsFunc(d.params, func(p parameter) bool { return p.name == name })
}

func (d *description) has(name string) bool {
	return slices.ContainsFunc(d.args, func(a argument) bool { return a.name == name })
}

// keep has what was recorded copied into the folder, and returns the file's name there.
func (c *contents) keep(name string, r recorded) string {
	file := "data/" + name + ".npy"
	c.arrays = append(c.arrays, array{file, filepath.Join(c.recorded, filepath.Base(r.File))})
	return file
}

// lacks notes what could not be carried over of an argument.
func (r *remarks) lacks(a *argument, format string, arguments ...any) {
	a.gap = fmt.Sprintf(format, arguments...)
	r.gap("%s", a.gap)
}

type parameter struct {
	name   string
	values []space.Value
	first  space.Value
}

type size struct {
	name  string
	value int64
}

type argument struct {
	name, element string
	shape         []int64 // nil for a scalar
	value         string
	out, zeros    bool
	inout         bool
	init, symbol  string
	low, high     string // of what is drawn
	constant      string // what it is filled with
	// file has what the other tuner gave, answer what it expects; gap says what is missing.
	file, answer, gap string
}

func (r *remarks) gap(format string, arguments ...any) {
	r.gaps = append(r.gaps, strings.Join(strings.Fields(fmt.Sprintf(format, arguments...)), " "))
}

func (r *remarks) note(format string, arguments ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, arguments...))
}

func (d *description) manifest() string {
	var text strings.Builder
	line := func(format string, arguments ...any) { fmt.Fprintf(&text, format+"\n", arguments...) }
	line("# Written by pawl import from %s. docs/manifest.md describes every key.", comment(d.origin))
	for _, gap := range d.gaps {
		line("# gap: %s", comment(gap))
	}
	line("name: %s", d.name)
	line("entry: %s", quote(d.entry))
	line("source: {%s: %s}", d.backend, quote(d.source))
	if d.reference != "" {
		line("reference: {%s: %s}", d.backend, quote(d.reference))
	}
	line("params:")
	for _, p := range d.params {
		reference := ""
		if slices.Contains(d.referenceParams, p.name) {
			reference = ", reference: true"
		}
		line("  %s: {values: [%s], default: %s%s}", p.name, join(p.values, yamlValue), yamlValue(p.first), reference)
	}
	if d.objective != "" {
		line("%s", d.objective)
	}
	if len(d.constraints) > 0 {
		line("constraints:")
		for _, c := range d.constraints {
			line("  - %s", quote(c))
		}
	}
	line("workloads:\n  script: {%s}",
		join(d.sizes, func(s size) string { return fmt.Sprintf("%s: %d", s.name, s.value) }))
	line("fuzz: {} # only the script's own sizes are known to be right")
	line("args:")
	for _, a := range d.args {
		line("  - {%s}%s", a.yaml(), a.comment())
	}
	if d.backend == kernels.CUDA {
		d.launch.write(line)
	}
	if d.atol != "" {
		line("tolerance: {atol: %s, rtol: 1e-5} # as numpy.allclose has it", d.atol)
	}
	if len(d.flags) > 0 {
		line("flags: [%s]", join(d.flags, quote))
	}
	return text.String()
}

func (l launch) write(line func(string, ...any)) {
	line("launch:\n  grid: %s\n  block: %s", formulas(l.grid), formulas(l.block))
	if l.shared != "" {
		line("  shared: %s", quote(l.shared))
	}
	if l.referenceGrid != nil {
		line("  reference: {grid: %s, block: %s}", formulas(l.referenceGrid), formulas(l.referenceBlock))
	}
}

func formulas(texts []string) string {
	for len(texts) > 1 && texts[len(texts)-1] == "1" {
		texts = texts[:len(texts)-1]
	}
	return "[" + join(texts, quote) + "]"
}

func join[T any](list []T, write func(T) string) string {
	return strings.Join(collect.Each(list, write), ", ")
}

func (a argument) yaml() (text string) {
	parts := []string{"name: " + a.name, "type: " + a.element}
	if a.symbol != "" {
		parts = append(parts, "symbol: "+a.symbol)
	}
	if a.shape == nil {
		return strings.Join(append(parts, "value: "+quote(a.value)), ", ")
	}
	parts = append(parts, "shape: ["+join(a.shape, func(n int64) string { return fmt.Sprint(n) })+"]")
	if a.answer != "" {
		defer func() { text += ", answer: " + quote(a.answer) }()
	}
	if a.inout {
		parts = append(parts, "inout: true")
	}
	switch {
	case a.out && !a.inout && a.init != "":
		parts = append(parts, "out: true", "init: "+a.init)
	case a.out && !a.inout:
		parts = append(parts, "out: true")
	case a.file != "":
		parts = append(parts, "from: "+quote(a.file))
	case a.zeros:
		parts = append(parts, "fill: zeros")
	case a.constant != "":
		parts = append(parts, "fill: "+a.constant)
	case a.low != "":
		parts = append(parts, "fill: uniform", fmt.Sprintf("range: [%s, %s]", quote(a.low), quote(a.high)))
	case a.inout:
		parts = append(parts, "fill: uniform")
	}
	return strings.Join(parts, ", ")
}

func (a argument) comment() string {
	if a.gap == "" {
		return ""
	}
	return " # gap: " + comment(a.gap)
}

var plain = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_./+-]*$|^[0-9]+$`)

// quote writes a text as a scalar of YAML, in double quotes where that is safer.
func quote(text string) string {
	if plain.MatchString(text) &&
		!slices.Contains([]string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}, strings.ToLower(text)) {
		return text
	}
	return strconv.Quote(text)
}

func yamlValue(v space.Value) string {
	if v.Kind() == space.Text {
		return strconv.Quote(v.Define())
	}
	return v.String()
}

func comment(text string) string { return strings.Join(strings.Fields(text), " ") }

// elements are the manifest's names of numpy's types. The stand-in records complex numbers as
// pairs, and booleans as bytes.
var elements = map[string]string{
	"float64": "f64", "float32": "f32", "float16": "f16",
	"int64": "i64", "int32": "i32", "int16": "i16", "int8": "i8",
	"uint64": "u64", "uint32": "u32", "uint16": "u16", "uint8": "u8", "bool": "u8",
}

var (
	identifier   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	regexpNumber = regexp.MustCompile(`^-?[0-9.]+(?:[eE][-+]?[0-9]+)?$`)
)

func wordOf(name string) *regexp.Regexp {
	return regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`)
}

// value turns what another tuner had for a parameter into one of pawl's.
func value(content any) (space.Value, error) {
	switch c := content.(type) {
	case bool: // Python writes it like this, and so does its preprocessor
		return space.TextValue(map[bool]string{true: "True", false: "False"}[c]), nil
	case json.Number: // 1.0 is another text for the preprocessor than 1
		if n, err := strconv.ParseInt(c.String(), 10, 64); err == nil {
			return space.IntegerValue(n), nil
		}
		return space.TextValue(c.String()), nil
	case string:
		return space.TextValue(c), nil
	}
	return space.Value{}, fmt.Errorf("%v is no value of a parameter", content)
}

// addParameter adds a parameter with its values, all of one kind.
func (d *description) addParameter(name string, contents []any, first any) error {
	if !identifier.MatchString(name) {
		return mistake("parameter %q cannot be a macro's name", name)
	}
	p := parameter{name: name}
	integers := true
	for _, content := range append(slices.Clone(contents), first) {
		if content == nil {
			continue
		}
		v, err := value(content)
		if err != nil {
			return mistake("parameter %s: %v", name, err)
		}
		integers = integers && v.Kind() == space.Integer
		p.values = append(p.values, v)
	}
	if len(p.values) == 0 {
		return mistake("parameter %s has no values", name)
	}
	for i, v := range p.values {
		if !integers && v.Kind() == space.Integer { // 1 and 1.5 are texts for the preprocessor
			p.values[i] = space.TextValue(v.Define())
		}
	}
	p.first = p.values[0]
	if first != nil {
		p.first = p.values[len(p.values)-1]
		p.values = p.values[:len(p.values)-1]
	}
	p.values = collect.Distinct(p.values)
	d.params = append(d.params, p)
	return nil
}

// scope has the names that a formula may use.
func (d *description) scope() (*space.Scope, error) {
	kinds := map[string]space.Kind{}
	for _, p := range d.params {
		kinds[p.name] = p.first.Kind()
	}
	return space.NewScope(kinds, nil)
}

// addConstraint adds a condition that was written in pawl's words, and notes a gap where it
// cannot be evaluated as it stands.
func (d *description) addConstraint(text, original string) {
	scope, err := d.scope()
	if err == nil {
		_, err = scope.Compile(text, space.Condition)
	}
	if err != nil {
		d.gap("the restriction %s was not carried over: %v", original, err)
		return
	}
	d.constraints = append(d.constraints, text)
}
