// Package policy reads the gate's policy file: which kernels and workloads are
// gated, and by which limits.
//
// The file is small and read strictly: an unknown key, a share out of range or an
// analysis that could show nothing is an error with file, line, column and the
// offending text. A policy begins from a preset; the file's own keys replace the
// preset's, and a kernel's keys replace the file's.
package policy

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"pawl/gate"
	"pawl/internal/collect"
	"pawl/kernels"
	"pawl/kernels/document"
)

// FileName is the policy that is used where none is named.
const FileName = "gate.yaml"

// File is a policy file.
type File struct {
	// Kernels are in the order of the file.
	Kernels []Kernel
	// Profile are the verdicts that make a configuration worth profiling.
	Profile []gate.Verdict
	// Programs are gated where there is a base to compare with.
	Programs []Program
	// Shards is how many jobs share the configurations; 0 is one. Programs belong to the first.
	Shards int
}

// Program is a program whose rows are gated.
type Program struct {
	// Name is what reports call it. Line and Build are lines for the shell, and Build may be empty.
	Name, Line, Build string
	// Rows says which rows are compared; nil means all.
	Rows *regexp.Regexp
	// Rounds is how many are measured, 0 where the file does not say.
	Rounds int
	// Within is the time for all of it, 0 where the file does not say.
	Within time.Duration
	Policy gate.Policy
}

// Kernel is what is gated of one kernel.
type Kernel struct {
	// Name is an embedded kernel or a folder.
	Name string
	// Workloads are names in the manifest; none means the manifest's first.
	Workloads []string
	// At is a partial point; empty means the manifest's defaults.
	At string
	// Backend is where it runs; empty leaves that to the command line.
	Backend string
	Policy  gate.Policy
}

// profiled are the verdicts that a profiler can explain, and what a file without the key says.
var profiled = []gate.Verdict{gate.Regression, gate.Improvement}

// Default returns the policy for kernels that are named on the command line.
func Default(names ...string) *File {
	return &File{Profile: profiled, Kernels: collect.Each(names, func(name string) Kernel {
		return Kernel{Name: name, Policy: gate.Presets[gate.DefaultPreset]}
	})}
}

// Of returns the policy of some of the kernels; missing is the first name that the
// file does not gate.
func (f *File) Of(names []string) (chosen *File, missing string) {
	chosen = &File{Profile: f.Profile}
	for _, name := range names {
		named := func(k Kernel) bool { return filepath.Clean(k.Name) == filepath.Clean(name) }
		found := collect.Where(f.Kernels, named)
		if len(found) == 0 {
			return nil, name
		}
		chosen.Kernels = append(chosen.Kernels, found...)
	}
	return chosen, ""
}

// Configurations are the kernels with one workload each.
func (f *File) Configurations() (all []Kernel) {
	for _, k := range f.Kernels {
		if len(k.Workloads) == 0 {
			all = append(all, k)
		}
		for _, workload := range k.Workloads {
			one := k
			one.Workloads = []string{workload}
			all = append(all, one)
		}
	}
	return all
}

// Jobs is how many jobs there is work for.
func (f *File) Jobs() int { return max(1, min(f.Shards, len(f.Configurations()))) }

// At returns the policy for one workload or one point instead of the file's own; empty
// leaves the file's.
func (f *File) At(workload, point string) *File {
	changed := &File{Profile: f.Profile, Shards: f.Shards}
	if workload == "" && point == "" {
		changed.Programs = f.Programs
	}
	for _, k := range f.Kernels {
		if workload != "" {
			k.Workloads = []string{workload}
		}
		if point != "" {
			k.At = point
		}
		changed.Kernels = append(changed.Kernels, k)
	}
	return changed
}

// Read reads a policy file.
func Read(path string) (*File, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the policy: %w", err)
	}
	return Parse(path, content)
}

// Parse reads the text of a policy file; the path is for messages.
func Parse(path string, content []byte) (*File, error) {
	var written policyFile
	err := document.Decode(content, "policy", &written)
	if err == nil {
		var f *File
		if f, err = written.build(); err == nil {
			return f, nil
		}
	}
	return nil, document.Locate(path, content, err)
}

// policyFile is the file as written.
type policyFile struct {
	Keys     limits         `yaml:",inline"`
	Kernels  []entry        `yaml:"kernels"`
	Programs []programEntry `yaml:"programs"`
	Profile  []scalar       `yaml:"profile"`
	Shards   scalar         `yaml:"shards"`
}

