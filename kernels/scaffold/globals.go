package scaffold

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"pawl/kernels"
)

// global is a variable at file scope that a kernel reads: its content comes from the program around it, so that it
// is an argument in the manifest, and one of the reference.
type global struct {
	name, element string
	declared      string   // as an argument of the reference
	shape         []string // numbers, or macros that have one; nil for a scalar
}

var (
	variable = regexp.MustCompile(`(?m)^[ \t]*((?:\w+[ \t]+)+)(\w+)[ \t]*((?:\[[^\]\n]*\][ \t]*)*);`)
	bracket  = regexp.MustCompile(`\[\s*([^\]]*?)\s*\]`)
)

// globals are the variables that a function's body names, in the order of the source. On a GPU they are constant or
// device memory; on the host those that other files can set.
func globals(source, body, backend string) (found []global) {
	for _, match := range variable.FindAllStringSubmatch(fileScope(withoutNoise(source)), -1) {
		var kind []string
		device, hidden := false, false
		for _, word := range strings.Fields(match[1]) {
			switch word {
			case "__constant__", "__device__":
				device = true
			case "static", "const", "extern", "typedef", "using", "return", "constexpr", "__shared__":
				hidden = true
			default:
				kind = append(kind, word)
			}
		}
		element, known := elementOf[strings.Join(kind, " ")]
		if !known || hidden || device != (backend == kernels.CUDA) ||
			!regexp.MustCompile(`\b`+match[2]+`\b`).MatchString(body) {
			continue
		}
		g := global{name: match[2], element: element, declared: strings.Join(kind, " ") + " " + match[2] + match[3]}
		for _, size := range bracket.FindAllStringSubmatch(match[3], -1) {
			g.shape = append(g.shape, defined(source, size[1]))
		}
		if g.shape != nil {
			g.declared = "const " + g.declared
		}
		found = append(found, g)
	}
	return found
}

// fileScope is a text without what stands in braces.
func fileScope(text string) string {
	var outside strings.Builder
	depth := 0
	for _, c := range text {
		switch c {
		case '{':
			depth++
		case '}':
			depth--
		default:
			if depth == 0 {
				outside.WriteRune(c)
			}
		}
	}
	return outside.String()
}

// defined is a size with its macros put in; one that is no number stays as it is.
func defined(source, size string) string {
	for _, match := range unguarded.FindAllStringSubmatch(source, -1) {
		size = regexp.MustCompile(`\b`+match[1]+`\b`).ReplaceAllString(size, match[2])
	}
	return size
}

// symbols describes the variables.
func (d *description) symbols(line func(string, ...any)) {
	for _, g := range d.globals {
		look := d.todo("what %s holds: it is a variable of the source, which the program around it sets", g.name)
		if g.shape == nil {
			line("  - {name: %s, type: %s, value: 1, symbol: %s}%s", g.name, g.element, g.name, look)
			continue
		}
		for i, size := range g.shape {
			if _, err := strconv.Atoi(size); err != nil && !strings.ContainsAny(size, "*+-/") {
				look += d.todo("the size %s of %s", size, g.name)
				g.shape[i] = "1"
			}
		}
		line("  - {name: %s, type: %s, shape: [%s], fill: uniform, symbol: %s}%s", g.name, g.element,
			strings.Join(g.shape, ", "), g.name, look)
	}
}

// given is a source whose function takes the variables too, as the reference does: an argument hides a variable.
func (s signature) given(source string, all []global) string {
	if len(all) == 0 {
		return source
	}
	head := regexp.MustCompile(`(\b` + regexp.QuoteMeta(s.name) + `\s*\([^()]*)\)(\s*\{)`)
	var more string
	for _, g := range all {
		more += ", " + g.declared
	}
	return head.ReplaceAllString(source, fmt.Sprintf("${1}%s)${2}", more))
}
