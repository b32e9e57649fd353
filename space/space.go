// Package space answers what may be tried: the parameters of a kernel, the
// constraints between them, and the points that satisfy both.
//
// A Space is built once, checked completely, and never changes. From it come
// Points, which are immutable, comparable and identified by one canonical
// text. Work on many points goes through a Pool, the table of valid points:
//
//  1. New checks parameters and constraints and fails on the first mistake.
//  2. Pool enumerates the valid points, cutting a branch as soon as the names
//     of a constraint are bound; a space too large for that is sampled.
//  3. Rows of the pool (positions of values) serve the samplers; Point turns
//     a row into the text that everything else speaks.
//
// The package knows nothing of kernels, compilers or searches.
package space

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"

	"pawl/internal/collect"
)

// Space is a set of points: every choice of parameter values that satisfies
// every constraint. It is immutable and safe for concurrent use.
type Space struct {
	params      []Param
	position    map[string]int
	constraints []*constraint
	constants   Environment
	fingerprint string
	wide        float64
}

// constraint is an expression with the positions of the parameters it reads,
// ascending. It can be checked as soon as the last of them is bound.
type constraint struct {
	*Expression
	positions []int
}

// Row is a point as positions: Row[i] is the index of the value of parameter
// i, in the order of Params.
type Row []uint16

// New returns the space of the given parameters. Constraints are conditions
// over the parameters and the constants, already compiled. A default that
// breaks a constraint is an error: the default is what everything is compared
// with.
func New(params []Param, constraints []*Expression, constants map[string]int64) (*Space, error) {
	s := &Space{position: make(map[string]int, len(params)), constants: Environment{}}
	if len(params) == 0 {
		return nil, fmt.Errorf("no parameters: there is nothing to tune")
	}
	if len(params) > MostParams {
		return nil, fmt.Errorf("%d parameters, at most %d are supported", len(params), MostParams)
	}
	for _, p := range params {
		checked, err := p.checked()
		if err != nil {
			return nil, err
		}
		if _, twice := s.position[p.Name]; twice {
			return nil, fmt.Errorf("parameter %s is declared twice", p.Name)
		}
		s.position[p.Name] = len(s.params)
		s.params = append(s.params, checked)
	}
	for name, value := range constants {
		s.constants[name] = int(value)
	}
	for _, e := range constraints {
		c, err := s.bind(e)
		if err != nil {
			return nil, err
		}
		s.constraints = append(s.constraints, c)
	}
	if err := s.check(s.defaultRow()); err != nil {
		return nil, fmt.Errorf("the default point %s is not valid: %w", s.Default(), err)
	}
	s.fingerprint = s.computeFingerprint()
	s.wide = s.Product()
	return s, nil
}

// Narrow returns the space that is searched where nobody asks for all of it: without the values that are More of a
// parameter, but for its default.
func (s *Space) Narrow() *Space {
	narrow := *s
	narrow.params = slices.Clone(s.params)
	for i, p := range narrow.params {
		narrow.params[i].Values = slices.DeleteFunc(slices.Clone(p.Values), func(v Value) bool {
			return v != p.Default && slices.Contains(p.More, v)
		})
	}
	narrow.fingerprint = narrow.computeFingerprint()
	return &narrow
}

// Wide returns the number of points before constraints if no value is left out.
func (s *Space) Wide() float64 { return s.wide }

func (s *Space) bind(e *Expression) (*constraint, error) {
	c := &constraint{Expression: e}
	for _, name := range e.Names() {
		if position, ok := s.position[name]; ok {
			c.positions = append(c.positions, position)
		} else if _, ok := s.constants[name]; !ok {
			return nil, fmt.Errorf("constraint %q: %s is neither a parameter nor a constant", e.Source(), name)
		}
	}
	slices.Sort(c.positions)
	return c, nil
}

// Params returns the parameters in the order of their declaration. The caller
// must not modify them.
func (s *Space) Params() []Param { return s.params }

// Constraints returns the texts of the constraints.
func (s *Space) Constraints() []string {
	return collect.Each(s.constraints, func(c *constraint) string { return c.Source() })
}

// Product returns the number of points before constraints. It is a float
// because real spaces overflow integers.
func (s *Space) Product() float64 {
	product := 1.0
	for _, p := range s.params {
		product *= float64(len(p.Values))
	}
	return product
}

// Default returns the point of the parameters' defaults.
func (s *Space) Default() Point { return s.Point(s.defaultRow()) }

