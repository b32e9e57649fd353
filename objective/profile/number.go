package profile

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// notation is how a machine's language writes numbers.
type notation struct {
	// decimal separates whole numbers from their fractions: a point or a comma.
	decimal rune
}

// errTwoNotations says that numbers contradict each other.
var errTwoNotations = errors.New("numbers with decimal points and numbers with decimal commas in one report")

// findNotation looks at all numbers together. Where none tells, points are for decimals, as a
// profiler writes that was started in the language C.
func findNotation(cells []string) (notation, error) {
	found := map[rune]bool{}
	for _, cell := range cells {
		found[decimalOf(cell)] = true
	}
	switch {
	case found['.'] && found[',']:
		return notation{}, errTwoNotations
	case found[',']:
		return notation{','}, nil
	}
	return notation{'.'}, nil
}

// decimalOf returns the decimal separator of a cell that leaves no doubt, else 0.
func decimalOf(cell string) rune {
	cell = strings.TrimLeft(strings.TrimSpace(cell), "+-")
	at := strings.LastIndexAny(cell, ".,")
	if !numeric(cell) || at < 0 {
		return 0
	}
	last, other := '.', ','
	if cell[at] == ',' {
		last, other = other, last
	}
	before, after := cell[:at], cell[at+1:]
	switch {
	case strings.ContainsRune(before, other):
		return last
	case strings.ContainsRune(before, last): // thousands
		return other
	}
	// Thousands have three digits after their only separator, and one to three before, not beginning with 0.
	if len(after) != 3 || len(before) == 0 || len(before) > 3 || before[0] == '0' || !digits(after) {
		return last
	}
	return 0
}

func digits(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < '0' || r > '9' })
}

// numeric says that a cell has nothing but what numbers are made of.
func numeric(cell string) bool {
	cell = strings.TrimSpace(cell)
	return strings.ContainsAny(cell, "0123456789") && !strings.ContainsFunc(cell, func(r rune) bool {
		return !strings.ContainsRune("0123456789.,+-eE'’", r) && !unicode.IsSpace(r)
	})
}

// parse reads a number. A cell without one, such as n/a or a name, is not ok.
func (n notation) parse(cell string) (value float64, ok bool) {
	if !numeric(cell) {
		return 0, false
	}
	var plain strings.Builder
	for _, r := range strings.TrimSpace(cell) {
		switch {
		case r == n.decimal:
			plain.WriteByte('.')
		case r == '.' || r == ',' || r == '\'' || r == '’' || unicode.IsSpace(r): // thousands
		default:
			plain.WriteRune(r)
		}
	}
	value, err := strconv.ParseFloat(plain.String(), 64)
	return value, err == nil && !math.IsInf(value, 0) && !math.IsNaN(value)
}
