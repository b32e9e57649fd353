package scaffold

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// signature is a function as its source declares it.
type signature struct {
	name       string
	global     bool // __global__
	parameters []parameter
}

// parameter is one argument of a function.
type parameter struct {
	name    string
	element string // the manifest's name of its type
	pointer bool
	out     bool // a pointer to what is not const
}

// elementOf has the manifest's names of C's types.
var elementOf = map[string]string{
	"double": "f64", "float": "f32", "half": "f16", "__half": "f16", "__nv_bfloat16": "bf16", "nv_bfloat16": "bf16",
	"int": "i32", "int32_t": "i32", "signed": "i32", "signed int": "i32", "long long": "i64", "int64_t": "i64", "long": "i64", "long int": "i64", "ptrdiff_t": "i64",
	"int16_t": "i16", "short": "i16", "int8_t": "i8", "signed char": "i8", "uint8_t": "u8", "unsigned char": "u8",
	"uint16_t": "u16", "unsigned short": "u16", "uint32_t": "u32", "unsigned": "u32", "unsigned int": "u32",
	"uint64_t": "u64", "unsigned long": "u64", "unsigned long long": "u64", "size_t": "u64",
}

var (
	noise    = regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'`)
	bounds   = regexp.MustCompile(`__launch_bounds__\s*\([^)]*\)`)
	function = regexp.MustCompile(`((?:\b\w+\s+)*)void\s+([A-Za-z_]\w*)\s*\(([^()]*)\)\s*\{`)
)

// signatures returns the functions without a result that a source defines and that can be
// called from elsewhere, in its order, with why some cannot be described.
func signatures(source string) (found []signature, refused map[string]error) {
	refused = map[string]error{}
	text := bounds.ReplaceAllString(withoutNoise(source), " ")
	for _, match := range function.FindAllStringSubmatch(text, -1) {
		words := strings.Fields(match[1])
		s := signature{name: match[2]}
		hidden := false
		for _, word := range words {
			s.global = s.global || word == "__global__"
			hidden = hidden || word == "static" || word == "inline" || word == "__device__"
		}
		if hidden {
			continue
		}
		var err error
		if s.parameters, err = parameters(match[3]); err != nil {
			refused[s.name] = err
			continue
		}
		found = append(found, s)
	}
	return found, refused
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

func parameters(list string) ([]parameter, error) {
	var all []parameter
	if text := strings.TrimSpace(list); text == "" || text == "void" {
		return nil, fmt.Errorf("it takes no arguments")
	}
	for _, text := range strings.Split(list, ",") {
		p, err := newParameter(text)
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
func newParameter(text string) (parameter, error) {
	words := strings.Fields(strings.NewReplacer("*", " * ", "[", " [ ", "]", " ] ").Replace(text))
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
	known := false
	if p.element, known = elementOf[strings.Join(kind[:len(kind)-1], " ")]; !known || !identifier.MatchString(p.name) {
		return p, fmt.Errorf("its argument %q has a type that a manifest has no name for", strings.TrimSpace(text))
	}
	p.pointer = stars == 1
	p.out = p.pointer && !constant
	return p, nil
}

var identifier = regexp.MustCompile(`^[A-Za-z_]\w*$`)

// macro is a number that a source defines unless somebody else has.
type macro struct {
	name  string
	value int64
}

var guarded = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*ifndef[ \t]+(\w+)[ \t]*\r?\n[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+\(?(\d{1,9})\)?[ \t]*\r?$`)

// macros returns those in the order of the source.
func macros(source string) (found []macro) {
	for _, match := range guarded.FindAllStringSubmatch(withoutNoise(source), -1) {
		if match[1] != match[2] {
			continue
		}
		m := macro{name: match[1]}
		fmt.Sscan(match[3], &m.value)
		found = append(found, m)
	}
	return found
}

// values proposes what to try: a switch both ways, a size by powers of two around it.
func (m macro) values() []int64 {
	if m.value <= 1 && !strings.Contains(strings.ToUpper(m.name), "BLOCK") {
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
