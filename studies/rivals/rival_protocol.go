package rivals

import (
	"cmp"
	"errors"

	"pawl/kernels/arguments"
)

// request is what a rival is asked, one line of JSON on its standard input. It answers each
// with one line on its standard output.
type request struct {
	// Folder holds the inputs, and takes the outputs.
	Folder    string           `json:"folder"`
	Workload  string           `json:"workload"`
	Sizes     map[string]int64 `json:"sizes"`
	Arguments []argument       `json:"arguments"`
	// Samples is how many times are wanted.
	Samples int `json:"samples"`
	// Caches says what a timed launch finds in a GPU's caches: cold means other buffers than
	// the launches before, more of them than the last-level cache holds.
	Caches string `json:"caches"`
	// Rest is the pause before each sample, so that no sample depends on the heat of the one
	// before.
	Rest float64 `json:"rest_ms"`
	// Outputs asks for what the timed launches have computed, in the files of the arguments
	// that are outputs.
	Outputs bool `json:"outputs"`
}

// argument is an argument of the kernel, or a field of one: a buffer in a file, or a scalar.
type argument struct {
	Name string `json:"name"`
	Type string `json:"type"`
	// Shape and File are a buffer's: raw elements in the order of the shape, the last
	// dimension first in memory.
	Shape []int64 `json:"shape,omitempty"`
	File  string  `json:"file,omitempty"`
	Out   bool    `json:"out,omitempty"`
	Value any     `json:"value,omitempty"`
}

// response is a rival's answer: times of single launches, or why there are none.
type response struct {
	Samples []float64 `json:"samples_ms"`
	// Limit says that it computes nothing: it shows what nobody can be faster than, a copy of
	// the same bytes say.
	Limit bool `json:"limit"`
	// Missing says why the rival cannot do this here.
	Missing string `json:"missing"`
}

// parts are bindings with the fields of structures in their place: rivals are given numbers only, and a rival that
// works on arrays has no structures.
func parts(bindings []arguments.Binding) (all []arguments.Binding) {
	for _, b := range bindings {
		if b.Fields == nil {
			all = append(all, b)
		}
		for _, f := range b.Fields {
			all = append(all, f.Binding)
		}
	}
	return all
}

// newArguments describes a kernel's arguments for a case.
func newArguments(bindings []arguments.Binding) (all []argument) {
	for _, b := range parts(bindings) {
		if b.Scratch { // a rival has its own
			continue
		}
		a := argument{Name: b.Name, Type: b.Type, Out: b.Out}
		switch {
		case b.IsBuffer():
			a.File, a.Shape = fileOf(b), b.Shape()
		case b.Element().Float:
			a.Value = b.Value
		default:
			a.Value = b.Integer
		}
		all = append(all, a)
	}
	return all
}

// fileOf is the name of the file that holds a buffer.
func fileOf(b arguments.Binding) string { return b.Name + ".bin" }

// leave takes a side out where an error says that it has no times. Other errors stay.
func (s *side) leave(err error) error {
	missing, ok := errors.AsType[*missingError](err)
	if !ok {
		return err
	}
	s.out(cmp.Or(missing.reason, "no reason given"))
	return nil
}
