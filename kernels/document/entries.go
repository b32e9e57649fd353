package document

import (
	"iter"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// Entries is a mapping that keeps the order of its keys.
type Entries[T any] struct {
	Keys   []Scalar
	Values []T
}

// Len is the number of names; 0 of a mapping that is not there.
func (e *Entries[T]) Len() int {
	if e == nil {
		return 0
	}
	return len(e.Keys)
}

// All yields the names and values; none of a mapping that is not there.
func (e *Entries[T]) All() iter.Seq2[Scalar, T] {
	return func(yield func(Scalar, T) bool) {
		for i := range e.Len() {
			if !yield(e.Keys[i], e.Values[i]) {
				return
			}
		}
	}
}

// Get returns the value of a name, and whether there is one.
func (e *Entries[T]) Get(name string) (value T, there bool) {
	for key, value := range e.All() {
		if key.Text == name {
			return value, true
		}
	}
	return value, false
}

// UnmarshalYAML decodes each value strictly.
func (e *Entries[T]) UnmarshalYAML(node ast.Node) error {
	var pairs []*ast.MappingValueNode
	switch n := node.(type) {
	case *ast.MappingNode:
		pairs = n.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{n}
	default:
		return PlaceOf(node).Errorf("expected names with values, found %s", describe(node))
	}
	if len(pairs) > MostEntries {
		return PlaceOf(node).Errorf("%d names, at most %d are supported", len(pairs), MostEntries)
	}
	for _, pair := range pairs {
		var key Scalar
		if err := key.UnmarshalYAML(pair.Key); err != nil {
			return err
		}
		if _, twice := e.Get(key.Text); twice {
			return key.At.Errorf("%s is given twice", key.Text)
		}
		var value T
		if err := yaml.NodeToValue(pair.Value, &value, yaml.Strict()); err != nil {
			return err
		}
		e.Keys = append(e.Keys, key)
		e.Values = append(e.Values, value)
	}
	return nil
}
