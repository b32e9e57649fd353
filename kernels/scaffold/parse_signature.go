package scaffold

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"pawl/kernels"
)

// signature is a function as its source declares it.
type signature struct {
	name       string
	parameters []parameter
	// space is the namespace around it, and template what it is an instance of; header is the
	// line of the source that says so.
	space    string
	template []templated
	header   string
	body     string
	refused  error // why it cannot be described
}

// templated is a parameter of a template: a type, or a number, with the value that the source has for it.
type templated struct {
	name, kind, value string
	guessed           bool // the source has none
}

// macro is a number as it is tuned.
func (t templated) macro() (m macro) {
	fmt.Sscan(t.value, &m.value)
	return m
}

// parameter is the name under which it is tuned: parameters are macros, and its own name is
// the template's.
func (t templated) parameter() string { return t.name + "_VALUE" }

func (t templated) isType() bool { return t.kind == "typename" || t.kind == "class" }

// parameter is one argument of a function.
type parameter struct {
	name    string
	element string // the manifest's name of its type
	pointer bool
	out     bool     // a pointer to what is not const
	changed bool     // the source adds to it, or the like
	written bool     // the source assigns to its elements
	handed  bool     // the source does more with it than that: what it reads is not known
	shape   []string // as far as its indices tell; nil for not at all
	exact   bool     // whether they reach all of the shape
}

// elementOf has the manifest's names of C's types.
var elementOf = map[string]string{
	"double": "f64", "float": "f32", "half": "f16", "__half": "f16", "__nv_bfloat16": "bf16", "nv_bfloat16": "bf16",
	"int": "i32", "int32_t": "i32", "signed": "i32", "signed int": "i32", "long long": "i64", "int64_t": "i64",
	"long": "i64", "long int": "i64", "ptrdiff_t": "i64",
	"int16_t": "i16", "short": "i16", "int8_t": "i8", "signed char": "i8", "uint8_t": "u8", "unsigned char": "u8",
	"uint16_t": "u16", "unsigned short": "u16", "uint32_t": "u32", "unsigned": "u32", "unsigned int": "u32",
	"uint": "u32", "char": "i8", "bool": "u8", "float2": "f32x2", "float3": "f32x3", "float4": "f32x4",
	"double2": "f64x2", "int2": "i32x2", "int4": "i32x4",
	"cuFloatComplex": "c64", "cuDoubleComplex": "c128",
	"uint64_t": "u64", "unsigned long": "u64", "unsigned long long": "u64", "size_t": "u64",
}

var (
	noise  = regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'`)
	bounds = regexp.MustCompile(`__(?:launch_bounds|cluster_dims|maxnreg)__\s*\((?:[^()]|\([^()]*\))*\)`)
	// directive is a line for the preprocessor, which may stand between a function's words.
	directive = regexp.MustCompile(`(?m)^[ \t]*#(?:\\\r?\n|[^\n])*`)
	function  = regexp.MustCompile(`((?:\b\w+\s+)+)([A-Za-z_]\w*)\s*\(([^()]*)\)\s*\{`)
)

// returning are the functions of a source that return a number.
func returning(source string) (names []string) {
	for _, match := range function.FindAllStringSubmatch(directive.ReplaceAllString(withoutNoise(source), ""), -1) {
		kind := strings.Fields(match[1])
		if len(kind) > 0 && elementOf[kind[len(kind)-1]] != "" && kind[0] != "static" && match[2] != "main" {
			names = append(names, match[2])
		}
	}
	return names
}

// signatures returns the functions without a result that a source defines and that can be
// called from elsewhere, in its order: for CUDA those are __global__, whatever hides the others
// (a macro may stand for static).
func signatures(source, backend string) (found []signature) {
	text := directive.ReplaceAllString(withoutNoise(source), "")
	text = bounds.ReplaceAllString(text, " ")
	for _, at := range function.FindAllStringSubmatchIndex(text, -1) {
		words := strings.Fields(text[at[2]:at[3]])
		if !slices.Contains(words, "void") {
			continue
		}
		s := signature{name: text[at[4]:at[5]], space: namespaceAt(text[:at[0]])}
		if header := template.FindStringSubmatch(text[:at[0]]); header != nil {
			s.header, s.template = strings.TrimSpace(header[0]), templateParameters(header[1], s.name, text)
		}
		hidden := backend == kernels.CUDA && !slices.Contains(words, "__global__")
		for _, word := range words {
			hidden = hidden || word == "static" || word == "inline" || word == "__device__"
		}
		if hidden {
			continue
		}
		if s.parameters, s.refused = parameters(text[at[6]:at[7]], s.template); s.refused == nil {
			s.body = enclosed(text[at[1]:], "{", "}")
			s.findChanged()
		}
		found = append(found, s)
	}
	return found
}

// withoutNoise takes comments and strings out, and leaves lines where they are.
func withoutNoise(source string) string {
	return noise.ReplaceAllStringFunc(source, func(text string) string {
		if strings.HasPrefix(text, `"`) {
			return " " // as in extern "C"
		}
		return strings.Repeat("\n", strings.Count(text, "\n")) + " "
	})
}