// programEntry is a program as written.
type programEntry struct {
	Program scalar `yaml:"program"`
	Name    scalar `yaml:"name"`
	Build   scalar `yaml:"build"`
	Rows    scalar `yaml:"rows"`
	Keys    limits `yaml:",inline"`
}

func (e programEntry) build(common gate.Policy) (p Program, err error) {
	p = Program{Name: cmp.Or(e.Name.Text, e.Program.Text), Line: e.Program.Text, Build: e.Build.Text}
	if p.Line == "" {
		return p, fmt.Errorf("a program without a command: each entry needs program: COMMAND")
	}
	if e.Rows.Given() {
		if p.Rows, err = regexp.Compile(e.Rows.Text); err != nil {
			return p, e.Rows.At.Errorf("rows is no regular expression: %s", err)
		}
	}
	if len(e.Keys.Rounds) > 1 {
		return p, e.Keys.Rounds[1].At.Errorf("rounds of a program is one number: it has one analysis")
	}
	// A comparison of one row has a budget and analyses that mean nothing here.
	own := e.Keys
	own.Rounds, own.Budget = nil, scalar{}
	if p.Policy, err = own.over(common); err != nil {
		return p, err
	}
	for _, rounds := range e.Keys.Rounds {
		if err := whole(&p.Rounds)(rounds.Text); err != nil {
			return p, rounds.At.Errorf("rounds: %s", err)
		}
	}
	if e.Keys.Budget.Given() {
		if err := duration(&p.Within)(e.Keys.Budget.Text); err != nil {
			return p, e.Keys.Budget.At.Errorf("budget: %s", err)
		}
	}
	return p, nil
}

// entry is a kernel as written.
type entry struct {
	Kernel    scalar   `yaml:"kernel"`
	Workloads []scalar `yaml:"workloads"`
	At        scalar   `yaml:"at"`
	Backend   scalar   `yaml:"backend"`
	Keys      limits   `yaml:",inline"`
}

func (d *policyFile) build() (*File, error) {
	f := &File{Profile: profiled}
	if d.Profile != nil {
		f.Profile = nil
	}
	for _, name := range d.Profile {
		verdict := gate.Verdict(name.Text)
		if !slices.Contains(profiled, verdict) {
			return nil, name.At.Errorf("no verdict %q to profile after; there are %s and %s", verdict, profiled[0], profiled[1])
		}
		f.Profile = append(f.Profile, verdict)
	}
	if d.Shards.Given() {
		if err := whole(&f.Shards)(d.Shards.Text); err != nil {
			return nil, d.Shards.At.Errorf("shards: %s", err)
		}
	}
	common, err := d.Keys.over(gate.Presets[gate.DefaultPreset])
	if err != nil {
		return nil, err
	}
	if len(d.Kernels)+len(d.Programs) == 0 {
		return nil, fmt.Errorf("kernels is missing: name at least one, such as kernels: [{kernel: attention}]")
	}
	for _, e := range d.Kernels {
		k, err := e.build(common)
		if err != nil {
			return nil, err
		}
		f.Kernels = append(f.Kernels, k)
	}
	for _, e := range d.Programs {
		p, err := e.build(common)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(f.Programs, func(other Program) bool { return other.Name == p.Name }) {
			return nil, e.Program.At.Errorf("two programs are called %s: give each a name", p.Name)
		}
		f.Programs = append(f.Programs, p)
	}
	return f, nil
}

func (e entry) build(common gate.Policy) (Kernel, error) {
	k := Kernel{Name: e.Kernel.Text, At: e.At.Text}
	if k.Name == "" {
		return k, fmt.Errorf("a kernel without a name: each entry needs kernel: NAME or kernel: ./FOLDER")
	}
	if k.Backend = e.Backend.Text; k.Backend != "" && kernels.BackendOf(k.Backend).Name == "" {
		return k, e.Backend.At.Errorf("no backend %q; there are %s", k.Backend, kernels.BackendNames())
	}
	for _, w := range e.Workloads {
		if slices.Contains(k.Workloads, w.Text) {
			return k, w.At.Errorf("workload %s is listed twice", w.Text)
		}
		k.Workloads = append(k.Workloads, w.Text)
	}
	var err error
	k.Policy, err = e.Keys.over(common)
	return k, err
}
