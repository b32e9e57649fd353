package kernels

import (
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"pawl/internal/collect"
	"pawl/kernels/arguments"
	"pawl/kernels/document"
)

// manifest is the file kernel.yaml as written. Its top-level keys hold for
// every backend; a backend's own section replaces them key by key.
type manifest struct {
	Name    document.Scalar `yaml:"name"`
	Summary document.Scalar `yaml:"summary"`
	Source  sources         `yaml:"source"`
	// Reference is the plain implementation that results are checked against.
	Reference sources  `yaml:"reference"`
	Keys      keys     `yaml:",inline"`
	Host      *section `yaml:"host"`
	CUDA      *section `yaml:"cuda"`
	// Command is for kernels that are programs of their own.
	Command *commandEntry `yaml:"command"`
}

// keys are what the top level and a backend's section share.
type keys struct {
	Entry  document.Scalar               `yaml:"entry"`
	Params *document.Entries[paramEntry] `yaml:"params"`
	// Start are points that a search tries first. What one does not name has its default.
	Start       []document.Entries[document.Scalar]  `yaml:"start"`
	Constraints []document.Scalar                    `yaml:"constraints"`
	Let         *document.Entries[document.Scalar]   `yaml:"let"`
	Workloads   *document.Entries[dimsEntry]         `yaml:"workloads"`
	Launch      *launchEntry                         `yaml:"launch"`
	Args        []arguments.Entry                    `yaml:"args"`
	Fuzz        *document.Entries[[]document.Scalar] `yaml:"fuzz"`
	Domain      []document.Scalar                    `yaml:"domain"`
	// Kinds are the kinds of data that may occur.
	Kinds     []document.Scalar         `yaml:"kinds"`
	Tolerance *arguments.ToleranceEntry `yaml:"tolerance"`
	Work      *workEntry                `yaml:"work"`
	Flags     []document.Scalar         `yaml:"flags"`
	// Compile makes an object of the source, in the place of the C compiler.
	Compile []document.Scalar                    `yaml:"compile"`
	Include []document.Scalar                    `yaml:"include"`
	Rivals  *document.Entries[[]document.Scalar] `yaml:"rivals"`
	// Defines are compile-time constants computed from the dimensions.
	Defines  *document.Entries[document.Scalar] `yaml:"defines"`
	Compared comparedKeys                       `yaml:",inline"`
	// ArchSpecific is true, or the one architecture that the kernel is for.
	ArchSpecific document.Scalar `yaml:"arch_specific"`
}

// comparedKeys say what points are compared by, and what must hold of what was measured.
type comparedKeys struct {
	Minimize document.Scalars  `yaml:"minimize"`
	Maximize document.Scalar   `yaml:"maximize"`
	Require  []document.Scalar `yaml:"require"`
}

type section struct {
	Source    sourceFiles `yaml:"source"`
	Reference sourceFiles `yaml:"reference"`
	Keys      keys        `yaml:",inline"`
}

type paramEntry struct {
	Values valueList `yaml:"values"`
	// More are values that only a wide search tries.
	More    *valueList      `yaml:"more"`
	Default document.Scalar `yaml:"default"`
	Ordered *bool           `yaml:"ordered"`
	// Reference says that the result depends on it: the reference is given its value too.
	Reference bool `yaml:"reference"`
}

// dimsEntry is a workload: a size for every dimension.
type dimsEntry = document.Entries[document.Scalar]

// launchEntry is one launch, or a list of those that follow each other.
type launchEntry struct {
	steps []stepEntry
	// reference is how the reference is launched; nil where nothing is said.
	reference *gridEntry
	// list says that it was written as one.
	list bool
	at   document.Place
}

type stepEntry struct {
	Entry     document.Scalar   `yaml:"entry"`
	Args      []document.Scalar `yaml:"args"`
	Grid      []document.Scalar `yaml:"grid"`
	Block     []document.Scalar `yaml:"block"`
	Shared    document.Scalar   `yaml:"shared"`
	Threads   document.Scalar   `yaml:"threads"`
	Reference *gridEntry        `yaml:"reference"`

	at document.Place
}

