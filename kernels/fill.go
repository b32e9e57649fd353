package kernels

import (
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"pawl/space"
)

// The fills that have a structure or options, beside those that are families too.
const (
	ConstantFill = "constant"     // one number everywhere
	FormulaFill  = "formula"      // a formula over the index and the sizes
	Permutation  = "permutation"  // every index of a row once
	Indices      = "indices"      // integers from 0 to below a size
	RowPointers  = "row-pointers" // where the rows of a CSR matrix begin
	Columns      = "columns"      // the columns of a CSR matrix, row by row
	Banded       = "banded"       // zero outside of a band around the diagonal
	FromFile     = "file"         // what a file holds
)

// Fills are the contents of inputs that a manifest may name in one word.
var Fills = []string{Normal, Uniform, "ones", "zeros", Sorted, Reversed, OneHot, Permutation}

// fillOptions are the fills that a manifest gives as a mapping, with their options. One
// without options is a formula.
var fillOptions = map[string][]string{
	ConstantFill: nil, FormulaFill: nil, Indices: {"below", "into"}, RowPointers: {"into", "columns", "density", "skew"},
	Columns: {"rows", "below", "into", "distinct"}, Banded: {"lower", "upper", "of"},
}

var fillNames = []string{ConstantFill, FormulaFill, Indices, RowPointers, Columns, Banded}

// fillEntry is a fill as written: a word, a number, or one name with its options.
type fillEntry struct {
	kind    scalar
	value   scalar // of a constant and a formula
	options *entries[scalar]
}

func (f fillEntry) given() bool { return f.kind.text != "" }

// UnmarshalYAML takes a number for a constant.
func (f *fillEntry) UnmarshalYAML(node ast.Node) error {
	switch n := node.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
		f.kind = scalar{text: ConstantFill, at: positionOf(node)}
		return f.value.UnmarshalYAML(node)
	case *ast.MappingNode:
		if len(n.Values) == 1 {
			return f.decode(n.Values[0])
		}
		return positionOf(node).errorf("a fill is one word, such as normal, or one name with its options, such as {indices: {below: N}}")
	case *ast.MappingValueNode:
		return f.decode(n)
	}
	if err := f.kind.UnmarshalYAML(node); err != nil {
		return err
	}
	if _, err := strconv.ParseFloat(f.kind.text, 64); err == nil { // 1e10 is no number in YAML
		f.value, f.kind.text = f.kind, ConstantFill
		return nil
	}
	if _, needs := fillOptions[f.kind.text]; needs {
		return f.kind.at.errorf("the fill %s needs more: %s", f.kind.text, fillExample(f.kind.text))
	}
	return nil
}

func (f *fillEntry) decode(pair *ast.MappingValueNode) error {
	if err := f.kind.UnmarshalYAML(pair.Key); err != nil {
		return err
	}
	allowed, known := fillOptions[f.kind.text]
	if !known {
		return f.kind.at.errorf("no fill %q takes options; there are %s", f.kind.text, strings.Join(fillNames, ", "))
	}
	if allowed == nil {
		return f.value.UnmarshalYAML(pair.Value)
	}
	f.options = &entries[scalar]{}
	if err := f.options.UnmarshalYAML(pair.Value); err != nil {
		return err
	}
	for _, key := range f.options.keys {
		if !slices.Contains(allowed, key.text) {
			return key.at.errorf("the fill %s has no option %q; it has %s", f.kind.text, key.text, strings.Join(allowed, ", "))
		}
	}
	return nil
}

// fillExample shows how a fill is written.
func fillExample(kind string) string {
	return map[string]string{
		ConstantFill: "{constant: 0.5}", FormulaFill: `{formula: "i % N"}`, Indices: "{indices: {below: N}}", Banded: "{banded: {lower: 1, upper: 1}}",
		RowPointers: "{row-pointers: {into: columns}}, into being the argument that has an element for each entry",
		Columns:     "{columns: {rows: rows, below: N}}, rows being the argument with the row pointers",
	}[kind]
}

// option returns the text of an option, empty where it is not given.
func (f fillEntry) option(name string) scalar {
	for key, value := range f.options.all() {
		if key.text == name {
			return value
		}
	}
	return scalar{}
}

// structure is a fill with options, its formulas compiled. What does not belong to
// its kind is nil or zero.
type structure struct {
	kind     string
	formula  *space.Expression // of every element
	constant *space.Expression
	// into and rows are other arguments.
	into, rows     string
	below, columns *space.Expression
	density, skew  *space.Expression
	lower, upper   *space.Expression
	distinct       bool
}

