package kernels

import (
	"fmt"
	"slices"
	"strings"
)

// Declared is the family in which every input has the fill that the manifest
// gives it. It always applies, and the workload is timed with it.
const Declared = "declared"

// The other families of inputs. A family replaces the fill of the inputs that
// take it; the others keep theirs. Each is also a fill of its own.
const (
	Normal    = "normal"    // the normal distribution
	Uniform   = "uniform"   // between -1 and 1; for integers, all of their range
	Signs     = "signs"     // -1 or 1: sums are exact
	OneHot    = "one-hot"   // a single 1 in every row
	NearTies  = "near-ties" // 1 and its nearest neighbours
	Denormals = "denormals" // half of them below the smallest normal number
	Large     = "large"     // normal numbers times the argument's large
	Overflow  = "overflow"  // parallel and antiparallel rows of eights
)

// The families of integers. All of them stay in the input's range.
const (
	Extremes = "extremes" // the ends of the range, 0, and the neighbours of these
	Powers   = "powers"   // powers of two, either sign, and their neighbours
	Small    = "small"    // from -4 to 4
	Repeated = "repeated" // hardly anything but one number
	Sorted   = "sorted"   // rising along each row
	Reversed = "reversed" // falling along each row
)

// families are all but the declared one, in the order in which they are tried.
// Overflow comes first: it finds the most. Its rows are parallel or opposite,
// so the products of two such inputs are far outside of what an exponential can
// bear, and yet their softmax is exact: 0, or one over a count. Of integers the
// extremes find the most.
var families = []string{Overflow, Extremes, Uniform, Signs, OneHot, NearTies, Denormals, Large, Normal, Powers, Small, Repeated, Sorted, Reversed}

// integerFamilies are those that integers take.
var integerFamilies = []string{Extremes, Uniform, Powers, Small, Repeated, Sorted, Reversed}

// OfIntegers reports whether only integers have a family.
func OfIntegers(family string) bool {
	return family != Uniform && slices.Contains(integerFamilies, family)
}

// isFamilyOf reports whether a type has a family at all.
func isFamilyOf(e Element, family string) bool {
	if e.Float {
		return !OfIntegers(family)
	}
	return slices.Contains(integerFamilies, family)
}

// takes reports whether an input may be filled with a family. Constants are meant,
// and keep their fill. Magnitudes of floats beyond 1 need a tolerance that was made
// for them, so they are opt-in; what an integer may be is said by its range.
func (a Argument) takes(family string) bool {
	switch {
	case a.Out || a.Value != nil || (a.Fill != Normal && a.Fill != Uniform) || !isFamilyOf(a.Element, family):
		return false
	case (family == Large || family == Overflow) && a.Large == 0:
		return false
	case a.Families != nil:
		return slices.Contains(a.Families, family)
	}
	return true
}

// Families returns the families that change at least one input of the kernel.
func (k *Kernel) Families() []string {
	var found []string
	for _, family := range families {
		if slices.ContainsFunc(k.Arguments, func(a Argument) bool { return a.takes(family) && a.Fill != family }) {
			found = append(found, family)
		}
	}
	return found
}

// BindFamily is Bind with the inputs of a family.
func (k *Kernel) BindFamily(dims Dims, family string) ([]Binding, error) {
	if family != Declared && !slices.Contains(families, family) {
		return nil, fmt.Errorf("no family %q; there are %s, %s", family, Declared, strings.Join(families, ", "))
	}
	bindings, err := k.Bind(dims)
	if err != nil {
		return nil, err
	}
	for i, a := range k.Arguments {
		if family != Declared && a.takes(family) {
			bindings[i].Fill = family
		}
	}
	return bindings, nil
}
