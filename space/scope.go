package space

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Result is what an expression must answer with.
type Result uint8

// What an expression may be asked for.
const (
	// Anything lets the expression's own type stand.
	Anything Result = iota
	// Condition is true or false.
	Condition
	// WholeNumber is an integer.
	WholeNumber
	// Number is an integer or a floating-point number.
	Number
	// Word is a text.
	Word
)

// results has the types that an expression may answer with, and what they are called.
var results = map[Result]struct {
	name  string
	kinds []reflect.Kind
}{
	Condition:   {"a condition (bool)", []reflect.Kind{reflect.Bool}},
	WholeNumber: {"an integer", []reflect.Kind{reflect.Int}},
	Number:      {"a number", []reflect.Kind{reflect.Int, reflect.Float64}},
	Word:        {"a text", []reflect.Kind{reflect.String}},
}

// Scope is the set of names that expressions may use: names that get a value
// when the expression is evaluated, and definitions, which are expressions
// themselves. The zero Scope is not ready: use NewScope.
type Scope struct {
	// Exact makes it an error when a sum or a product of integers does not fit 64
	// bits; without it, it wraps around. It costs time, so that constraints, which
	// are evaluated for every point, do without.
	Exact bool
	// Withheld are names that mean something elsewhere, with what they are there. Subject is what may not depend on
	// them, for messages; empty for any.
	Withheld map[string]string
	Subject  string

	types       map[string]any
	definitions map[string]string
}

// NewScope returns a scope of the given names and the definitions over them.
// A definition may use other definitions, but not itself.
func NewScope(names map[string]Kind, definitions map[string]string) (*Scope, error) {
	s := &Scope{types: make(map[string]any, len(names)), definitions: maps.Clone(definitions)}
	for name, kind := range names {
		if err := checkName(name); err != nil {
			return nil, err
		}
		s.types[name] = Value{kind: kind}.native()
	}
	for _, name := range slices.Sorted(maps.Keys(definitions)) {
		err := checkName(name)
		if _, taken := s.types[name]; taken {
			err = fmt.Errorf("%s is defined twice", name)
		}
		if err == nil {
			if _, err = s.Compile(definitions[name], Anything); err != nil {
				err = fmt.Errorf("%s: %w", name, err)
			}
		}
		if err != nil {
			return nil, &DefinitionError{name, err}
		}
	}
	return s, nil
}

func checkName(name string) error {
	if !identifier.MatchString(name) {
		return fmt.Errorf("%q is not a name: letters, digits and underscores, not starting with a digit", name)
	}
	return nil
}

// DefinitionError is a mistake in one of a scope's definitions.
type DefinitionError struct {
	Name string
	Err  error
}

func (e *DefinitionError) Error() string { return e.Err.Error() }

func (e *DefinitionError) Unwrap() error { return e.Err }

// Has reports whether a name means something.
func (s *Scope) Has(name string) bool {
	_, known := s.types[name]
	_, defined := s.definitions[name]
	return known || defined
}

// Measuring returns the scope with further names, of floating-point numbers: what is
// known only after a measurement.
func (s *Scope) Measuring(names []string) *Scope {
	values := Environment{}
	for _, name := range names {
		values[name] = 0.0
	}
	return s.With(values)
}

// Compile checks and compiles an expression. An error about the text is an
// *ExpressionError.
func (s *Scope) Compile(source string, want Result) (*Expression, error) {
	r := resolver{scope: s, types: maps.Clone(s.types), names: map[string]bool{}, done: map[string]bool{}}
	if err := r.resolve(source, nil); err != nil {
		return nil, err
	}
	program, err := compile(source, r.types, s.Exact)
	if err != nil {
		return nil, err
	}
	if err := checkResult(source, program, want); err != nil {
		return nil, err
	}
	return &Expression{
		source:      source,
		names:       slices.Sorted(maps.Keys(r.names)),
		definitions: r.definitions,
		program:     program,
	}, nil
}

// resolver collects the definitions behind an expression, each after the ones
// that it needs.
type resolver struct {
	scope       *Scope
	types       map[string]any
	names       map[string]bool
	done        map[string]bool
	definitions []definition
}

func (r *resolver) resolve(source string, path []string) error {
	names, err := freeNames(source)
	if err != nil {
		return err
	}
	for _, name := range names {
		text, defined := r.scope.definitions[name]
		switch {
		case !defined:
			if _, known := r.scope.types[name]; !known {
				return r.undeclared(source, name)
			}
			r.names[name] = true
		case slices.Contains(path, name):
			cycle := append(slices.Clone(path[slices.Index(path, name):]), name)
			return &ExpressionError{source, strings.Index(source, name), "defined in a circle: " + strings.Join(cycle, " → ")}
		case !r.done[name]:
			if err := r.define(name, text, append(path, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *resolver) define(name, text string, path []string) error {
	if err := r.resolve(text, path); err != nil {
		return err
	}
	program, err := compile(text, r.types, r.scope.Exact)
	if err != nil {
		return err
	}
	zero, err := typeOf(program)
	if err != nil {
		return &ExpressionError{text, 0, err.Error()}
	}
	r.types[name] = zero
	r.done[name] = true
	r.definitions = append(r.definitions, definition{name, text, program})
	return nil
}

func (r *resolver) undeclared(source, name string) error {
	known := slices.Sorted(maps.Keys(r.scope.types))
	known = append(known, slices.Sorted(maps.Keys(r.scope.definitions))...)
	message := fmt.Sprintf("%s is not declared", name)
	if what, elsewhere := r.scope.Withheld[name]; elsewhere {
		message = fmt.Sprintf("%s is %s, and %s may depend on sizes alone", name, what, cmp.Or(r.scope.Subject, "this"))
	}
	if len(known) > 0 {
		message += "; there are " + strings.Join(known, ", ")
	}
	return &ExpressionError{source, strings.Index(source, name), message}
}

// With returns the scope with further names, each of the type of its value: int, float64,
// bool or string. A name that is there already is hidden.
func (s *Scope) With(values Environment) *Scope {
	wider := *s
	wider.types, wider.definitions = maps.Clone(s.types), maps.Clone(s.definitions)
	for name, value := range values {
		wider.types[name] = value
		delete(wider.definitions, name)
	}
	return &wider
}

// Values returns what the text of an expression may refer to, without the names that the
// environment does not have: the names themselves, and the values of definitions.
func (e *Expression) Values(env Environment) (Environment, error) {
	all, err := e.defined(env)
	if err != nil {
		return nil, err
	}
	values := Environment{}
	for _, name := range e.names {
		if value, ok := all[name]; ok {
			values[name] = value
		}
	}
	for _, d := range e.definitions {
		values[d.name] = all[d.name]
	}
	return values, nil
}
