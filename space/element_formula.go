package space

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// RandomName is a number from 0 to below 1 in a formula over an index, another one for
// every element.
const RandomName = "random"

// IndexNames are what a formula over the elements of an array may use beside the names of
// its scope: i, the number of the element, i0, i1 and so on, its index in every dimension,
// the outermost first, and a random number.
func IndexNames(dimensions int) Environment {
	names := Environment{"i": 0, RandomName: 0.0}
	for d := range dimensions {
		names[indexName(d)] = 0
	}
	return names
}

func indexName(dimension int) string { return "i" + strconv.Itoa(dimension) }

// Indexed is a formula over the elements of an array. It is not safe for concurrent use:
// give each goroutine a Clone.
type Indexed struct {
	expression *Expression
	env        Environment
	shape      []int64
	flat       bool     // it uses the number of the element
	used       []string // names of dimensions that it uses, empty for the others
	random     bool
}

// NewIndexed compiles a formula over the names and their values, and the index.
func NewIndexed(source string, values Environment, shape []int64, want Result) (*Indexed, error) {
	scope := &Scope{Exact: true, types: map[string]any{}}
	expression, err := scope.With(values).With(IndexNames(len(shape))).Compile(source, want)
	if err != nil {
		return nil, err
	}
	names := expression.Names()
	f := &Indexed{expression: expression, env: maps.Clone(values), shape: shape, used: make([]string, len(shape))}
	f.flat, f.random = slices.Contains(names, "i"), slices.Contains(names, RandomName)
	for d := range shape {
		if name := indexName(d); slices.Contains(names, name) {
			f.used[d] = name
		}
	}
	return f, nil
}

// Random reports whether the values depend on random numbers.
func (f *Indexed) Random() bool { return f.random }

// Clone returns the formula for another goroutine.
func (f *Indexed) Clone() *Indexed {
	clone := *f
	clone.env = maps.Clone(f.env)
	return &clone
}

// Integer evaluates a formula of whole numbers for an element.
func (f *Indexed) Integer(i int64, random float64) (int64, error) {
	n, err := f.expression.Integer(f.at(i, random))
	return n, atElement(i, err)
}

// Number evaluates a formula for an element to a finite number.
func (f *Indexed) Number(i int64, random float64) (float64, error) {
	x, err := f.expression.Number(f.at(i, random))
	return x, atElement(i, err)
}

func atElement(i int64, err error) error {
	if err != nil {
		return fmt.Errorf("%w at element %d", err, i)
	}
	return nil
}

// at is the environment of an element.
func (f *Indexed) at(i int64, random float64) Environment {
	if f.flat {
		f.env["i"] = int(i)
	}
	if f.random {
		f.env[RandomName] = random
	}
	for d := len(f.shape) - 1; d >= 0; d-- {
		if f.used[d] != "" {
			f.env[f.used[d]] = int(i % f.shape[d])
		}
		i /= f.shape[d]
	}
	return f.env
}
