package importer

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// takeConstants makes constant memory arguments that are variables of the source, behind the
// others and in the order of their names.
func (d *description) takeConstants(constants map[string]*recorded) {
	for _, name := range slices.Sorted(maps.Keys(constants)) {
		r := constants[name]
		a := argument{name: name, symbol: name}
		for d.has(a.name) {
			a.name += "_constant"
		}
		switch {
		case !identifier.MatchString(name):
			d.gap("the constant memory %s is not filled: that is no name of a variable", name)
			continue
		case r != nil && r.Kind == "scalar":
			d.takeScalar(&a, *r)
		case r == nil || r.Kind != "array" || elements[r.Type] == "" || r.File == "" && !r.Zeros ||
			slices.Contains(r.Shape, 0):
			d.gap("the constant memory %s is not filled, and its content was not recorded", name)
			continue
		default:
			a.element, a.shape, a.zeros = elements[r.Type], r.Shape, r.Zeros
			if r.File != "" {
				a.file = d.keep(a.name, *r)
			}
		}
		d.args, d.constants = append(d.args, a), append(d.constants, a)
	}
}

// withConstants lets a kernel take its constant memory as its last parameters, for a reference:
// a variable that holds the pointer, or the number, stands in its place, and every thread sets it.
func withConstants(source, entry string, constants []argument) (string, error) {
	head := regexp.MustCompile(`\b` + regexp.QuoteMeta(entry) + `\s*\([^(){};]*\)\s*\{`)
	if len(constants) > 0 && len(head.FindAllString(source, -1)) != 1 {
		return source, fmt.Errorf("the reference must take the constant memory as its last parameters: the source does "+
			"not show one function %s", entry)
	}
	for _, a := range constants {
		declared := regexp.MustCompile(`\b__constant__\s+([A-Za-z_][\w: ]*?)\s+` + regexp.QuoteMeta(a.symbol) +
			`\s*(\[[^\]]*\])?\s*;`)
		found := declared.FindAllStringSubmatch(source, -1)
		if len(found) != 1 || (found[0][2] == "") != (a.shape == nil) {
			return source, fmt.Errorf("the reference must take the constant memory %s as a parameter, behind the others: its "+
				"declaration is not one that pawl can replace", a.symbol)
		}
		kind := found[0][1] + " "
		if a.shape != nil {
			kind = "const " + kind + "*"
		}
		source = declared.ReplaceAllLiteralString(source, "static __device__ "+kind+a.symbol+";")
		at := head.FindStringIndex(source)
		text := source[at[0]:at[1]]
		before, _, _ := strings.Cut(text, ")")
		text = fmt.Sprintf("%s, %spawl_%s) {\n\t%s = pawl_%s;", before, kind, a.symbol, a.symbol, a.symbol)
		source = source[:at[0]] + text + source[at[1]:]
	}
	return source, nil
}

func accumulates(source, name string) bool {
	name = regexp.QuoteMeta(name)
	return regexp.MustCompile(`\batomic\w+\s*\(\s*&?\s*` + name + `\b|\b` + name +
		`\s*\[[^;=]*\]\s*(?:[-+*/|&^]=|\+\+|--)`).MatchString(source)
}
