package results

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// found is a list of numbers in a document whose format is not known.
type found struct {
	Series
	leaf string // its own name, "" for the document itself
	err  error  // why it is no list of times, where its values are not
	// scope is what stands beside it and above it.
	scope scope
}

// readLists takes the raw samples from a document of any form.
func readLists(document any, choice Choice) ([]Series, error) {
	lists := walk(document, nil, scope{})
	if len(lists) == 0 {
		return nil, errors.New("no list of times in it")
	}
	slices.SortFunc(lists, func(a, b found) int { return strings.Compare(a.path, b.path) })
	lists, err := meant(lists, choice.Key)
	if err != nil {
		return nil, err
	}
	series := make([]Series, len(lists))
	for i, list := range lists {
		series[i] = list.Series
		if name := list.scope.name(lists); name != "" {
			series[i].Name = name
		}
	}
	if series, err = choice.selected(series); err != nil {
		return nil, err
	}
	for _, list := range lists {
		if list.err != nil && slices.ContainsFunc(series, func(s Series) bool { return s.path == list.path }) {
			return nil, list.err
		}
	}
	return series, distinct(series)
}

// meant returns the lists that are raw samples: those that the key names, or those
// whose own name says so.
func meant(lists []found, key string) ([]found, error) {
	var all, never []string
	var chosen []found
	for _, list := range lists {
		switch {
		case isNever(list.leaf):
			never = append(never, list.path)
			if key != "" && matchesKey(list.path, key) {
				return nil, fmt.Errorf("%s: %s", list.path, notSamples)
			}
			continue
		case key == "" && (list.leaf == "" || namesSamples(list.leaf)), key != "" && matchesKey(list.path, key):
			chosen = append(chosen, list)
		}
		all = append(all, list.path)
	}
	switch {
	case len(chosen) > 0:
		return chosen, nil
	case len(all) == 0:
		return nil, fmt.Errorf("no list of raw samples in it: %s: %s", strings.Join(never, ", "), notSamples)
	case key == "":
		return nil,
			fmt.Errorf("no list in it is called samples, times or latencies; if one is a list of raw samples, name it with "+
				"--key: %s", strings.Join(all, ", "))
	}
	return nil, fmt.Errorf("no list of times under %q; there are %s", key, strings.Join(all, ", "))
}

// matchesKey reports whether a key means a path: all of it, all without the numbers
// of lists, or its last name.
func matchesKey(path, key string) bool {
	names := slices.DeleteFunc(strings.Split(path, "."), isIndex)
	return path == key || strings.Join(names, ".") == key || len(names) > 0 && names[len(names)-1] == key
}

// distinct returns an error where several series cannot be distinguished.
func distinct(series []Series) error {
	seen := map[string]bool{}
	for _, s := range series {
		if len(series) > 1 && (seen[s.Name] || s.Name == s.path) {
			if slices.ContainsFunc(series, func(other Series) bool { return lastName(other) != lastName(s) }) {
				return fmt.Errorf("more than one list of times; name one with --key: %s", strings.Join(paths(series), ", "))
			}
			return fmt.Errorf("%d results that no setting distinguishes; choose one with --select or --key of %s (several "+
				"processes of one result are a list of lists)", len(series), candidates(series))
		}
		seen[s.Name] = true
	}
	return nil
}

func lastName(s Series) string { return s.path[strings.LastIndex(s.path, ".")+1:] }

// paths returns where series were found, sorted, each once.
func paths(series []Series) []string {
	var found []string
	for _, s := range series {
		found = append(found, s.path)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// walk returns the lists of a value, with what the objects above say.
func walk(value any, path []string, above scope) (lists []found) {
	if object, ok := value.(map[string]any); ok {
		here := above.with(object)
		for name, inner := range object {
			lists = append(lists, walk(inner, append(slices.Clone(path), name), here)...)
		}
		return lists
	}
	list, ok := value.([]any)
	if !ok {
		return nil
	}
	f := found{scope: above, Series: Series{path: strings.Join(path, "."), config: above.fields}}
	for _, name := range path {
		if !isIndex(name) {
			f.leaf = name
		}
	}
	processes, err := asProcesses(list, f.leaf == "" || namesSamples(f.leaf))
	if processes == nil && err == nil {
		for i, inner := range list {
			lists = append(lists, walk(inner, append(slices.Clone(path), strconv.Itoa(i)), above)...)
		}
		return lists
	}
	f.Name = f.path
	if err == nil {
		f.Unit, err = unitOf(path, above.fields)
	}
	if err == nil {
		f.Processes, err = inMilliseconds(processes, f.Unit)
	}
	if err != nil {
		f.err = errors.New(strings.TrimPrefix(fmt.Sprintf("%s: %s", f.path, err), ": "))
	}
	return []found{f}
}

// isIndex reports whether a part of a path is an index into a list.
func isIndex(part string) bool {
	_, err := strconv.Atoi(part)
	return err == nil
}

// asProcesses returns a list of numbers as one process and a list of lists of
// numbers as many. It returns nothing for a list of anything else, and an error for
// one that is named as samples or begins as such and holds something else.
func asProcesses(list []any, named bool) ([][]float64, error) {
	isNumber := func(value any) bool { _, ok := value.(json.Number); return ok }
	ofNumbers := func(value any) bool { inner, ok := value.([]any); return ok && slices.ContainsFunc(inner, isNumber) }
	isObject := func(value any) bool { _, ok := value.(map[string]any); return ok }
	switch {
	case slices.ContainsFunc(list, isNumber):
		samples, err := asSamples(list)
		return [][]float64{samples}, err
	case slices.ContainsFunc(list, ofNumbers):
		var processes [][]float64
		for i, inner := range list {
			nested, ok := inner.([]any)
			if !ok {
				return nil, fmt.Errorf("element %d is %s, not a list of times", i, written(inner))
			}
			samples, err := asSamples(nested)
			if err != nil {
				return nil, fmt.Errorf("list %d: %w", i, err)
			}
			processes = append(processes, samples)
		}
		return processes, nil
	case named && !slices.ContainsFunc(list, isObject):
		if len(list) == 0 {
			return nil, errors.New("the list is empty")
		}
		return nil, fmt.Errorf("%s is not a time", written(list[0]))
	}
	return nil, nil
}

func asSamples(list []any) ([]float64, error) {
	if len(list) == 0 {
		return nil, errors.New("the list is empty")
	}
	samples := make([]float64, len(list))
	for i, value := range list {
		number, ok := value.(json.Number)
		if !ok {
			return nil, fmt.Errorf("element %d is %s, which is not a time", i, written(value))
		}
		sample, err := asTime(number.String())
		if err != nil {
			return nil, err
		}
		samples[i] = sample
	}
	return samples, nil
}

// written is a value as it stands in the file.
func written(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return "something else"
	}
	return shorten(string(text))
}

func asTime(text string) (float64, error) {
	sample, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(sample) || math.IsInf(sample, 0) || sample <= 0 {
		return 0, fmt.Errorf("%q is not a time: a positive number is", text)
	}
	return sample, nil
}