// findChanged notes which outputs a function writes, and which it reads, too: y[i] += x, y[i] = x + y[i], or
// atomicAdd(&y[i], x). What *y is, y[0] is too.
func (s *signature) findChanged() {
	for i := range s.parameters {
		if p := &s.parameters[i]; p.out {
			s.body = regexp.MustCompile(`\*\s*(`+p.name+`)(\s*(?:[-+*/|&^]?=|[;),]))`).ReplaceAllString(s.body, "$1[0]$2")
			p.changed, p.written = elementUse(s.body, regexp.MustCompile(`\b`+p.name+`\s*\[`))
			uses := regexp.MustCompile(`\b`+p.name+`\b`).FindAllString(s.body, -1)
			p.handed = len(uses) > len(regexp.MustCompile(`(?:^|[^&\s])\s*\b`+p.name+`\s*\[`).FindAllString(s.body, -1))
			if regexp.MustCompile(`atomic\w+\s*\(\s*&?\s*` + p.name + `\b`).MatchString(s.body) {
				p.changed, p.written = true, true
			}
		}
	}
}

// assignment is what follows an element that is written.
var assignment = regexp.MustCompile(`^\s*(?:(?:[-+*/%&|^]|<<|>>)?=(?:[^=]|$)|\+\+|--)`)

// elementUse reports whether elements that begin as given are read, and written. One whose address is taken counts for
// neither.
func elementUse(body string, element *regexp.Regexp) (read, written bool) {
	for _, at := range element.FindAllStringIndex(body, -1) {
		index := enclosed(body[at[1]:], "[", "]")
		operator := assignment.FindString(strings.TrimPrefix(body[at[1]+len(index):], "]"))
		written = written || operator != ""
		plain := strings.HasPrefix(strings.TrimSpace(operator), "=")
		if !plain && !strings.HasSuffix(strings.TrimSpace(body[:at[0]]), "&") {
			read = true
		}
	}
	return read, written
}

// instanceOf is how arguments follow a template's name where it is called, launched or instantiated.
const instanceOf = `\s*<([^<>;{}()]*)>\s*(\(|<<<)`

var (
	template  = regexp.MustCompile(`template\s*<([^<>]*)>\s*$`)
	namespace = regexp.MustCompile(`namespace\s+(\w+)\s*$`)
	literal   = regexp.MustCompile(`^(?:\d{1,9}|true|false)$`)
)

// templateParameters reads the list of a template: typename T, int LANES = 4. Its arguments are those of the first
// use, f<float, 8>, as far as they are written out.
func templateParameters(list, name, source string) (all []templated) {
	var used []string
	if use := regexp.MustCompile(`\b` + name + instanceOf).FindStringSubmatch(source); use != nil {
		used = strings.Split(use[1], ",")
	}
	for i, text := range strings.Split(list, ",") {
		text, fallback, _ := strings.Cut(text, "=")
		words := strings.Fields(text)
		if len(words) < 2 {
			continue
		}
		t := templated{name: words[len(words)-1], kind: strings.Join(words[:len(words)-1], " ")}
		t.value, t.guessed = map[bool]string{true: "float", false: "1"}[t.isType()], true
		if t.kind == "bool" {
			t.value = "false"
		}
		candidates := []string{fallback}
		if i < len(used) {
			candidates = []string{used[i], fallback}
		}
		for _, value := range candidates {
			value = strings.TrimSpace(value)
			if t.guessed && (t.isType() && elementOf[value] != "" || !t.isType() && literal.MatchString(value)) {
				t.value, t.guessed = value, false
			}
		}
		all = append(all, t)
	}
	return all
}

// namespaceAt is the namespace that is open at the end of a text.
func namespaceAt(text string) string {
	var open []string
	for i, c := range text {
		switch {
		case c == '{':
			name := ""
			if match := namespace.FindStringSubmatch(text[:i]); match != nil {
				name = match[1]
			}
			open = append(open, name)
		case c == '}' && len(open) > 0:
			open = open[:len(open)-1]
		}
	}
	return strings.Join(slices.DeleteFunc(open, func(name string) bool { return name == "" }), "::")
}

// instance is how the entry is named, its numbers being parameters.
func (s signature) instance() string {
	name := s.name
	if s.space != "" {
		name = s.space + "::" + name
	}
	if len(s.template) == 0 {
		return name
	}
	var arguments []string
	for _, t := range s.template {
		if t.isType() {
			arguments = append(arguments, t.value)
		} else {
			arguments = append(arguments, "{"+t.parameter()+"}")
		}
	}
	return fmt.Sprintf("%s<%s>", name, strings.Join(arguments, ", "))
}

func parameters(list string, of []templated) ([]parameter, error) {
	var all []parameter
	if text := strings.TrimSpace(list); text == "" || text == "void" {
		return nil, fmt.Errorf("it takes no arguments")
	}
	for _, text := range strings.Split(list, ",") {
		p, err := newParameter(text, of)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(other parameter) bool { return strings.EqualFold(other.name, p.name) }) {
			return nil, fmt.Errorf("two of its arguments are called %s", p.name)
		}
		all = append(all, p)
	}
	if !slices.ContainsFunc(all, func(p parameter) bool { return p.out }) {
		return nil, fmt.Errorf("it writes to none of its arguments")
	}
	return all, nil
}