type gridEntry struct {
	Grid   []document.Scalar `yaml:"grid"`
	Block  []document.Scalar `yaml:"block"`
	Shared document.Scalar   `yaml:"shared"`
}

type workEntry struct {
	Flops document.Scalar `yaml:"flops"`
	Bytes document.Scalar `yaml:"bytes"`
}

// sources names a file for every backend, or one per backend.
type sources struct {
	every     sourceFiles
	byBackend *document.Entries[sourceFiles]
}

// sourceFiles is the name of a file, or a list: the file with the entry, and others that are
// compiled on their own and linked with it.
type sourceFiles struct {
	document.Scalar
	units []document.Scalar
	key   string // that it stands under; empty where there is none
}

// UnmarshalYAML accepts a file name or a list of them.
func (f *sourceFiles) UnmarshalYAML(node ast.Node) error {
	list, ok := node.(*ast.SequenceNode)
	if !ok {
		return f.Scalar.UnmarshalYAML(node)
	}
	names, err := document.ReadList(list, "expected the name of a file")
	switch {
	case err != nil:
		return err
	case len(names) == 0 || names[0].Text == "":
		return document.PlaceOf(node).Errorf("expected the name of a file, that with the entry first")
	}
	f.Scalar, f.units = names[0], names[1:]
	return nil
}

// UnmarshalYAML accepts files, or a mapping from backend to files.
func (s *sources) UnmarshalYAML(node ast.Node) error {
	switch node.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		s.byBackend = &document.Entries[sourceFiles]{}
		if err := s.byBackend.UnmarshalYAML(node); err != nil {
			return err
		}
		known := []string{pythonKey}
		for _, b := range Backends {
			for _, l := range b.Languages {
				known = append(known, l.Key)
			}
		}
		for _, key := range s.byBackend.Keys {
			if !slices.Contains(known, key.Text) {
				return key.At.Errorf("unknown backend %q; there are %s", key.Text, strings.Join(known, ", "))
			}
		}
		return nil
	}
	return s.every.UnmarshalYAML(node)
}

func (s sources) names(key string) bool {
	_, named := s.byBackend.Get(key)
	return named
}

// of returns the files of a backend, by the first key that there is.
func (s sources) of(backend Backend, more ...string) sourceFiles {
	keys := collect.Each(backend.Languages, func(l Language) string { return l.Key })
	for _, name := range append(keys, more...) {
		if file, there := s.byBackend.Get(name); there {
			file.key = name
			return file
		}
	}
	return s.every
}

// sourceOf is of for what is compiled: one name for every backend is that of those whose
// compilers read it, and of all where none says that it does.
func (s sources) sourceOf(backend Backend) sourceFiles {
	file := s.of(backend)
	if s.byBackend == nil && !backend.Takes(file.Text) &&
		slices.ContainsFunc(Backends, func(other Backend) bool { return other.Takes(file.Text) }) {
		return sourceFiles{}
	}
	return file
}

// forBackend returns the keys that hold for one backend.
func (m *manifest) forBackend(backend Backend) section {
	merged := section{Keys: m.Keys}
	if !backend.Program {
		merged.Source, merged.Reference = m.Source.sourceOf(backend), m.Reference.of(backend, pythonKey)
	}
	if own := backend.section(m); own != nil {
		override(reflect.ValueOf(&merged).Elem(), reflect.ValueOf(*own))
	}
	return merged
}

func (m *manifest) has(backend Backend) bool {
	if backend.Program {
		return m.Command != nil && len(m.Command.Run) > 0
	}
	return m.forBackend(backend).Source.Text != ""
}

// override replaces the fields that a section gives.
func override(to, from reflect.Value) {
	for i := range from.NumField() {
		given := false
		switch value := from.Field(i).Interface().(type) {
		case keys, comparedKeys:
			override(to.Field(i), from.Field(i))
		case document.Scalar:
			given = value.Text != ""
		case sourceFiles:
			given = value.Text != ""
		default:
			given = !from.Field(i).IsNil()
		}
		if given {
			to.Field(i).Set(from.Field(i))
		}
	}
}
