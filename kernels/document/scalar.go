package document

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"pawl/internal/collect"
	"pawl/space"
)

// Scalar is one plain value of a file with its place.
type Scalar struct {
	Text   string
	Value  space.Value // zero when the value is a fraction or null
	At     Place
	quoted bool
	// source is the value as it stands in the file, empty for a block of lines.
	source string
}

// UnmarshalYAML keeps the value and its place.
func (s *Scalar) UnmarshalYAML(node ast.Node) error {
	s.At = PlaceOf(node)
	switch n := node.(type) {
	case *ast.StringNode:
		s.Text, s.Value = n.Value, space.TextValue(n.Value)
		s.source = strings.TrimSpace(n.Token.Origin)
		s.quoted = strings.HasPrefix(s.source, `"`) || strings.HasPrefix(s.source, "'")
	case *ast.IntegerNode:
		s.Text, s.source = n.Token.Value, strings.TrimSpace(n.Token.Origin)
		switch value := n.Value.(type) {
		case int64:
			s.Value = space.IntegerValue(value)
		case uint64:
			if value > math.MaxInt64 {
				return s.At.Errorf("%s is too large", s.Text)
			}
			s.Value = space.IntegerValue(int64(value))
		}
	case *ast.BoolNode:
		s.Text, s.Value, s.source = n.Token.Value, space.BooleanValue(n.Value), strings.TrimSpace(n.Token.Origin)
	case *ast.FloatNode:
		s.Text, s.source = n.Token.Value, strings.TrimSpace(n.Token.Origin)
	case *ast.LiteralNode:
		s.Text = strings.TrimSpace(n.Value.Value)
		s.Value = space.TextValue(s.Text)
	default:
		return s.At.Errorf("expected one value, found %s", describe(node))
	}
	return nil
}

// ExpressionError moves an expression's error to its place in the file.
func (s Scalar) ExpressionError(err error) error {
	var located *space.ExpressionError
	if !errors.As(err, &located) {
		return s.At.Errorf("%s", err)
	}
	at := s.At
	if located.Source == s.Text { // not a definition used by it
		at.Column += located.Offset
		if s.quoted {
			at.Column++
		}
	}
	return at.Errorf("%s", err)
}

// Given reports whether the file has the value.
func (s Scalar) Given() bool { return s.At.Line > 0 }

// Texts are those of some values.
func Texts(values []Scalar) []string {
	return collect.Each(values, func(s Scalar) string { return s.Text })
}

// Words is a list of plain values.
type Words struct {
	Words []Scalar
	At    Place
}

// Given reports whether the file has the list.
func (w Words) Given() bool { return w.At.Line > 0 }

// UnmarshalYAML wants a list, also where one word would do: nothing splits a text.
func (w *Words) UnmarshalYAML(node ast.Node) (err error) {
	const expected = "expected a list of words, such as [program, argument]"
	w.At = PlaceOf(node)
	list, ok := node.(*ast.SequenceNode)
	if !ok {
		return w.At.Errorf(expected)
	}
	w.Words, err = ReadList(list, expected)
	return err
}

// ReadList reads a list of plain values; expected is what to say where one is not there.
func ReadList(list *ast.SequenceNode, expected string) ([]Scalar, error) {
	values := make([]Scalar, len(list.Values))
	for i, value := range list.Values {
		if value == nil {
			return nil, PlaceOf(list).Errorf("%s", expected)
		}
		if err := values[i].UnmarshalYAML(value); err != nil {
			return nil, err
		}
	}
	return values, nil
}

func describe(node ast.Node) string {
	switch node.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "names with values"
	case *ast.SequenceNode:
		return "a list"
	case *ast.NullNode:
		return "nothing"
	}
	return fmt.Sprintf("%q", node.String())
}

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// IsIdentifier reports whether a text is a name in C.
func IsIdentifier(text string) bool { return identifier.MatchString(text) }

// Scalars are one value, or a list of at least one.
type Scalars []Scalar

// UnmarshalYAML accepts both.
func (l *Scalars) UnmarshalYAML(node ast.Node) (err error) {
	list, ok := node.(*ast.SequenceNode)
	if !ok {
		*l = make(Scalars, 1)
		return (*l)[0].UnmarshalYAML(node)
	}
	if *l, err = ReadList(list, "expected a value"); err == nil && len(*l) == 0 {
		err = PlaceOf(node).Errorf("expected a value, or a list of at least one")
	}
	return err
}