func (s *Space) defaultRow() Row {
	row := make(Row, len(s.params))
	for i, p := range s.params {
		row[i] = uint16(p.Index(p.Default))
	}
	return row
}

// Point returns the point of a row.
func (s *Space) Point(row Row) Point {
	assignments := make([]Assignment, len(s.params))
	for i, p := range s.params {
		assignments[i] = Assignment{p.Name, p.Values[row[i]]}
	}
	point, err := NewPoint(assignments...)
	if err != nil {
		panic("space: " + err.Error())
	}
	return point
}

// Row returns the positions of a point's values, or why the point does not
// belong to the parameters. It does not look at constraints: see Check.
func (s *Space) Row(p Point) (Row, error) {
	assignments := p.Assignments()
	row := make(Row, len(s.params))
	for _, a := range assignments {
		i, ok := s.position[a.Name]
		if !ok {
			return nil, fmt.Errorf("no parameter %s; there are %s", a.Name, strings.Join(s.names(), ", "))
		}
		at := s.params[i].Index(a.Value)
		if at < 0 {
			return nil, fmt.Errorf("%s=%s is not one of %s", a.Name, a.Value,
				strings.Join(collect.Each(s.params[i].Values, Value.String), ", "))
		}
		row[i] = uint16(at)
	}
	if len(assignments) < len(s.params) {
		for _, name := range s.names() {
			if _, ok := p.Get(name); !ok {
				return nil, fmt.Errorf("no value for %s", name)
			}
		}
	}
	return row, nil
}

// Complete fills the parameters that a point leaves out with their defaults
// and checks the result, so that a person may name only what matters.
func (s *Space) Complete(p Point) (Point, error) {
	given := p.Assignments()
	for _, param := range s.params {
		if _, ok := p.Get(param.Name); !ok {
			given = append(given, Assignment{param.Name, param.Default})
		}
	}
	full, err := NewPoint(given...)
	if err != nil {
		return Point{}, err
	}
	row, err := s.Row(full)
	if err != nil {
		return Point{}, err
	}
	if err := s.check(row); err != nil {
		return Point{}, fmt.Errorf("point %s: %w", full, err)
	}
	return full, nil
}

// Check returns nil for a point of the space, and otherwise which parameter
// or constraint it breaks.
func (s *Space) Check(p Point) error {
	row, err := s.Row(p)
	if err != nil {
		return err
	}
	return s.check(row)
}

func (s *Space) check(row Row) error {
	env := s.environment(row)
	for _, c := range s.constraints {
		ok, err := c.Bool(env)
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("constraint %q does not hold", c.Source())
		}
	}
	return nil
}

// Environment returns the constants and the point's values for evaluating
// expressions.
func (s *Space) Environment(p Point) (Environment, error) {
	row, err := s.Row(p)
	if err != nil {
		return nil, err
	}
	return s.environment(row), nil
}

// Set adds the values of a point to an environment.
func (e Environment) Set(p Point) {
	for _, a := range p.Assignments() {
		e[a.Name] = a.Value.native()
	}
}

func (s *Space) environment(row Row) Environment {
	env := make(Environment, len(s.params)+len(s.constants))
	maps.Copy(env, s.constants)
	for i, p := range s.params {
		env[p.Name] = p.Values[row[i]].native()
	}
	return env
}

func (s *Space) names() []string {
	return slices.Sorted(maps.Keys(s.position))
}

// Fingerprint identifies the set of points: it changes when a parameter, a
// value, a constraint or a constant that a constraint reads changes, and not
// when the manifest lists the same things in another order.
func (s *Space) Fingerprint() string { return s.fingerprint }

func (s *Space) computeFingerprint() string {
	var lines []string
	for _, p := range s.params {
		values := collect.Each(p.Values, Value.String)
		slices.Sort(values)
		lines = append(lines, fmt.Sprintf("param %s ordered=%t %s", p.Name, p.Ordered, strings.Join(values, ",")))
	}
	for _, c := range s.constraints {
		lines = append(lines, "constraint "+c.Source())
		for _, d := range c.definitions {
			lines = append(lines, "definition "+d.name+" = "+d.source)
		}
		for _, name := range c.Names() {
			if value, ok := s.constants[name]; ok {
				lines = append(lines, fmt.Sprintf("constant %s=%v", name, value))
			}
		}
	}
	slices.Sort(lines)
	lines = slices.Compact(lines) // a definition and a constant may serve several constraints
	return fmt.Sprintf("%.8x", sha256.Sum256([]byte(strings.Join(lines, "\n"))))
}
