package arguments

import (
	"pawl/kernels/document"

	"github.com/goccy/go-yaml/ast"
)

// Entry is an argument as the manifest has it.
type Entry struct {
	Name     document.Scalar   `yaml:"name"`
	Type     document.Scalar   `yaml:"type"`
	Shape    []document.Scalar `yaml:"shape"`
	Fill     fillEntry         `yaml:"fill"`
	From     document.Scalars  `yaml:"from"`
	Answer   document.Scalars  `yaml:"answer"`
	Families []document.Scalar `yaml:"families"`
	Large    document.Scalar   `yaml:"large"`
	Range    []document.Scalar `yaml:"range"`
	// RoleEntry is in role.go.
	RoleEntry `yaml:",inline"`
	Tolerance *ToleranceEntry `yaml:"tolerance"`
	Texture   ast.Node        `yaml:"texture"`
	// Fields make a structure of it: see c_structs.go.
	Fields []Entry         `yaml:"fields"`
	Value  document.Scalar `yaml:"value"`
	Align  document.Scalar `yaml:"align"`
	// TensorMap is for buffers that a kernel takes as a descriptor.
	TensorMap *TensorMapEntry `yaml:"tensormap"`
}

// ToleranceEntry is a tolerance as the manifest has it.
type ToleranceEntry struct {
	Absolute document.Scalar `yaml:"atol"`
	Relative document.Scalar `yaml:"rtol"`
}
