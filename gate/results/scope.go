package results

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// scope is what the objects round a list say about it; an inner one overrides an
// outer one.
type scope struct {
	// fields are all plain values, by name.
	fields map[string]string
	// config are those of an object that is called a configuration.
	config map[string]string
	// settings are names, whole numbers and booleans that are no measurements.
	settings map[string]string
}

// configNames are the names of objects that say which result it is.
var configNames = []string{"config", "configuration", "params", "parameters", "settings", "options", "args",
	"workload", "case", "shape", "problem"}

// with returns the scope inside an object: its plain values, and those of the objects
// in it that hold no lists.
func (s scope) with(object map[string]any) scope {
	inner := scope{fields: map[string]string{}, config: map[string]string{}, settings: map[string]string{}}
	maps.Copy(inner.fields, s.fields)
	maps.Copy(inner.config, s.config)
	maps.Copy(inner.settings, s.settings)
	names := slices.Sorted(maps.Keys(object))
	for _, isConfig := range []bool{false, true} {
		for _, name := range names {
			nested, isObject := object[name].(map[string]any)
			if !isObject || holdsList(nested) || slices.Contains(configNames, strings.ToLower(name)) != isConfig {
				continue
			}
			flatten(nested, inner.fields)
			if isConfig {
				flatten(nested, inner.config)
			}
		}
	}
	for _, name := range names {
		text, plain := plainText(object[name])
		if !plain {
			continue
		}
		inner.fields[name] = text
		if isSetting(name, object[name]) {
			inner.settings[name] = text
		}
	}
	return inner
}

// name says which of the results a list belongs to: by its configuration, and by the
// settings in which the results differ.
func (s scope) name(all []found) string {
	identity := maps.Clone(s.config)
	for name, text := range s.settings {
		if slices.ContainsFunc(all, func(other found) bool { return other.scope.settings[name] != text }) {
			identity[name] = text
		}
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(identity)) {
		parts = append(parts, name+"="+shorten(identity[name]))
	}
	return strings.Join(parts, " ")
}

// isSetting reports whether a value is a setting and not a figure that was measured.
func isSetting(name string, value any) bool {
	number, isNumber := value.(json.Number)
	if _, err := number.Int64(); isNumber && err != nil {
		return false
	}
	return namesSetting(name)
}

// namesSetting reports whether a name is that of a setting and not of a figure.
func namesSetting(name string) bool {
	parts := words(name)
	if len(parts) == 0 || isNever(name) || namesSamples(name) || slices.Contains(unitFields, name) {
		return false
	}
	_, unit := units[parts[len(parts)-1]]
	return !unit && !slices.ContainsFunc(parts, func(w string) bool {
		return w != "size" &&
			(slices.Contains(otherWords, w) || slices.Contains([]string{"count", "iterations", "date", "commit", "version"}, w))
	})
}

func flatten(object map[string]any, into map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if inner, isObject := object[name].(map[string]any); isObject {
			flatten(inner, into)
		} else if text, plain := plainText(object[name]); plain {
			into[name] = text
		}
	}
}

func holdsList(object map[string]any) bool {
	for _, value := range object {
		_, isList := value.([]any)
		inner, _ := value.(map[string]any)
		if isList || holdsList(inner) {
			return true
		}
	}
	return false
}

func plainText(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case json.Number:
		return v.String(), true
	}
	return "", false
}

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
	return nil,
		fmt.Errorf("%d results have %s; choose one of %s", len(chosen), writeConditions(c.Select), candidates(chosen))
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
			differs := func(other Series) bool { return other.config[name] != s.config[name] }
			if namesSetting(name) && (len(series) == 1 || slices.ContainsFunc(series, differs)) {
				parts = append(parts, name+"="+shorten(s.config[name]))
			}
		}
		if line := s.path; len(parts) == 0 {
			lines = append(lines, line)
		} else {
			lines = append(lines, fmt.Sprintf("%s (%s)", strings.Join(parts, ","), line))
		}
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
