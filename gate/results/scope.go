package results

import (
	"encoding/json"
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
var configNames = []string{"config", "configuration", "params", "parameters", "settings", "options", "args", "workload", "case", "shape", "problem"}

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
	if number, isNumber := value.(json.Number); isNumber {
		if _, err := number.Int64(); err != nil {
			return false
		}
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
		return w != "size" && (slices.Contains(otherWords, w) || slices.Contains([]string{"count", "iterations", "date", "commit", "version"}, w))
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
		switch v := value.(type) {
		case []any:
			return true
		case map[string]any:
			if holdsList(v) {
				return true
			}
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
