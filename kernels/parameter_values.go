package kernels

import (
	"fmt"
	"math"
	"regexp"
	"strconv"

	"github.com/goccy/go-yaml/ast"

	"pawl/kernels/document"
	"pawl/space"
)

// valueList is the values of a parameter: a list of them, or a range.
type valueList struct {
	scalars []document.Scalar
	values  []space.Value // those of a range
	at      document.Place
}

// UnmarshalYAML reads a list of plain values, or the text of a range.
func (l *valueList) UnmarshalYAML(node ast.Node) (err error) {
	l.at = document.PlaceOf(node)
	list, ok := node.(*ast.SequenceNode)
	if !ok {
		var text document.Scalar
		if err = text.UnmarshalYAML(node); err == nil {
			l.values, err = expand(text.Text)
		}
		if err != nil {
			return l.at.Errorf("expected a list of values or a range such as 1..64, 1..64 step 4, 2^4..2^10 or "+
				"0.1..10 log 9: %s", err)
		}
		return nil
	}
	l.scalars, err = document.ReadList(list, "expected a list of values")
	return err
}

// read returns the values. Numbers of one list are all integers, or all decimals.
func (l valueList) read(name string) ([]space.Value, error) {
	values := l.values
	for _, s := range l.scalars {
		v := s.Value
		if x, err := strconv.ParseFloat(s.Text, 64); v.Kind() == 0 && err == nil {
			v = space.DecimalValue(x)
		}
		if v.Kind() == 0 {
			return nil, s.At.Errorf("parameter %s: value %s is not a number, a boolean or a string", name, s.Text)
		}
		values = append(values, v)
	}
	if len(values) == 0 {
		return nil, l.at.Errorf("parameter %s has no values", name)
	}
	return space.SameKind(values), nil
}

// rangeText is a range: two ends, each a number or a power, and how to walk from one to the other.
var rangeText = regexp.MustCompile(`^\s*` + rangeEnd + `\s*\.\.\s*` + rangeEnd + `(?:\s+(step|log)\s+(` + rangeNumber + `))?\s*$`)

const (
	rangeNumber = `-?[\d.]*\d(?:e-?\d+)?`
	rangeEnd    = `(?:(\d+)\^)?(` + rangeNumber + `)`
)

func expand(text string) ([]space.Value, error) {
	m := rangeText.FindStringSubmatch(text)
	if m == nil {
		return nil, fmt.Errorf("%q is no range", text)
	}
	low, err := strconv.ParseFloat(m[2], 64)
	if err != nil {
		return nil, fmt.Errorf("%q is no number", m[2])
	}
	high, err := strconv.ParseFloat(m[4], 64)
	if err != nil {
		return nil, fmt.Errorf("%q is no number", m[4])
	}
	given := 1.0
	if m[6] != "" {
		if given, err = strconv.ParseFloat(m[6], 64); err != nil || given <= 0 {
			return nil, fmt.Errorf("%q is no step", m[6])
		}
	}
	at := func(i int) float64 { return low + float64(i)*given }
	count := math.Floor((high-low)/given+1e-9) + 1
	switch {
	case m[1] != m[3]:
		return nil, fmt.Errorf("both ends of %q must be powers of the same number", text)
	case m[1] != "":
		base, _ := strconv.ParseFloat(m[1], 64)
		at = func(i int) float64 { return math.Pow(base, low+float64(i)*given) }
	case m[5] == "log" && (low <= 0 || given < 2 || given != math.Trunc(given)):
		return nil, fmt.Errorf("%q needs ends above 0 and a number of values of at least 2", text)
	case m[5] == "log":
		count = given
		at = func(i int) float64 { return rounded(low * math.Pow(high/low, float64(i)/(given-1))) }
	}
	if !(high > low) || !(count <= space.MostValues) {
		return nil, fmt.Errorf("%q has no or too many values: from the lower end to the higher, at most %d", text,
			space.MostValues)
	}
	values := make([]space.Value, int(count))
	for i := range values {
		values[i] = number(at(i))
	}
	return space.SameKind(values), nil
}

// number is an integer where there is no fraction.
func number(x float64) space.Value {
	if x == math.Trunc(x) && math.Abs(x) < 1<<53 {
		return space.IntegerValue(int64(x))
	}
	return space.DecimalValue(x)
}

// rounded keeps four digits: nobody wants to read more of a value between two others.
func rounded(x float64) float64 {
	x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'g', 4, 64), 64) // its own text
	return x
}
