package importer

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"pawl/internal/collect"
	"pawl/kernels"
	"pawl/kernels/csource"
)

// takeConstants makes constant memory arguments that are variables of the source, behind the
// others and in the order of their names.
func (d *description) takeConstants(constants map[string]*recorded) {
	for _, name := range slices.Sorted(maps.Keys(constants)) {
		r := constants[name]
		a := argument{name: name, symbol: name}
		for d.has(a.name) {
			a.name += "_constant"
		}
		switch {
		case !identifier.MatchString(name):
			d.gap("the constant memory %s is not filled: that is no name of a variable", name)
			continue
		case r != nil && r.Kind == "scalar":
			d.takeScalar(&a, *r)
		case r == nil || r.Kind != "array" || elements[r.Type] == "" || r.File == "" && !r.Zeros ||
			slices.Contains(r.Shape, 0):
			d.gap("the constant memory %s is not filled, and its content was not recorded", name)
			continue
		default:
			a.element, a.shape, a.zeros = elements[r.Type], r.Shape, r.Zeros
			if r.File != "" {
				a.file = d.keep(a.name, *r)
			}
		}
		d.args, d.constants = append(d.args, a), append(d.constants, a)
	}
}

// withConstants lets a kernel take its constant memory as its last parameters, for a reference:
// a variable that holds the pointer, or the number, stands in its place, and every thread sets it.
func (d *description) withConstants(source string) (string, error) {
	if len(d.constants) == 0 {
		return source, nil
	}
	unit := d.compiled(source)
	functions := unit.Functions(kernels.PlainName(d.entry))
	if len(functions) != 1 || functions[0].Closing.Macro != "" || functions[0].Brace.Macro != "" {
		return source, fmt.Errorf("the reference must take the constant memory as its last parameters: the source does "+
			"not show one function %s", d.entry)
	}
	var edits []csource.Edit
	for _, a := range d.constants {
		found := collect.Where(unit.Declared, func(v csource.Declaration) bool { return v.Name == a.symbol && !v.Function })
		if len(found) != 1 || !plainConstant(unit, found[0], a) {
			return source, fmt.Errorf("the reference must take the constant memory %s as a parameter, behind the others: its "+
				"declaration is not one that pawl can replace", a.symbol)
		}
		words, _, _, _ := unit.Resolved(found[0])
		kind := strings.Join(words, " ") + " "
		if a.shape != nil {
			kind = "const " + kind + "*"
		}
		edits = append(edits,
			csource.Edit{Place: found[0].Place, Text: "static __device__ " + kind + a.symbol + ";"},
			csource.Before(functions[0].Closing.Place, ", "+kind+"pawl_"+a.symbol),
			csource.After(functions[0].Brace.Place, "\n\t"+a.symbol+" = pawl_"+a.symbol+";"),
		)
	}
	return csource.Rewrite(source, edits), nil
}

// plainConstant says that a variable is declared alone, as that of an argument in constant memory.
func plainConstant(unit *csource.Unit, v csource.Declaration, a argument) bool {
	beside := collect.Where(unit.Declared, func(other csource.Declaration) bool { return other.Place == v.Place })
	return v.Has("__constant__") && v.Odd == "" && !v.Begun && v.Stars == 0 && len(beside) == 1 && len(v.Sizes) <= 1 &&
		(len(v.Sizes) == 0) == (a.shape == nil)
}
