package kernels

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"pawl/kernels/document"
	"pawl/space"
)

// Commands are the programs of a kernel that is run and not called.
type Commands struct {
	Lines
	// Timeouts are how long each may take; zero is what the command line says.
	Timeouts Timeouts
	// Definitions are the manifest's, which may stand in braces too.
	Definitions map[string]string
	// Metrics are what a run prints, in the order of the manifest.
	Metrics []Metric
}

// Lines are lists of arguments that no shell sees; a name in braces stands for a value: see CommandLine.
type Lines struct {
	// Build makes what Run needs; empty where nothing is built. Check says by its exit
	// status whether what a run has left behind is right; empty where nobody can.
	Build []string `json:"build,omitempty"`
	Run   []string `json:"run"`
	Check []string `json:"check,omitempty"`
	// Environment is added to what a program inherits, each as NAME=VALUE.
	Environment []string `json:"environment,omitempty"`
}

// At puts values into all lines.
func (l Lines) At(values map[string]string) Lines {
	return Lines{
		CommandLine(l.Build, values), CommandLine(l.Run, values), CommandLine(l.Check, values),
		CommandLine(l.Environment, values),
	}
}

// Timeouts are how long programs may take.
type Timeouts struct{ Build, Run, Check time.Duration }

// Metric is a number that a run prints. Either JSON or Match is set.
type Metric struct {
	Name string
	// JSON is the path of a field in the JSON that is printed, such as result.seconds.
	JSON string
	// Match finds the number as its only group.
	Match *regexp.Regexp
	// Unit is for people, except for those of Units, whose numbers are converted.
	Unit string
}

// The names that commands have beside parameters, sizes and definitions.
const (
	// OutFolder is a folder of the point's own, for what is built and left behind.
	OutFolder = "OUT"
	// StandardOutput is the file with what the run printed, for the check.
	StandardOutput = "STDOUT"
)

// filled is a name in braces inside an argument; with two braces it is the text itself.
var filled = regexp.MustCompile(`\{\{[A-Za-z_]\w*\}\}|\{[A-Za-z_]\w*\}`)

// CommandLine puts values into arguments: a name in braces stands for its value, and in
// two braces for itself in one. An argument of which nothing is left is left out.
func CommandLine(arguments []string, values map[string]string) []string {
	var line []string
	for _, argument := range arguments {
		if text := FillText(argument, values); text != "" || argument == "" {
			line = append(line, text)
		}
	}
	return line
}

// FillText puts values into one text.
func FillText(text string, values map[string]string) string {
	return filled.ReplaceAllStringFunc(text, func(name string) string {
		if strings.HasPrefix(name, "{{") {
			return name[1 : len(name)-1]
		}
		return values[strings.Trim(name, "{}")]
	})
}

// Mentions reports whether any of the arguments names a value.
func Mentions(arguments []string, name string) bool {
	return slices.ContainsFunc(arguments, func(argument string) bool {
		return slices.Contains(filled.FindAllString(argument, -1), "{"+name+"}")
	})
}

// Values are what the names in braces stand for at a point of a workload: parameters,
// sizes, and definitions over both.
func Values(dims Dims, point space.Point, definitions map[string]string) (map[string]string, error) {
	values, kinds, env := map[string]string{}, map[string]space.Kind{}, dims.Environment()
	env.Set(point)
	for name, size := range dims {
		values[name], kinds[name] = fmt.Sprint(size), space.Integer
	}
	for _, a := range point.Assignments() {
		values[a.Name], kinds[a.Name] = a.Value.Define(), a.Value.Kind()
	}
	scope, err := space.NewScope(kinds, definitions)
	for name, text := range definitions {
		var formula *space.Expression
		if err == nil {
			formula, err = scope.Compile(text, space.Anything)
		}
		if err == nil {
			values[name], err = formula.Text(env)
		}
	}
	return values, err
}

// commandEntry is the section of a manifest about programs.
type commandEntry struct {
	Build    []document.Scalar                  `yaml:"build"`
	Run      []document.Scalar                  `yaml:"run"`
	Check    []document.Scalar                  `yaml:"check"`
	Env      *document.Entries[document.Scalar] `yaml:"env"`
	Timeouts *timeoutsEntry                     `yaml:"timeouts"`
	Metrics  *document.Entries[metricEntry]     `yaml:"metrics"`
	Files    []document.Scalar                  `yaml:"files"`
	Keys     keys                               `yaml:",inline"`
}

type timeoutsEntry struct {
	Build document.Scalar `yaml:"build"`
	Run   document.Scalar `yaml:"run"`
	Check document.Scalar `yaml:"check"`
}

type metricEntry struct {
	JSON  document.Scalar `yaml:"json"`
	Match document.Scalar `yaml:"match"`
	Unit  document.Scalar `yaml:"unit"`
}

