package kernels

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"pawl/space"
)

// ManifestError is a mistake in a manifest, with where it stands.
type ManifestError struct {
	File string
	// Line and Column count from 1.
	Line, Column int
	Message      string
	// Excerpt is the offending line.
	Excerpt string

	cause error
}

func (e *ManifestError) Unwrap() error { return e.cause }

func (e *ManifestError) Error() string {
	text := fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
	if strings.TrimSpace(e.Excerpt) == "" {
		return text
	}
	gutter := fmt.Sprintf("%5d | ", e.Line)
	line, column := excerpt(e.Excerpt, e.Column)
	return fmt.Sprintf("%s\n%s%s\n%*s^", text, gutter, line, len(gutter)+column-1, "")
}

// position is a place in a manifest.
type position struct{ line, column int }

func positionOf(node ast.Node) position {
	at := node.GetToken().Position
	return position{at.Line, at.Column}
}

// mistake is a message with its place, before the file is known.
type mistake struct {
	at      position
	message string
	cause   error // typed, for callers that branch; nil mostly
}

func (m *mistake) Unwrap() error { return m.cause }

func (m *mistake) Error() string { return m.message }

func (p position) errorf(format string, arguments ...any) error {
	return &mistake{at: p, message: fmt.Sprintf(format, arguments...)}
}

// scalar is one plain value of a manifest with its place.
type scalar struct {
	text   string
	value  space.Value // zero when the value is a fraction or null
	at     position
	quoted bool
	// source is the value as it stands in the file, empty for a block of lines.
	source string
}

// UnmarshalYAML keeps the value and its place.
func (s *scalar) UnmarshalYAML(node ast.Node) error {
	s.at = positionOf(node)
	switch n := node.(type) {
	case *ast.StringNode:
		s.text, s.value = n.Value, space.TextValue(n.Value)
		s.source = strings.TrimSpace(n.Token.Origin)
		s.quoted = strings.HasPrefix(s.source, `"`) || strings.HasPrefix(s.source, "'")
	case *ast.IntegerNode:
		s.text, s.source = n.Token.Value, strings.TrimSpace(n.Token.Origin)
		switch value := n.Value.(type) {
		case int64:
			s.value = space.IntegerValue(value)
		case uint64:
			if value > math.MaxInt64 {
				return s.at.errorf("%s is too large", s.text)
			}
			s.value = space.IntegerValue(int64(value))
		}
	case *ast.BoolNode:
		s.text, s.value, s.source = n.Token.Value, space.BooleanValue(n.Value), strings.TrimSpace(n.Token.Origin)
	case *ast.FloatNode:
		s.text = n.Token.Value
	case *ast.LiteralNode:
		s.text = strings.TrimSpace(n.Value.Value)
		s.value = space.TextValue(s.text)
	default:
		return s.at.errorf("expected one value, found %s", describe(node))
	}
	return nil
}

// expressionError moves an expression's error to its place in the manifest.
func (s scalar) expressionError(err error) error {
	var located *space.ExpressionError
	if !errors.As(err, &located) {
		return s.at.errorf("%s", err)
	}
	at := s.at
	if located.Source == s.text { // not a definition used by it
		at.column += located.Offset
		if s.quoted {
			at.column++
		}
	}
	return at.errorf("%s", err)
}

// entries is a mapping that keeps the order of its keys.
type entries[T any] struct {
	keys   []scalar
	values []T
}

// all yields the names and values; none of a mapping that is not there.
func (e *entries[T]) all() iter.Seq2[scalar, T] {
	return func(yield func(scalar, T) bool) {
		for i := range count(e) {
			if !yield(e.keys[i], e.values[i]) {
				return
			}
		}
	}
}

