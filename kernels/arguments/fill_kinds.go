package arguments

import (
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"pawl/kernels/document"
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
	FromFile     = "file"         // what a file holds
)

// Fills are the contents of inputs that a manifest may name in one word.
var Fills = []string{Normal, Uniform, "ones", "zeros", Sorted, Reversed, OneHot, Permutation}

// fillOptions are the fills that a manifest gives as a mapping, with their options. One
// without options is a formula.
var fillOptions = map[string][]string{
	ConstantFill: nil, FormulaFill: nil, Indices: {"below", "into"}, RowPointers: {"into", "columns", "density", "skew"},
	Columns: {"rows", "below", "into", "distinct"},
}

var fillNames = []string{ConstantFill, FormulaFill, Indices, RowPointers, Columns}

// fillEntry is a fill as written: a word, a number, or one name with its options.
type fillEntry struct {
	kind    document.Scalar
	value   document.Scalar // of a constant and a formula
	options *document.Entries[document.Scalar]
}

func (f fillEntry) given() bool { return f.kind.Text != "" }

// UnmarshalYAML takes a number for a constant.
func (f *fillEntry) UnmarshalYAML(node ast.Node) error {
	switch n := node.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
		f.kind = document.Scalar{Text: ConstantFill, At: document.PlaceOf(node)}
		return f.value.UnmarshalYAML(node)
	case *ast.MappingNode:
		if len(n.Values) == 1 {
			return f.decode(n.Values[0])
		}
		return document.PlaceOf(node).Errorf("a fill is one word, such as normal, or one name with its options, such as " +
			"{indices: {below: N}}")
	case *ast.MappingValueNode:
		return f.decode(n)
	}
	if err := f.kind.UnmarshalYAML(node); err != nil {
		return err
	}
	if _, err := strconv.ParseFloat(f.kind.Text, 64); err == nil { // 1e10 is no number in YAML
		f.value, f.kind.Text = f.kind, ConstantFill
		return nil
	}
	if _, needs := fillOptions[f.kind.Text]; needs {
		return f.kind.At.Errorf("the fill %s needs more: %s", f.kind.Text, fillExample(f.kind.Text))
	}
	return nil
}

func (f *fillEntry) decode(pair *ast.MappingValueNode) error {
	if err := f.kind.UnmarshalYAML(pair.Key); err != nil {
		return err
	}
	allowed, known := fillOptions[f.kind.Text]
	if !known {
		return f.kind.At.Errorf("no fill %q takes options; there are %s", f.kind.Text, strings.Join(fillNames, ", "))
	}
	if allowed == nil {
		return f.value.UnmarshalYAML(pair.Value)
	}
	f.options = &document.Entries[document.Scalar]{}
	if err := f.options.UnmarshalYAML(pair.Value); err != nil {
		return err
	}
	for _, key := range f.options.Keys {
		if !slices.Contains(allowed, key.Text) {
			return key.At.Errorf("the fill %s has no option %q; it has %s", f.kind.Text, key.Text, strings.Join(allowed, ", "))
		}
	}
	return nil
}

// fillExample shows how a fill is written.
func fillExample(kind string) string {
	return map[string]string{
		ConstantFill: "{constant: 0.5}", FormulaFill: `{formula: "i % N"}`, Indices: "{indices: {below: N}}",
		RowPointers: "{row-pointers: {into: columns}}, into being the argument that has an element for each entry",
		Columns:     "{columns: {rows: rows, below: N}}, rows being the argument with the row pointers",
	}[kind]
}

// option returns the text of an option, empty where it is not given.
func (f fillEntry) option(name string) document.Scalar {
	text, _ := f.options.Get(name)
	return text
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
	distinct       bool
}

// fill checks and compiles the fill of an input.
func (r Reader) fill(a *Argument, entry Entry) (err error) {
	f := entry.Fill
	a.Fill = f.kind.Text
	switch {
	case entry.From != nil && f.given():
		return f.kind.At.Errorf("argument %s has both a fill and from: a file has all of its content", a.Name)
	case entry.From != nil:
		a.Fill = FromFile
		return nil // see data
	case !f.given() && a.Element.Float:
		a.Fill = Normal
	case !f.given():
		a.Fill = Uniform
	case f.options == nil && f.value.Text == "" && !slices.Contains(Fills, a.Fill):
		return f.kind.At.Errorf("argument %s: unknown fill %q; there are %s, a number, and with options %s", a.Name, a.Fill,
			strings.Join(Fills, ", "), strings.Join(fillNames, ", "))
	}
	switch a.Fill {
	case Sorted, Reversed, OneHot:
		a.structure = &structure{kind: a.Fill}
	case Permutation, Indices, RowPointers, Columns:
		if a.Element.Float {
			return f.kind.At.Errorf("argument %s: the fill %s is for integers, not for %s", a.Name, a.Fill, a.Element.Name)
		}
		if err = r.indexFill(a, f); a.Fill == Indices {
			a.Fill = Uniform // in a range, with all families of integers
		}
	case ConstantFill, FormulaFill:
		err = r.formulaFill(a, f)
	}
	return err
}

func (r Reader) indexFill(a *Argument, f fillEntry) (err error) {
	s := &structure{kind: a.Fill, into: f.option("into").Text, rows: f.option("rows").Text}
	a.structure = s
	for _, o := range []struct {
		name string
		to   **space.Expression
		want space.Result
	}{
		{"below", &s.below, space.WholeNumber},
		{"columns", &s.columns, space.WholeNumber},
		{"density", &s.density, space.Number},
		{"skew", &s.skew, space.Number},
	} {
		if *o.to, err = document.Optional(r.Sizes, f.option(o.name), o.want); err != nil {
			return err
		}
	}
	if distinct := f.option("distinct"); distinct.Text != "" {
		if distinct.Value.Kind() != space.Boolean {
			return distinct.At.Errorf("argument %s: distinct is true or false", a.Name)
		}
		s.distinct = distinct.Value.Integer() == 1
	}
	switch {
	case a.Fill == RowPointers && s.into == "", a.Fill == Columns && (s.rows == "" || s.below == nil),
		a.Fill == Indices && s.below == nil && s.into == "":
		return f.kind.At.Errorf("argument %s: the fill %s needs more: %s", a.Name, a.Fill, fillExample(a.Fill))
	case a.Fill == RowPointers && len(a.Shape) != 1:
		return f.kind.At.Errorf("argument %s: row pointers have one dimension: a number for each row, and one more", a.Name)
	case s.density != nil && s.columns == nil:
		return f.option("density").At.Errorf("argument %s: density is a share of all rows and columns; give columns as "+
			"well, or leave it out and all of %s is used", a.Name, s.into)
	}
	return nil
}

func (r Reader) formulaFill(a *Argument, f fillEntry) (err error) {
	s := &structure{kind: a.Fill}
	a.structure = s
	if a.Fill == ConstantFill {
		s.constant, err = document.Compile(r.Sizes, f.value, result(a.Element))
		return err
	}
	names := space.IndexNames(len(a.Shape))
	for name := range names {
		if r.Sizes.Has(name) {
			return f.value.At.Errorf("argument %s: %s is declared in this manifest, and in a fill's formula it is the index; "+
				"rename it", a.Name, name)
		}
	}
	s.formula, err = document.Compile(r.Sizes.With(names), f.value, result(a.Element))
	return err
}