// fill checks and compiles the fill of an input.
func (b *builder) fill(a *Argument, entry argEntry) (err error) {
	f := entry.Fill
	a.Fill = f.kind.text
	switch {
	case entry.From != nil && f.given():
		return f.kind.at.errorf("argument %s has both a fill and from: a file has all of its content", a.Name)
	case entry.From != nil:
		a.Fill = FromFile
		return nil // see data
	case !f.given() && a.Element.Float:
		a.Fill = Normal
	case !f.given():
		a.Fill = Uniform
	case f.options == nil && f.value.text == "" && !slices.Contains(Fills, a.Fill):
		return f.kind.at.errorf("argument %s: unknown fill %q; there are %s, a number, and with options %s", a.Name, a.Fill, strings.Join(Fills, ", "), strings.Join(fillNames, ", "))
	}
	switch a.Fill {
	case Sorted, Reversed, OneHot:
		a.structure = &structure{kind: a.Fill}
	case Permutation, Indices, RowPointers, Columns:
		if a.Element.Float {
			return f.kind.at.errorf("argument %s: the fill %s is for integers, not for %s", a.Name, a.Fill, a.Element.Name)
		}
		if err = b.indexFill(a, f); a.Fill == Indices {
			a.Fill = Uniform // in a range, with all families of integers
		}
	case ConstantFill, FormulaFill:
		err = b.formulaFill(a, f)
	case Banded:
		err = b.bandedFill(a, f)
	}
	return err
}

func (b *builder) indexFill(a *Argument, f fillEntry) (err error) {
	s := &structure{kind: a.Fill, into: f.option("into").text, rows: f.option("rows").text}
	a.structure = s
	for _, o := range []struct {
		name string
		to   **space.Expression
		want space.Result
	}{{"below", &s.below, space.WholeNumber}, {"columns", &s.columns, space.WholeNumber}, {"density", &s.density, space.Number}, {"skew", &s.skew, space.Number}} {
		if *o.to, err = optional(b.dims, f.option(o.name), o.want); err != nil {
			return err
		}
	}
	if distinct := f.option("distinct"); distinct.text != "" {
		if distinct.value.Kind() != space.Boolean {
			return distinct.at.errorf("argument %s: distinct is true or false", a.Name)
		}
		s.distinct = distinct.value.Integer() == 1
	}
	switch {
	case a.Fill == RowPointers && s.into == "", a.Fill == Columns && (s.rows == "" || s.below == nil), a.Fill == Indices && s.below == nil && s.into == "":
		return f.kind.at.errorf("argument %s: the fill %s needs more: %s", a.Name, a.Fill, fillExample(a.Fill))
	case a.Fill == RowPointers && len(a.Shape) != 1:
		return f.kind.at.errorf("argument %s: row pointers have one dimension: a number for each row, and one more", a.Name)
	case s.density != nil && s.columns == nil:
		return f.option("density").at.errorf("argument %s: density is a share of all rows and columns; give columns as well, or leave it out and all of %s is used", a.Name, s.into)
	}
	return nil
}

func (b *builder) formulaFill(a *Argument, f fillEntry) (err error) {
	want := space.Number
	if !a.Element.Float {
		want = space.WholeNumber
	}
	s := &structure{kind: a.Fill}
	a.structure = s
	if a.Fill == ConstantFill {
		s.constant, err = compile(b.dims, f.value, want)
		return err
	}
	names := space.IndexNames(len(a.Shape))
	for name := range names {
		if _, taken := b.kernel.Workloads[0].Dims[name]; taken {
			return f.value.at.errorf("argument %s: %s is a size of the workloads, and in a fill's formula it is the index; rename the size", a.Name, name)
		}
	}
	s.formula, err = compile(b.dims.With(names), f.value, want)
	return err
}

func (b *builder) bandedFill(a *Argument, f fillEntry) (err error) {
	s := &structure{kind: Banded}
	a.structure = s
	if len(a.Shape) < 2 {
		return f.kind.at.errorf("argument %s: a band needs rows and columns, the last two dimensions of the shape", a.Name)
	}
	for name, to := range map[string]**space.Expression{"lower": &s.lower, "upper": &s.upper} {
		text := f.option(name)
		if text.text == "" {
			return f.kind.at.errorf("argument %s: banded has no %s: the number of diagonals on that side, 0 for none", a.Name, name)
		}
		if *to, err = compile(b.dims, text, space.WholeNumber); err != nil {
			return err
		}
	}
	a.Fill = Normal
	if !a.Element.Float {
		a.Fill = Uniform
	}
	if of := f.option("of"); of.text != "" {
		if a.Fill = of.text; !slices.Contains([]string{Normal, Uniform, "ones"}, of.text) {
			return of.at.errorf("argument %s: a band of %q; there are %s, %s and ones", a.Name, of.text, Normal, Uniform)
		}
	}
	return nil
}
