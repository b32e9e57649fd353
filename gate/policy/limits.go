package policy

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"pawl/gate"
)

// limits are the keys that the file and a kernel share. What is not written keeps
// the value below it.
type limits struct {
	Preset      scalar   `yaml:"preset"`
	Regression  scalar   `yaml:"regression"`
	Improvement scalar   `yaml:"improvement"`
	Effect      scalar   `yaml:"effect"`
	Erosion     scalar   `yaml:"erosion"`
	Alarm       scalar   `yaml:"alarm"`
	Variation   scalar   `yaml:"variation"`
	Rounds      []scalar `yaml:"rounds"`
	Samples     scalar   `yaml:"samples"`
	Budget      scalar   `yaml:"budget"`
	Tail        tail     `yaml:"tail"`
}

// tail are the limits of the slowest calls.
type tail struct {
	P95  scalar `yaml:"p95"`
	P99  scalar `yaml:"p99"`
	Fail scalar `yaml:"fail"`
}

// over returns a policy with these keys replaced.
func (l limits) over(p gate.Policy) (gate.Policy, error) {
	if l.Preset.given() {
		preset, ok := gate.Presets[l.Preset.text]
		if !ok {
			return p, l.Preset.at.errorf("no preset %q; there are %s", l.Preset.text, strings.Join(gate.PresetNames(), ", "))
		}
		p = preset
	}
	for _, k := range []struct {
		key   scalar
		value *float64
	}{
		{l.Regression, &p.Regression}, {l.Improvement, &p.Improvement}, {l.Effect, &p.Effect},
		{l.Erosion, &p.Erosion}, {l.Alarm, &p.Alarm}, {l.Variation, &p.Variation},
		{l.Tail.P95, &p.Tail.P95}, {l.Tail.P99, &p.Tail.P99},
	} {
		if err := k.key.share(k.value); err != nil {
			return p, err
		}
	}
	if err := l.Samples.whole(&p.Samples); err != nil {
		return p, err
	}
	if err := l.Tail.Fail.yes(&p.Tail.Fail); err != nil {
		return p, err
	}
	if l.Rounds != nil {
		p.Rounds = make([]int, len(l.Rounds))
		for i, look := range l.Rounds {
			if err := look.whole(&p.Rounds[i]); err != nil {
				return p, err
			}
		}
	}
	if l.Budget.given() {
		budget, err := time.ParseDuration(l.Budget.text)
		if err != nil {
			return p, l.Budget.at.errorf("budget %q: a time such as 90s or 2m", l.Budget.text)
		}
		p.Budget = budget
	}
	if err := p.Validate(); err != nil {
		return p, l.place().errorf("%s", err)
	}
	return p, nil
}

// place is where the first of the written keys stands: a mistake between keys has
// no better one.
func (l limits) place() position {
	first := position{1, 1}
	found := false
	for _, key := range append([]scalar{l.Preset, l.Regression, l.Improvement, l.Effect, l.Erosion, l.Alarm, l.Variation, l.Samples, l.Budget, l.Tail.P95, l.Tail.P99, l.Tail.Fail}, l.Rounds...) {
		if key.given() && (!found || key.at.line < first.line || key.at.line == first.line && key.at.column < first.column) {
			first, found = key.at, true
		}
	}
	return first
}

// position is a place in the file.
type position struct{ line, column int }

// mistake is a message with its place, before the file's name is known.
type mistake struct {
	at      position
	message string
}

func (m *mistake) Error() string { return m.message }

func (p position) errorf(format string, arguments ...any) error {
	return &mistake{p, fmt.Sprintf(format, arguments...)}
}

// scalar is one plain value with its place.
type scalar struct {
	text string
	at   position
}

func (s scalar) given() bool { return s.at.line > 0 }

// UnmarshalYAML keeps the value's text and its place.
func (s *scalar) UnmarshalYAML(node ast.Node) error {
	at := node.GetToken().Position
	s.at = position{at.Line, at.Column}
	switch n := node.(type) {
	case *ast.StringNode:
		s.text = n.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		s.text = n.GetToken().Value
	default:
		return s.at.errorf("expected one plain value")
	}
	return nil
}

// share reads a value such as 3% or 0.03.
func (s scalar) share(value *float64) error {
	if !s.given() {
		return nil
	}
	number, isPercent := strings.CutSuffix(s.text, "%")
	share, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if isPercent {
		share /= 100
	}
	if err != nil || !(share >= 0 && share <= 1) {
		return s.at.errorf("%q is not a share between 0 and 1, such as 3%% or 0.03", s.text)
	}
	*value = share
	return nil
}

// yes reads true or false.
func (s scalar) yes(value *bool) error {
	if !s.given() {
		return nil
	}
	yes, err := strconv.ParseBool(s.text)
	if err != nil {
		return s.at.errorf("%q is neither true nor false", s.text)
	}
	*value = yes
	return nil
}

func (s scalar) whole(value *int) error {
	if !s.given() {
		return nil
	}
	n, err := strconv.Atoi(s.text)
	if err != nil || n < 1 {
		return s.at.errorf("%q is not a whole number of at least 1", s.text)
	}
	*value = n
	return nil
}