// UnmarshalYAML decodes each value strictly.
func (e *entries[T]) UnmarshalYAML(node ast.Node) error {
	var pairs []*ast.MappingValueNode
	switch n := node.(type) {
	case *ast.MappingNode:
		pairs = n.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{n}
	default:
		return positionOf(node).errorf("expected names with values, found %s", describe(node))
	}
	if len(pairs) > mostEntries {
		return positionOf(node).errorf("%d names, at most %d are supported", len(pairs), mostEntries)
	}
	for _, pair := range pairs {
		var key scalar
		if err := key.UnmarshalYAML(pair.Key); err != nil {
			return err
		}
		for _, earlier := range e.keys {
			if earlier.text == key.text {
				return key.at.errorf("%s is given twice", key.text)
			}
		}
		var value T
		if err := yaml.NodeToValue(pair.Value, &value, yaml.Strict()); err != nil {
			return err
		}
		e.keys = append(e.keys, key)
		e.values = append(e.values, value)
	}
	return nil
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

// Decode reads a YAML file strictly into a value; what names the file in messages. The
// library's panics on hostile input become errors: a manifest is untrusted text.
func Decode(content []byte, what string, into any) (err error) {
	defer func() {
		if problem := recover(); problem != nil {
			err = fmt.Errorf("not valid YAML: %v", problem)
		}
	}()
	// The library counts a line of two bytes twice behind a comment; YAML itself takes
	// both endings for one and the same.
	content = bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))
	decoder := yaml.NewDecoder(bytes.NewReader(content), yaml.Strict())
	if err := decoder.Decode(into); err != nil {
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("the %s is empty", what)
		}
		return err
	}
	var second any
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		return errors.New("more than one document in the file")
	}
	return nil
}

// MistakeAt is an error for Locate with its line and column, both from 1.
func MistakeAt(line, column int, message string) error {
	return &mistake{at: position{line, column}, message: message}
}

// Locate turns any error of decoding or checking a file into a ManifestError.
func Locate(file string, content []byte, err error) error {
	if err == nil {
		return nil
	}
	found := &ManifestError{File: file, Line: 1, Column: 1, Message: err.Error()}
	var own *mistake
	var library yaml.Error
	switch {
	case errors.As(err, &own):
		found.Line, found.Column, found.Message = own.at.line, own.at.column, own.message
		found.cause = own.cause
	case errors.As(err, &library):
		found.Message = library.GetMessage()
		if token := library.GetToken(); token != nil {
			found.Line, found.Column = token.Position.Line, token.Position.Column
		}
	}
	if lines := strings.Split(string(content), "\n"); found.Line >= 1 && found.Line <= len(lines) {
		found.Excerpt = strings.ReplaceAll(strings.TrimRight(lines[found.Line-1], "\r"), "\t", " ")
	}
	return found
}

// Place is where something stands in a file; both count from 1.
type Place struct{ Line, Column int }

// Errorf is a mistake there, for Locate.
func (p Place) Errorf(format string, arguments ...any) error {
	return MistakeAt(p.Line, p.Column, fmt.Sprintf(format, arguments...))
}

// Before reports whether a place comes first.
func (p Place) Before(other Place) bool {
	return p.Line < other.Line || p.Line == other.Line && p.Column < other.Column
}

// Scalar is one plain value of a file that [Decode] reads, as text, with its place.
type Scalar struct {
	Text string
	At   Place
}

// Given reports whether the file has the value.
func (s Scalar) Given() bool { return s.At.Line > 0 }

// UnmarshalYAML keeps the value's text and its place.
func (s *Scalar) UnmarshalYAML(node ast.Node) error {
	at := node.GetToken().Position
	s.At = Place{at.Line, at.Column}
	switch n := node.(type) {
	case *ast.StringNode:
		s.Text = n.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		s.Text = n.GetToken().Value
	default:
		return s.At.Errorf("expected one plain value")
	}
	return nil
}

// Words is a list of plain values.
type Words struct {
	Words []Scalar
	At    Place
}

// Given reports whether the file has the list.
func (w Words) Given() bool { return w.At.Line > 0 }

// UnmarshalYAML wants a list, also where one word would do: nothing splits a text.
func (w *Words) UnmarshalYAML(node ast.Node) error {
	at := node.GetToken().Position
	w.At = Place{at.Line, at.Column}
	list, ok := node.(*ast.SequenceNode)
	if !ok {
		return w.At.Errorf("expected a list of words, such as [program, argument]")
	}
	w.Words = make([]Scalar, len(list.Values))
	for i, value := range list.Values {
		if value == nil {
			return w.At.Errorf("expected a list of words, such as [program, argument]")
		}
		if err := w.Words[i].UnmarshalYAML(value); err != nil {
			return err
		}
	}
	return nil
}
