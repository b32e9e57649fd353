package space

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"pawl/internal/collect"
)

// Point is one value for every parameter of a space. It is immutable and
// comparable, and it is its own canonical text: assignments sorted by name,
// such as BLOCK_M=64,BLOCK_N=32. The text serves as database key, replay key
// and, assignment by assignment, as the compiler's -D flags; it does not
// change when a manifest lists its parameters in another order.
type Point struct{ text string }

// Assignment is one parameter's value in a point.
type Assignment struct {
	Name  string
	Value Value
}

// NewPoint returns the point of the given assignments, in any order.
func NewPoint(assignments ...Assignment) (Point, error) {
	sorted := slices.Clone(assignments)
	slices.SortFunc(sorted, func(a, b Assignment) int { return strings.Compare(a.Name, b.Name) })
	var text strings.Builder
	for i, a := range sorted {
		if !identifier.MatchString(a.Name) {
			return Point{}, fmt.Errorf("point: %q is not a parameter name", a.Name)
		}
		if i > 0 && sorted[i-1].Name == a.Name {
			return Point{}, fmt.Errorf("point: %s is given twice", a.Name)
		}
		if a.Value.Kind() == 0 {
			return Point{}, fmt.Errorf("point: %s has no value", a.Name)
		}
		if i > 0 {
			text.WriteByte(',')
		}
		text.WriteString(a.Name)
		text.WriteByte('=')
		text.WriteString(a.Value.String())
	}
	return Point{text: text.String()}, nil
}

// ParsePoint reads a point's text, its assignments in any order and with
// spaces round the separators, or instead of the commas. The empty text is the empty point.
func ParsePoint(text string) (Point, error) {
	assignments, err := parseAssignments(text)
	if err != nil {
		return Point{}, err
	}
	return NewPoint(assignments...)
}

// String returns the canonical text.
func (p Point) String() string { return p.text }

// Assignments returns the point's assignments, sorted by name.
func (p Point) Assignments() []Assignment {
	assignments, err := parseAssignments(p.text)
	if err != nil {
		panic("space: a point's own text does not parse: " + err.Error())
	}
	return assignments
}

// Get returns the value of one parameter.
func (p Point) Get(name string) (Value, bool) {
	a, found := collect.First(p.Assignments(), func(a Assignment) bool { return a.Name == name })
	return a.Value, found
}

// Without returns the point without one of its parameters.
func (p Point) Without(name string) Point {
	point, err := NewPoint(slices.DeleteFunc(p.Assignments(), func(a Assignment) bool { return a.Name == name })...)
	if err != nil {
		panic("space: a part of a point is no point: " + err.Error())
	}
	return point
}

// With returns the point with another value for one of its parameters.
func (p Point) With(name string, value Value) (Point, error) {
	return NewPoint(append(p.Without(name).Assignments(), Assignment{name, value})...)
}

// Besides is what differs from the default, for people: TILE=32 TABLE=1, or "default" where nothing does. ParsePoint
// reads it; what is left out has the default's value.
func (p Point) Besides(initial Point) string {
	var parts []string
	for _, a := range p.Assignments() {
		if value, has := initial.Get(a.Name); !has || value != a.Value {
			parts = append(parts, a.Name+"="+a.Value.String())
		}
	}
	return cmp.Or(strings.Join(parts, " "), "default")
}

// MarshalText returns the canonical text.
func (p Point) MarshalText() ([]byte, error) { return []byte(p.text), nil }

// UnmarshalText parses the text of a point.
func (p *Point) UnmarshalText(text []byte) error {
	parsed, err := ParsePoint(string(text))
	if err != nil {
		return err
	}
	*p = parsed
	return nil
}

func parseAssignments(text string) ([]Assignment, error) {
	var assignments []Assignment
	rest := strings.TrimSpace(text)
	for rest != "" {
		name, after, found := strings.Cut(rest, "=")
		name = strings.TrimSpace(name)
		if !found || !identifier.MatchString(name) {
			return nil, fmt.Errorf("point %q: expected NAME=VALUE at %q", text, rest)
		}
		value, after, err := parseValue(strings.TrimLeft(after, " "))
		if err != nil {
			return nil, fmt.Errorf("point %q: %s: %w", text, name, err)
		}
		assignments = append(assignments, Assignment{name, value})
		rest = strings.TrimSpace(after)
		if rest == "" {
			break
		}
		next, comma := strings.CutPrefix(rest, ",")
		if !comma && next == after { // no blank either
			return nil, fmt.Errorf("point %q: expected a comma at %q", text, rest)
		}
		if rest = strings.TrimSpace(next); rest == "" {
			return nil, fmt.Errorf("point %q: ends in a comma", text)
		}
	}
	return assignments, nil
}

// nextAssignment is where another assignment begins that no comma is before.
var nextAssignment = regexp.MustCompile(`\s+[A-Za-z_][A-Za-z0-9_]*\s*=`)

// parseValue reads one value from the start of text and returns what follows.
func parseValue(text string) (Value, string, error) {
	if strings.HasPrefix(text, `"`) {
		quoted, err := strconv.QuotedPrefix(text)
		if err != nil {
			return Value{}, "", fmt.Errorf("unterminated or malformed string %s", text)
		}
		content, err := strconv.Unquote(quoted)
		if err != nil {
			return Value{}, "", fmt.Errorf("malformed string %s", quoted)
		}
		return TextValue(content), text[len(quoted):], nil
	}
	word := text
	if end := strings.IndexByte(text, ','); end >= 0 {
		word = text[:end]
	}
	if strings.ContainsAny(word, " \t") { // rare, and points are parsed often
		if end := nextAssignment.FindStringIndex(word); end != nil {
			word = word[:end[0]]
		}
	}
	rest := text[len(word):]
	word = strings.TrimSpace(word)
	switch {
	case word == "true", word == "false":
		return BooleanValue(word == "true"), rest, nil
	case bareWord.MatchString(word), TextValue(word).decimal():
		return TextValue(word), rest, nil
	}
	if n, err := strconv.ParseInt(word, 10, 64); err == nil {
		return IntegerValue(n), rest, nil
	}
	if word == "" || strings.ContainsAny(word, `"=`) {
		return Value{}, "", fmt.Errorf("%q is no value; one with a comma, a quote or = is put in quotes", word)
	}
	return TextValue(word), rest, nil // as people write it, such as -O3 -g
}
