package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"pawl/kernels"
)

// Extract reads a metric from what a program has printed, on standard output and standard
// error. The error is a sentence about the program: it printed no such number, or two.
func Extract(m kernels.Metric, outputs ...[]byte) (float64, error) {
	var texts []string
	for _, output := range outputs {
		texts = append(texts, findMatch(m, output)...)
		if m.JSON == "" {
			continue
		}
		found, err := findJSON(m.JSON, output)
		if err != nil {
			return 0, fmt.Errorf("metric %s: %w", m.Name, err)
		}
		texts = append(texts, found...)
	}
	switch {
	case len(texts) == 0 && m.JSON != "":
		return 0, fmt.Errorf("metric %s: no JSON that was printed has a field %s", m.Name, m.JSON)
	case len(texts) == 0:
		return 0, fmt.Errorf("metric %s: nothing that was printed matches %s", m.Name, m.Match)
	case len(texts) > 1:
		return 0,
			fmt.Errorf("metric %s: it was printed %d times (%s, then %s): which one counts?", m.Name, len(texts), texts[0],
				texts[1])
	}
	value, err := strconv.ParseFloat(strings.TrimSpace(texts[0]), 64)
	if err != nil || math.IsNaN(value) || math.IsInf(value, 0) {
		return 0, fmt.Errorf("metric %s: %.40q is no number", m.Name, texts[0])
	}
	return value * m.Factor(), nil
}

// findMatch returns what the group of a regular expression matches, everywhere.
func findMatch(m kernels.Metric, output []byte) []string {
	if m.Match == nil {
		return nil
	}
	var texts []string
	for _, match := range m.Match.FindAllSubmatch(output, -1) {
		texts = append(texts, string(match[1]))
	}
	return texts
}

// findJSON returns the values of a field: of the whole output where it is one JSON value,
// and else of each line that is one. Log lines beside them do no harm.
func findJSON(path string, output []byte) ([]string, error) {
	documents := [][]byte{output}
	if !json.Valid(bytes.TrimSpace(output)) {
		documents = bytes.Split(output, []byte("\n"))
	}
	var texts []string
	for _, document := range documents {
		document = bytes.TrimSpace(document)
		if len(document) == 0 || document[0] != '{' && document[0] != '[' {
			continue
		}
		var value any
		decoder := json.NewDecoder(bytes.NewReader(document))
		decoder.UseNumber()
		if decoder.Decode(&value) != nil {
			continue
		}
		found, there := follow(value, strings.Split(path, "."))
		if !there {
			continue
		}
		switch found := found.(type) {
		case json.Number:
			texts = append(texts, found.String())
		case string:
			texts = append(texts, found)
		default:
			encoded, _ := json.Marshal(found)
			return nil, fmt.Errorf("the field %s is %.40s and no number", path, encoded)
		}
	}
	return texts, nil
}

// follow walks a path of names and of indices from 0.
func follow(value any, path []string) (any, bool) {
	for _, name := range path {
		switch inside := value.(type) {
		case map[string]any:
			next, there := inside[name]
			if !there {
				return nil, false
			}
			value = next
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(inside) {
				return nil, false
			}
			value = inside[i]
		default:
			return nil, false
		}
	}
	return value, true
}