// newParameter reads one argument: const float *__restrict__ x.
func newParameter(text string, of []templated) (parameter, error) {
	words := strings.Fields(strings.NewReplacer("*", " * ", "[", " [ ", "]", " ] ", "std::", "").Replace(text))
	var kind []string
	var p parameter
	constant := false
	stars := 0
	for _, word := range words {
		switch word {
		case "const":
			constant = constant || stars == 0 // behind a star it is the pointer that is constant
		case "restrict", "__restrict__", "__restrict", "struct", "__grid_constant__":
		case "*":
			stars++
		default:
			kind = append(kind, word)
		}
	}
	if len(kind) < 2 || stars > 1 {
		return p, fmt.Errorf("its argument %q is not a number or a pointer to numbers", strings.TrimSpace(text))
	}
	p.name = kind[len(kind)-1]
	called := strings.Join(kind[:len(kind)-1], " ")
	if i := slices.IndexFunc(of, func(t templated) bool { return t.isType() && t.name == called }); i >= 0 {
		called = of[i].value
	}
	known := false
	if p.element, known = elementOf[called]; !known || !identifier.MatchString(p.name) {
		return p, fmt.Errorf("its argument %q has a type that a manifest has no name for: write out a macro or a typedef; "+
			"a structure is described by its fields, by hand (docs/manifest.md)", strings.TrimSpace(text))
	}
	p.pointer = stars == 1
	if !p.pointer && (strings.Contains(p.element, "x") || p.element[0] == 'c') {
		return p, fmt.Errorf("its argument %q is several numbers by value: take them one by one, or as a structure with "+
			"fields", strings.TrimSpace(text))
	}
	p.out = p.pointer && !constant
	return p, nil
}

var identifier = regexp.MustCompile(`^[A-Za-z_]\w*$`)

// macro is an integer, or a word or a fraction, that a source defines unless somebody else has.
type macro struct {
	name  string
	value int64
	word  string
	asked bool // the source takes it for a condition
}

var guarded = regexp.MustCompile(
	`(?m)^[ \t]*#[ \t]*ifndef[ \t]+(\w+)[ \t]*\r?\n[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+` +
		`(?:\(?(\d{1,9})\)?|([A-Za-z_][\w ]*?|-?(?:\d+\.\d*|\.?\d+)(?:[eE]-?\d+)?[fF]?))[ \t]*\r?$`)

// macros returns those in the order of the source.
func macros(source string) (found []macro) {
	source = withoutNoise(source)
	for _, match := range guarded.FindAllStringSubmatch(source, -1) {
		if match[1] != match[2] {
			continue
		}
		m := macro{name: match[1], word: match[4]}
		m.asked = regexp.MustCompile(`#\s*(el)?if\s+!?\s*` + m.name + `\b|\bif\s*\(\s*!?\s*` + m.name + `\s*\)|([(,!;{}?:]|&&|` +
			`\|\||[^<>=!]=|\breturn\b)\s*` + m.name + `\s*(\?|&&|\|\|)`).MatchString(source)
		if m.word == "" {
			fmt.Sscan(match[3], &m.value)
		}
		found = append(found, m)
	}
	return found
}

var withDefault = regexp.MustCompile(
	`(?m)^[ \t]*#[ \t]*ifndef[ \t]+(\w+)[ \t]*\r?\n[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+[^\s"]`)

// unknownMacros have a default that is no macro's here.
func unknownMacros(source string) (names []string) {
	known := macros(source)
	for _, match := range withDefault.FindAllStringSubmatch(withoutNoise(source), -1) {
		if match[1] == match[2] && !slices.ContainsFunc(known, func(m macro) bool { return m.name == match[1] }) {
			names = append(names, match[1])
		}
	}
	return names
}

var unguarded = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*define[ \t]+([A-Z]\w*)[ \t]+\(?(\d{1,9})\)?[ \t]*\r?$`)

// fixed are the macros with a number that the source defines whatever a compiler is told.
func fixed(source string) (names []string) {
	known := macros(source)
	for _, match := range unguarded.FindAllStringSubmatch(withoutNoise(source), -1) {
		if !slices.ContainsFunc(known, func(m macro) bool { return m.name == match[1] }) {
			names = append(names, match[1])
		}
	}
	return names
}

// values proposes what to try: a switch both ways, a size by powers of two around it.
func (m macro) values() []int64 {
	if m.value == 0 || m.value == 1 && m.asked {
		return []int64{0, 1}
	}
	var all []int64
	for _, v := range []int64{m.value / 4, m.value / 2, m.value, 2 * m.value, 4 * m.value} {
		if v > 0 && (len(all) == 0 || v > all[len(all)-1]) {
			all = append(all, v)
		}
	}
	return all
}
