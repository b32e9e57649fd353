package kernels

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"pawl/internal/collect"
	"pawl/kernels/arguments"
	"pawl/kernels/document"
	"pawl/space"
)

// At returns the kernel as it is called at a point: the size of scratch may depend on it.
func (k *Kernel) At(point space.Point) *Kernel {
	chosen := *k
	chosen.bound = point
	return &chosen
}

// Bind evaluates the arguments for the sizes of a problem, and the point of [Kernel.At] or the default.
func (k *Kernel) Bind(dims Dims) ([]arguments.Binding, error) {
	return k.BindFamily(dims, arguments.Declared)
}

// BindFamily is Bind with the inputs of a family.
func (k *Kernel) BindFamily(dims Dims, family string) ([]arguments.Binding, error) {
	if known := AllFamilies(); !slices.Contains(known, family) {
		return nil, fmt.Errorf("no family %q; there are %s", family, strings.Join(known, ", "))
	}
	k, err := k.For(dims)
	if err != nil {
		return nil, err
	}
	env := dims.Environment()
	if k.Arguments.Parameters() != nil {
		env.Set(cmp.Or(k.bound, k.initial))
	}
	bindings, err := k.Arguments.Bind(env, family)
	return bindings, k.unbound(dims, err)
}

// AllFamilies are the families of inputs by name: the declared one, those that checks use, and the kinds of data.
func AllFamilies() []string {
	all := append([]string{arguments.Declared}, arguments.Families...)
	return append(all, without(arguments.Kinds, all)...)
}

// Kinds are the kinds of data, beside the declared one, that the manifest does not exclude and that change at least one
// input.
func (k *Kernel) Kinds() []string {
	return collect.Where(k.Arguments.Kinds(), func(kind string) bool {
		return k.kinds == nil || slices.Contains(k.kinds, kind)
	})
}

// Families are those of the checks: what changes at least one input, kinds of data included.
func (k *Kernel) Families() []string {
	families := k.Arguments.Families()
	return append(families, without(k.Kinds(), families)...)
}

func without(names, others []string) []string {
	return collect.Where(names, func(name string) bool { return !slices.Contains(others, name) })
}

func (k *Kernel) unbound(dims Dims, err error) error {
	if unbound, ok := errors.AsType[*arguments.BindError](err); ok {
		at := dims.String()
		if unbound.Scratch {
			at += " and " + cmp.Or(k.bound, k.initial).String()
		}
		return unbound.Of(k.Name, at)
	}
	return err
}

// placeOf is the place of the argument that an error of Bind is about.
func placeOf(err error) document.Place {
	if unbound, ok := errors.AsType[*arguments.BindError](err); ok {
		return unbound.At
	}
	return document.Top
}

// ToleranceOf is the tolerance of an output: its own, or the kernel's.
func (k *Kernel) ToleranceOf(a arguments.Argument) arguments.Tolerance {
	if a.Tolerance != nil {
		return *a.Tolerance
	}
	return k.Tolerance
}
