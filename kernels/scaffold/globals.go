package scaffold

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
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
	follows       string   // a macro that is tuned, and that its size has
}

var (
	alignment = regexp.MustCompile(`\b(?:__align__|_Alignas|alignas|__attribute__)\s*\((?:[^()]|\([^()]*\))*\)+`)
	// variable is a declaration's type and first name, and of each other name what stands before it.
	variable  = regexp.MustCompile(`^\s*((?:\w+(?:\s+|\b))*)((?:\*\s*(?:const\b\s*)?)*)(\w+)\s*((?:\[[^\]]*\]\s*)*)(=?)`)
	bracket   = regexp.MustCompile(`\[\s*([^\]]*?)\s*\]`)
	fixedWord = regexp.MustCompile(`\bconst`)
	externC   = regexp.MustCompile(`\bextern\s*$`)
	anySpace  = regexp.MustCompile(`\b(?:namespace(?:\s+\w+)?|extern)\s*$`)
)

// globals are the variables that a function's body names, in the order of the source. On a GPU they are constant or
// device memory; on the host those that other files can set. The rest are others that the source uses and that are no
// constants.
func globals(source, body, backend string) (found []global, rest []string) {
	source = withoutNoise(source)
	text := alignment.ReplaceAllString(directive.ReplaceAllString(source, ""), " ")
	plain, tuned := fileScope(text, externC), macros(source)
	uses, inBody := map[string]int{}, words.FindAllString(body, -1)
	for _, word := range words.FindAllString(source, -1) {
		uses[word]++
	}
	for _, statement := range strings.Split(fileScope(text, anySpace), ";") {
		kinds := ""
		for _, text := range strings.Split(statement, ",") {
			match := variable.FindStringSubmatch(text)
			if match == nil || strings.Contains(bracket.ReplaceAllString(statement, ""), "(") {
				break
			}
			kinds = cmp.Or(kinds, match[1])
			isConstant := match[5] != "" && fixedWord.MatchString(kinds+match[2])
			if kinds == "" || isConstant || uses[match[3]] < 2 || notVariable.MatchString(kinds) {
				continue
			}
			kind := slices.DeleteFunc(strings.Fields(kinds), func(word string) bool {
				return word == "__constant__" || word == "__device__"
			})
			element, known := elementOf[strings.Join(kind, " ")]
			if device := len(kind) < len(strings.Fields(kinds)); !known || match[2]+match[5] != "" ||
				device != (backend == kernels.CUDA) || !slices.Contains(inBody, match[3]) || !strings.Contains(plain, statement) {
				rest = append(rest, match[3]+" stays as the source begins it: init makes no symbol of such a declaration; if the "+
					"program around the kernel sets it, take it as an argument")
				continue
			}
			written := `&\s*` + match[3] + `\b|\b` + match[3] + `\s*(?:\[[^\]]*\]\s*)*(?:[-+*/|&^]?=[^=]|\+\+|--)`
			if regexp.MustCompile(written).MatchString(body) {
				rest = append(rest, match[3]+" is written by the function: take it as an argument, so that it is checked")
				continue
			}
			g := global{name: match[3], element: element, declared: strings.Join(kind, " ") + " " + match[3] + match[4]}
			for _, size := range bracket.FindAllStringSubmatch(match[4], -1) {
				g.shape = append(g.shape, defined(source, size[1]))
				for _, m := range tuned {
					if regexp.MustCompile(`\b` + m.name + `\b`).MatchString(size[1]) {
						g.follows = m.name
					}
				}
			}
			if g.shape != nil {
				g.declared = "const " + g.declared
			}
			found = append(found, g)
		}
	}
	return found, rest
}

// notVariable is a statement that declares none, or one that a launch has for itself.
var notVariable = regexp.MustCompile(`\b(?:typedef|using|return|template|namespace|__shared__)\b|` +
	`^\s*(?:struct|union|enum|class)\s*$`)

// fileScope is a text without what stands in braces, but for those behind what is shown.
func fileScope(text string, shown *regexp.Regexp) string {
	var outside strings.Builder
	var closings []rune // of each brace that is open: what stands there when it closes
	hidden := 0         // how many of them hide something
	for i, c := range text {
		switch {
		case c == '{' && hidden == 0 && shown.MatchString(text[max(0, i-80):i]):
			closings, c = append(closings, ';'), ';'
		case c == '{':
			closing := ' '
			if strings.HasSuffix(strings.TrimSpace(text[:i]), ")") { // of a function
				closing = ';'
			}
			closings = append(closings, closing)
			hidden++
		case c == '}' && len(closings) > 0:
			c, closings = closings[len(closings)-1], closings[:len(closings)-1]
			hidden = max(0, hidden-1)
		}
		if hidden == 0 {
			outside.WriteRune(c)
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
		if g.follows != "" {
			look += d.todo("the size of %s where %s is not its default: it is as large as the default needs", g.name, g.follows)
		}
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
	for _, other := range d.others {
		line(" %s", d.todo("%s", other))
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
