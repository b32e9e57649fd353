package arguments

import (
	"slices"

	"pawl/internal/collect"
	"pawl/space"
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
	NearTies  = "near-ties" // 1 and its nearest neighbors
	Denormals = "denormals" // half of them below the smallest normal number
	Large     = "large"     // normal numbers times the argument's large
	Overflow  = "overflow"  // parallel and antiparallel rows of eights
	Special   = "special"   // infinities and NaN among normal numbers
)

// The families of integers. All of them stay in the input's range.
const (
	Extremes = "extremes" // the ends of the range, 0, and the neighbors of these
	Powers   = "powers"   // powers of two, either sign, and their neighbors
	Small    = "small"    // from -4 to 4
	Repeated = "repeated" // hardly anything but one number
	Sorted   = "sorted"   // rising along each row
	Reversed = "reversed" // falling along each row
)

// The families of row pointers.
const (
	EmptyRows = "empty-rows" // half of the rows are empty, the first and the last among them
	OneRow    = "one-row"    // one row has everything
	EvenRows  = "even-rows"  // all rows are of one length, or nearly
)

// Families are all but the declared one, in the order in which they are tried.
// Overflow comes first: it finds the most. Its rows are parallel or opposite,
// so the products of two such inputs are far outside of what an exponential can
// bear, and yet their softmax is exact: 0, or one over a count. Of integers the
// extremes find the most.
var Families = []string{Overflow, EmptyRows, OneRow, Extremes, Uniform, Signs, OneHot, NearTies, Denormals, Large,
	Normal, Powers, Small, Repeated, Sorted, Reversed, EvenRows, Special}

// integerFamilies are those that integers take.
var integerFamilies = []string{Extremes, Uniform, Powers, Small, Repeated, Sorted, Reversed}

// structured are the families of inputs with a structure. Each has a form that keeps it:
// what was sorted stays sorted, and columns stay inside of their rows.
var structured = map[string][]string{
	Sorted: {Extremes, Repeated}, Reversed: {Extremes, Repeated}, OneHot: {Extremes, Repeated},
	Permutation: {Sorted, Reversed},
	RowPointers: {EmptyRows, OneRow, EvenRows}, Columns: {Extremes, Repeated},
}

// boundedFamilies are those that floats take which have a range: they stay in it.
var boundedFamilies = []string{Extremes, Uniform, Normal, Repeated, Sorted, Reversed}

// constants are the fills that are meant as they are.
var constants = []string{"ones", "zeros", Initial, ConstantFill, FormulaFill, FromFile}

// OfIntegers reports whether only integers have a family.
func OfIntegers(family string) bool {
	return family != Uniform && slices.Contains(integerFamilies, family) ||
		slices.Contains(structured[RowPointers], family)
}

// available are the families that an input may take.
func (a Argument) available() []string {
	kind := a.Fill
	if a.structure != nil {
		kind = a.structure.kind
	}
	switch own, known := structured[kind]; {
	case a.Written() && !a.Inout || a.Shape == nil || a.Fields != nil ||
		slices.Contains(constants, a.Fill) && a.from == nil:
		return nil
	case kind == Columns && a.structure.distinct:
		return []string{Extremes} // all others repeat
	case known:
		return own
	case !a.Element.Float:
		return integerFamilies
	case a.Low != nil:
		return boundedFamilies
	}
	return slices.DeleteFunc(slices.Clone(Families), OfIntegers)
}

// takes reports whether an input may be filled with a family. Constants and files are
// meant, and keep their content unless the manifest says otherwise. Magnitudes of floats
// beyond 1 need a tolerance that was made for them, and what is no number a reference that was, so they are opt-in;
// what an integer may be is said by its range.
func (a Argument) takes(family string) bool {
	switch {
	case !slices.Contains(a.available(), family):
		return false
	case (family == Large || family == Overflow) && a.Large == 0:
		return false
	case a.Families != nil:
		return slices.Contains(a.Families, family)
	}
	return a.from == nil && family != Special
}

// Unscaled reports whether magnitudes of an input are never raised, because nobody says by how much.
func (a Argument) Unscaled() bool {
	return a.Large == 0 && a.Families == nil && slices.Contains(a.available(), Large)
}

// changes reports whether a family gives an input another content than its own.
func (a Argument) changes(family string) bool {
	return a.takes(family) && a.Fill != family ||
		slices.ContainsFunc(a.Fields, func(f Argument) bool { return f.changes(family) })
}

// DrawnFromAll reports whether an input may be any integer of its type.
func (a Argument) DrawnFromAll() bool {
	if a.Fields != nil {
		return slices.ContainsFunc(a.Fields, Argument.DrawnFromAll)
	}
	return !a.Written() && a.Value == nil && !a.Element.Float && a.Low == nil && a.structure == nil &&
		!slices.Contains(constants, a.Fill)
}

// fixed reports whether an input holds the same for every seed.
func (a Argument) fixed() bool {
	if a.Fields != nil {
		return !slices.ContainsFunc(a.Fields, func(f Argument) bool { return !f.fixed() })
	}
	random := a.Fill == FormulaFill && slices.Contains(a.structure.formula.Names(), space.RandomName)
	return slices.Contains(constants, a.Fill) && !random
}

// Drawn names the inputs that another seed gives other numbers.
func (l List) Drawn() (names []string) {
	for _, a := range l {
		if (!a.Written() || a.Inout) && a.Shape != nil && !a.fixed() {
			names = append(names, a.Name)
		}
	}
	return names
}

// Families returns the families that change at least one input of the kernel.
func (l List) Families() []string {
	return collect.Where(Families, func(family string) bool {
		return slices.ContainsFunc(l, func(a Argument) bool { return a.changes(family) })
	})
}
