package command

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"pawl/internal/collect"
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
		return 0, fmt.Errorf("metric %s: it was printed %d times (%s, then %s): which one counts?", m.Name, len(texts),
			texts[0], texts[1])
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
	return collect.Each(m.Match.FindAllSubmatch(output, -1), func(match [][]byte) string { return string(match[1]) })
}

// findJSON returns the values of a field: of the whole output where it is one JSON value,
// and else of each line that is one. Log lines beside them do no harm.
func findJSON(path string, output []byte) (texts []string, err error) {
	documents := [][]byte{output}
	if !gjson.ValidBytes(output) {
		documents = bytes.Split(output, []byte("\n"))
	}
	for _, document := range documents {
		found := gjson.GetBytes(document, path)
		switch {
		case !gjson.ValidBytes(document) || !found.Exists():
		case found.Type == gjson.Number || found.Type == gjson.String:
			texts = append(texts, found.String())
		default:
			return nil, fmt.Errorf("the field %s is %.40s and no number", path, found.Raw)
		}
	}
	return texts, nil
}