// commands checks the section about programs. Where another backend is asked for, it only
// says which files belong to the kernel.
func (b *builder) commands() error {
	entry := b.manifest.Command
	if entry == nil {
		return nil
	}
	for _, file := range entry.Files {
		if !filepath.IsLocal(file.Text) {
			return file.At.Errorf("file %q leaves the kernel's folder", file.Text)
		}
		b.kernel.named = append(b.kernel.named, file.Text)
	}
	for _, argument := range slices.Concat(entry.Build, entry.Run, entry.Check) {
		// What is no file of the folder is passed over when the files are read.
		if argument.Text != "" && filepath.IsLocal(argument.Text) && !filled.MatchString(argument.Text) {
			b.kernel.named = append(b.kernel.named, filepath.ToSlash(filepath.Clean(argument.Text)))
		}
	}
	if !b.on.Program {
		return nil
	}
	c := &Commands{}
	b.kernel.Commands = c
	known := append(b.commandNames(), OutFolder)
	for _, part := range []struct {
		name  string
		given []document.Scalar
		to    *[]string
		known []string
	}{
		{"build", entry.Build, &c.Build, known},
		{"run", entry.Run, &c.Run, known},
		{"check", entry.Check, &c.Check, append(slices.Clip(known), StandardOutput)},
	} {
		for _, argument := range part.given {
			if err := fillable(argument, part.name, part.known); err != nil {
				return err
			}
			*part.to = append(*part.to, argument.Text)
		}
		if part.given != nil && (len(part.given) == 0 || part.given[0].Text == "") {
			return document.Top.Errorf("command: %s is a list of a program and its arguments, and it is empty", part.name)
		}
	}
	for name, value := range entry.Env.All() {
		if !document.IsIdentifier(name.Text) {
			return name.At.Errorf("env: %q is not the name of a variable", name.Text)
		}
		if err := fillable(value, "env", known); err != nil {
			return err
		}
		c.Environment = append(c.Environment, name.Text+"="+value.Text)
	}
	if len(c.Build) > 0 && !Mentions(slices.Concat(c.Build, c.Environment), OutFolder) {
		return entry.Build[0].At.Errorf("build writes nowhere that is the point's own: points are built at the same time, "+
			"so let it write into the folder {%s}", OutFolder)
	}
	if err := b.timeouts(entry.Timeouts); err != nil {
		return err
	}
	return b.metrics(entry.Metrics)
}

// commandNames are what may stand in braces.
func (b *builder) commandNames() []string {
	names := slices.Collect(maps.Keys(b.kernel.Workloads[0].Dims))
	for _, p := range b.kernel.params {
		names = append(names, p.Name)
	}
	b.kernel.Commands.Definitions = map[string]string{}
	for name, text := range b.keys.Let.All() {
		names = append(names, name.Text)
		b.kernel.Commands.Definitions[name.Text] = text.Text
	}
	slices.Sort(names)
	return names
}

// fillable checks the names in braces inside a text.
func fillable(s document.Scalar, where string, known []string) error {
	for _, match := range filled.FindAllString(s.Text, -1) {
		name := strings.Trim(match, "{}")
		if strings.HasPrefix(match, "{{") || slices.Contains(known, name) {
			continue
		}
		return s.At.Errorf("%s: {%s} is not defined (defined: %s); write {{%s}} for the text itself", where, name,
			strings.Join(known, ", "), name)
	}
	if strings.ContainsRune(s.Text, 0) {
		return s.At.Errorf("%s: an argument cannot hold a byte that is zero", where)
	}
	return nil
}

func (b *builder) timeouts(entry *timeoutsEntry) error {
	if entry == nil {
		return nil
	}
	t := &b.kernel.Commands.Timeouts
	for _, part := range []struct {
		given document.Scalar
		to    *time.Duration
	}{{entry.Build, &t.Build}, {entry.Run, &t.Run}, {entry.Check, &t.Check}} {
		if part.given.Text == "" {
			continue
		}
		allowed, err := time.ParseDuration(part.given.Text)
		if err != nil || allowed <= 0 {
			return part.given.At.Errorf("timeouts: %q is no time such as 30s or 5m", part.given.Text)
		}
		*part.to = allowed
	}
	return nil
}

func (b *builder) metrics(given *document.Entries[metricEntry]) error {
	for name, entry := range given.All() {
		m := Metric{Name: name.Text, JSON: entry.JSON.Text, Unit: entry.Unit.Text}
		switch {
		case !document.IsIdentifier(m.Name):
			return name.At.Errorf("metrics: %q is not a name", m.Name)
		case (m.JSON == "") == (entry.Match.Text == ""):
			return name.At.Errorf("metric %s needs either json, the path of a field that the run prints, or match, a regular "+
				"expression with one group", m.Name)
		}
		if entry.Match.Text != "" {
			found, err := regexp.Compile(entry.Match.Text)
			if err != nil {
				return entry.Match.At.Errorf("metric %s: %s", m.Name, err)
			}
			if found.NumSubexp() != 1 {
				return entry.Match.At.Errorf("metric %s: the expression has %d groups in brackets; exactly one says which part "+
					"is the number", m.Name, found.NumSubexp())
			}
			m.Match = found
		}
		b.kernel.Commands.Metrics = append(b.kernel.Commands.Metrics, m)
	}
	return nil
}
