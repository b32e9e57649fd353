package kernels

import (
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// manifest is the file kernel.yaml as written. Its top-level keys hold for
// every backend; a backend's own section replaces them key by key.
type manifest struct {
	Name    scalar  `yaml:"name"`
	Summary scalar  `yaml:"summary"`
	Source  sources `yaml:"source"`
	// Reference is the plain implementation that results are checked against.
	Reference sources  `yaml:"reference"`
	Naive     sources  `yaml:"naive"`
	Keys      keys     `yaml:",inline"`
	Host      *section `yaml:"host"`
	CUDA      *section `yaml:"cuda"`
	// Command is for kernels that are programs of their own.
	Command *commandEntry `yaml:"command"`
}

// keys are what the top level and a backend's section share.
type keys struct {
	Entry       scalar               `yaml:"entry"`
	Params      *entries[paramEntry] `yaml:"params"`
	Constraints []scalar             `yaml:"constraints"`
	Let         *entries[scalar]     `yaml:"let"`
	Workloads   *entries[dimsEntry]  `yaml:"workloads"`
	Launch      *launchEntry         `yaml:"launch"`
	Args        []argEntry           `yaml:"args"`
	Fuzz        *entries[[]scalar]   `yaml:"fuzz"`
	Domain      []scalar             `yaml:"domain"`
	Tolerance   *toleranceEntry      `yaml:"tolerance"`
	Work        *workEntry           `yaml:"work"`
	Flags       []scalar             `yaml:"flags"`
	Rivals      *entries[[]scalar]   `yaml:"rivals"`
	// Defines are compile-time constants computed from the dimensions.
	Defines *entries[scalar] `yaml:"defines"`
	// Minimize and Maximize say what is compared, Require what must hold of what was measured.
	Minimize *oneOrMore `yaml:"minimize"`
	Maximize scalar     `yaml:"maximize"`
	Require  []scalar   `yaml:"require"`
	// ArchSpecific is true, or the one architecture that the kernel is for.
	ArchSpecific scalar `yaml:"arch_specific"`
}

type section struct {
	Source    scalar `yaml:"source"`
	Reference scalar `yaml:"reference"`
	Naive     scalar `yaml:"naive"`
	Keys      keys   `yaml:",inline"`
}

type paramEntry struct {
	Values  []scalar `yaml:"values"`
	Default scalar   `yaml:"default"`
	Ordered *bool    `yaml:"ordered"`
	// Reference says that the result depends on it: the reference is given its value too.
	Reference bool `yaml:"reference"`
}

// dimsEntry is a workload: a size for every dimension.
type dimsEntry struct{ entries[scalar] }

// UnmarshalYAML decodes the sizes in order.
func (d *dimsEntry) UnmarshalYAML(node ast.Node) error { return d.entries.UnmarshalYAML(node) }

// launchEntry is one launch, or a list of those that follow each other.
type launchEntry struct {
	steps []stepEntry
	// reference is how the reference is launched; nil where nothing is said.
	reference *gridEntry
	// list says that it was written as one.
	list bool
	at   position
}

type stepEntry struct {
	Entry     scalar     `yaml:"entry"`
	Args      []scalar   `yaml:"args"`
	Grid      []scalar   `yaml:"grid"`
	Block     []scalar   `yaml:"block"`
	Shared    scalar     `yaml:"shared"`
	Threads   scalar     `yaml:"threads"`
	Reference *gridEntry `yaml:"reference"`

	at position
}

type gridEntry struct {
	Grid   []scalar `yaml:"grid"`
	Block  []scalar `yaml:"block"`
	Shared scalar   `yaml:"shared"`
}

type argEntry struct {
	Name     scalar    `yaml:"name"`
	Type     scalar    `yaml:"type"`
	Shape    []scalar  `yaml:"shape"`
	Fill     fillEntry `yaml:"fill"`
	From     fileNames `yaml:"from"`
	Answer   fileNames `yaml:"answer"`
	Families []scalar  `yaml:"families"`
	Large    scalar    `yaml:"large"`
	Range    []scalar  `yaml:"range"`
	Out      bool      `yaml:"out"`
	// Inout, Init, Scratch, Symbol and Tolerance: see argument_role.go.
	Inout     bool            `yaml:"inout"`
	Init      scalar          `yaml:"init"`
	Scratch   bool            `yaml:"scratch"`
	Symbol    scalar          `yaml:"symbol"`
	Tolerance *toleranceEntry `yaml:"tolerance"`
	Texture   ast.Node        `yaml:"texture"`
	Value     scalar          `yaml:"value"`
	Align     scalar          `yaml:"align"`
	// TensorMap is for buffers that a kernel takes as a descriptor.
	TensorMap *tensorMapEntry `yaml:"tensormap"`
}

type toleranceEntry struct {
	Absolute *float64 `yaml:"atol"`
	Relative *float64 `yaml:"rtol"`
	Derived  float64  `yaml:"derived"`
}

type workEntry struct {
	Flops scalar `yaml:"flops"`
	Bytes scalar `yaml:"bytes"`
}

// sources names a file for every backend, or one per backend.
type sources struct {
	every     scalar
	byBackend *entries[scalar]
}

// UnmarshalYAML accepts a file name or a mapping from backend to file name.
func (s *sources) UnmarshalYAML(node ast.Node) error {
	switch node.(type) {
	case *ast.SequenceNode:
		return positionOf(node).errorf("a kernel has one source, which is compiled as one unit: name the file with the entry, and include the others in it (#include \"other.cu\")")
	case *ast.MappingNode, *ast.MappingValueNode:
		s.byBackend = &entries[scalar]{}
		if err := s.byBackend.UnmarshalYAML(node); err != nil {
			return err
		}
		for _, key := range s.byBackend.keys {
			if key.text != Host && key.text != CUDA {
				return key.at.errorf("unknown backend %q; there are %s and %s", key.text, Host, CUDA)
			}
		}
		return nil
	}
	return s.every.UnmarshalYAML(node)
}

func (s sources) of(backend string) scalar {
	for key, file := range s.byBackend.all() {
		if key.text == backend {
			return file
		}
	}
	return s.every
}

// sourceOf is of for what is compiled: one name for every backend is that of those whose
// compiler takes it, a .cu file CUDA's and one in C or C++ the host's.
func (s sources) sourceOf(backend string) scalar {
	file := s.of(backend)
	if s.byBackend != nil {
		return file
	}
	suffix := strings.ToLower(path.Ext(file.text))
	forHost := suffix == ".c" || slices.Contains(CPlusPlusSuffixes, suffix)
	if suffix == ".cu" && backend == Host || forHost && backend == CUDA {
		return scalar{}
	}
	return file
}

// forBackend returns the keys that hold for one backend.
func (m *manifest) forBackend(backend string) section {
	merged := section{Source: m.Source.sourceOf(backend), Reference: m.Reference.of(backend), Naive: m.Naive.of(backend), Keys: m.Keys}
	if backend == Command {
		merged.Source, merged.Reference, merged.Naive = scalar{}, scalar{}, scalar{}
		if m.Command != nil {
			override(reflect.ValueOf(&merged.Keys).Elem(), reflect.ValueOf(m.Command.Keys))
		}
		return merged
	}
	own := m.Host
	if backend == CUDA {
		own = m.CUDA
	}
	if own == nil {
		return merged
	}
	override(reflect.ValueOf(&merged).Elem(), reflect.ValueOf(*own))
	return merged
}

// override replaces the fields that a section gives.
func override(to, from reflect.Value) {
	for i := range from.NumField() {
		switch given := from.Field(i).Interface().(type) {
		case keys:
			override(to.Field(i), from.Field(i))
		case scalar:
			if given.text != "" {
				to.Field(i).Set(from.Field(i))
			}
		default:
			if !from.Field(i).IsNil() {
				to.Field(i).Set(from.Field(i))
			}
		}
	}
}
