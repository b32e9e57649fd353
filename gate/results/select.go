package results

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Condition is a value that a result must have.
type Condition struct{ Name, Value string }

// ParseSelect reads conditions such as seq=512,batch=32.
func ParseSelect(text string) ([]Condition, error) {
	if text == "" {
		return nil, nil
	}
	var conditions []Condition
	for part := range strings.SplitSeq(text, ",") {
		name, value, found := strings.Cut(part, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !found || name == "" || value == "" {
			return nil, fmt.Errorf("%q is not NAME=VALUE, such as seq=512", part)
		}
		conditions = append(conditions, Condition{name, value})
	}
	return conditions, nil
}

// holds reports whether a value is the one asked for; numbers are compared as
// numbers.
func (c Condition) holds(value string) bool {
	if strings.EqualFold(value, c.Value) {
		return true
	}
	is, err := strconv.ParseFloat(value, 64)
	wanted, wantedErr := strconv.ParseFloat(c.Value, 64)
	return err == nil && wantedErr == nil && is == wanted
}

// selected returns the series that fulfil all conditions: exactly one where there
// are conditions.
func (c Choice) selected(series []Series) ([]Series, error) {
	if len(c.Select) == 0 {
		return series, nil
	}
	chosen := slices.DeleteFunc(slices.Clone(series), func(s Series) bool {
		return slices.ContainsFunc(c.Select, func(condition Condition) bool {
			value, known := s.config[condition.Name]
			return !known || !condition.holds(value)
		})
	})
	switch len(chosen) {
	case 0:
		return nil, fmt.Errorf("no result has %s; there are %s", writeConditions(c.Select), candidates(series))
	case 1:
		return chosen, nil
	}
	return nil, fmt.Errorf("%d results have %s; choose one of %s", len(chosen), writeConditions(c.Select), candidates(chosen))
}

func writeConditions(conditions []Condition) string {
	var parts []string
	for _, c := range conditions {
		parts = append(parts, c.Name+"="+c.Value)
	}
	return strings.Join(parts, ",")
}

// candidates lists results by what differs between them.
func candidates(series []Series) string {
	const most = 20
	var lines []string
	for i, s := range series {
		if i == most {
			lines = append(lines, fmt.Sprintf("%d more", len(series)-most))
			break
		}
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(s.config)) {
			same := func(other Series) bool { return other.config[name] == s.config[name] }
			if !namesSetting(name) {
				continue
			}
			if len(series) == 1 || slices.ContainsFunc(series, func(other Series) bool { return !same(other) }) {
				parts = append(parts, name+"="+shorten(s.config[name]))
			}
		}
		if len(parts) == 0 {
			lines = append(lines, s.path)
			continue
		}
		lines = append(lines, fmt.Sprintf("%s (%s)", strings.Join(parts, ","), s.path))
	}
	return strings.Join(lines, "; ")
}

func shorten(text string) string {
	const most = 40
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
