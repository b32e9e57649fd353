package kernels

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

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
	if family != arguments.Declared && !slices.Contains(arguments.Families, family) {
		return nil,
			fmt.Errorf("no family %q; there are %s, %s", family, arguments.Declared, strings.Join(arguments.Families, ", "))
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
