package kernels

import (
	"bytes"
	"fmt"
	"io"

	"github.com/goccy/go-yaml"
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
	// Defines are compile-time constants computed from the dimensions.
	Defines *entries[scalar] `yaml:"defines"`
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
}

// dimsEntry is a workload: a size for every dimension.
type dimsEntry struct{ entries[scalar] }

// UnmarshalYAML decodes the sizes in order.
func (d *dimsEntry) UnmarshalYAML(node ast.Node) error { return d.entries.UnmarshalYAML(node) }

type launchEntry struct {
	Grid      []scalar   `yaml:"grid"`
	Block     []scalar   `yaml:"block"`
	Shared    scalar     `yaml:"shared"`
	Threads   scalar     `yaml:"threads"`
	Reference *gridEntry `yaml:"reference"`
}

type gridEntry struct {
	Grid   []scalar `yaml:"grid"`
	Block  []scalar `yaml:"block"`
	Shared scalar   `yaml:"shared"`
}

type argEntry struct {
	Name     scalar   `yaml:"name"`
	Type     scalar   `yaml:"type"`
	Shape    []scalar `yaml:"shape"`
	Fill     scalar   `yaml:"fill"`
	Families []scalar `yaml:"families"`
	Large    scalar   `yaml:"large"`
	Range    []scalar `yaml:"range"`
	Out      bool     `yaml:"out"`
	Value    scalar   `yaml:"value"`
	Align    scalar   `yaml:"align"`
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
	if s.byBackend != nil {
		for i, key := range s.byBackend.keys {
			if key.text == backend {
				return s.byBackend.values[i]
			}
		}
	}
	return s.every
}

// decode reads a manifest strictly. The library's panics on hostile input
// become errors: a manifest is somebody else's text.
func decode(content []byte) (m *manifest, err error) {
	defer func() {
		if problem := recover(); problem != nil {
			m, err = nil, fmt.Errorf("not valid YAML: %v", problem)
		}
	}()
	m = &manifest{}
	decoder := yaml.NewDecoder(bytes.NewReader(content), yaml.Strict())
	if err := decoder.Decode(m); err != nil {
		if err == io.EOF {
			return nil, fmt.Errorf("the manifest is empty")
		}
		return nil, err
	}
	var second any
	if err := decoder.Decode(&second); err != io.EOF {
		return nil, fmt.Errorf("more than one document in the file")
	}
	return m, nil
}

// forBackend returns the keys that hold for one backend.
func (m *manifest) forBackend(backend string) section {
	merged := section{Source: m.Source.of(backend), Reference: m.Reference.of(backend), Naive: m.Naive.of(backend), Keys: m.Keys}
	own := m.Host
	if backend == CUDA {
		own = m.CUDA
	}
	if own == nil {
		return merged
	}
	replace(&merged.Source, own.Source, own.Source.text != "")
	replace(&merged.Reference, own.Reference, own.Reference.text != "")
	replace(&merged.Naive, own.Naive, own.Naive.text != "")
	to, from := &merged.Keys, own.Keys
	replace(&to.Entry, from.Entry, from.Entry.text != "")
	replace(&to.Params, from.Params, from.Params != nil)
	replace(&to.Constraints, from.Constraints, from.Constraints != nil)
	replace(&to.Let, from.Let, from.Let != nil)
	replace(&to.Workloads, from.Workloads, from.Workloads != nil)
	replace(&to.Launch, from.Launch, from.Launch != nil)
	replace(&to.Args, from.Args, from.Args != nil)
	replace(&to.Fuzz, from.Fuzz, from.Fuzz != nil)
	replace(&to.Domain, from.Domain, from.Domain != nil)
	replace(&to.Tolerance, from.Tolerance, from.Tolerance != nil)
	replace(&to.Work, from.Work, from.Work != nil)
	replace(&to.Flags, from.Flags, from.Flags != nil)
	replace(&to.Defines, from.Defines, from.Defines != nil)
	replace(&to.ArchSpecific, from.ArchSpecific, from.ArchSpecific.text != "")
	return merged
}

func replace[T any](target *T, value T, given bool) {
	if given {
		*target = value
	}
}
