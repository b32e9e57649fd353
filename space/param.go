package space

import (
	"cmp"
	"fmt"
	"slices"
)

// Param is one dimension of a space: a name and the values that it may take.
type Param struct {
	// Name is an identifier of the C language: it becomes a macro.
	Name string `json:"name"`
	// Values are distinct, of one kind, in the order of the declaration. An
	// ordered parameter's values are sorted by New.
	Values []Value `json:"values"`
	// More are those of Values that only a wide search tries: see Space.Narrow.
	More []Value `json:"more,omitempty"`
	// Default is one of Values: what the kernel uses when nobody tunes it.
	Default Value `json:"default"`
	// Ordered says that nearby values behave alike, so that a sampler may
	// interpolate between them. Numbers and booleans have an order.
	Ordered bool `json:"ordered"`
}

// What a space may hold. The samplers compare the values of a parameter with each
// other, which takes time and memory by the square of their number: a thousand
// values cost half a second at every step.
const (
	MostValues = 1000
	MostParams = 100
)

// identifier is what both the C preprocessor and the expression language
// accept as a name.
const identifier word = ""

// Kind returns the kind of the parameter's values.
func (p Param) Kind() Kind { return p.Values[0].Kind() }

// Index returns the position of v among the parameter's values, or -1.
func (p Param) Index(v Value) int { return slices.Index(p.Values, v) }

// LikelyOrdered guesses whether nearby values behave alike, where nobody has said.
// Strings do not. Integers and booleans do, except three or more that count from
// 0 without a gap: sizes hardly begin with 0, so these number alternatives.
func LikelyOrdered(values []Value) bool {
	highest := int64(len(values) - 1)
	counts := highest >= 2
	for _, v := range values {
		if v.Kind() == Text && !v.decimal() {
			return false
		}
		counts = counts && v.Kind() == Integer && v.Integer() >= 0 && v.Integer() <= highest
	}
	return !counts
}

// checked returns a copy of p, sorted if it is ordered, or what is wrong.
func (p Param) checked() (Param, error) {
	if !identifier.MatchString(p.Name) {
		return p, fmt.Errorf("parameter %q: a name is letters, digits and underscores, not starting with a digit", p.Name)
	}
	if len(p.Values) == 0 {
		return p, fmt.Errorf("parameter %s: no values", p.Name)
	}
	if len(p.Values) > MostValues {
		return p, fmt.Errorf("parameter %s: %d values, at most %d are supported: leave out every second one, the search "+
			"does not need them all", p.Name, len(p.Values), MostValues)
	}
	p.Values = slices.Clone(p.Values)
	seen := make(map[Value]bool, len(p.Values))
	for _, v := range p.Values {
		if v.Kind() == 0 {
			return p, fmt.Errorf("parameter %s: a value of no kind", p.Name)
		}
		if v.Kind() != p.Kind() {
			return p, fmt.Errorf("parameter %s: mixes %s %s with %s %s", p.Name, p.Kind(), p.Values[0], v.Kind(), v)
		}
		if seen[v] {
			return p, fmt.Errorf("parameter %s: value %s is listed twice", p.Name, v)
		}
		seen[v] = true
	}
	if !seen[p.Default] {
		return p, fmt.Errorf("parameter %s: default %s is not among its values", p.Name, p.Default)
	}
	if p.Ordered {
		for _, v := range p.Values {
			if v.Kind() == Text && !v.decimal() {
				return p, fmt.Errorf("parameter %s: strings have no order", p.Name)
			}
		}
		slices.SortFunc(p.Values, func(a, b Value) int {
			return cmp.Or(cmp.Compare(a.integer, b.integer), cmp.Compare(a.Number(), b.Number()))
		})
	}
	return p, nil
}
