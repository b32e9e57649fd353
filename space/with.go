package space

import (
	"fmt"
	"maps"
)

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
	env, values := maps.Clone(env), Environment{}
	for _, name := range e.names {
		if value, ok := env[name]; ok {
			values[name] = value
		}
	}
	for _, d := range e.definitions {
		value, err := runProgram(d.program, env)
		if err != nil {
			return nil, fmt.Errorf("expression %q: %s: %w", e.source, d.name, err)
		}
		env[d.name], values[d.name] = value, value
	}
	return values, nil
}
