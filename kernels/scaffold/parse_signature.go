package scaffold

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"pawl/internal/collect"
	"pawl/kernels"
)

// signature is a function as its source declares it.
type signature struct {
	declaration
	parameters []parameter
	template   []templated // what it is an instance of
	refused    error       // why init does not describe it
}

// templated is a parameter of a template: a type, or a number, with the value that the source has for it.
type templated struct {
	name, kind, value string
	guessed           bool // the source has none
}

// macro is a number as it is tuned.
func (t templated) macro() (m macro) {
	m.name = t.parameter()
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
	bounds  bool     // an integer that a loop or an index ends at
	maybe   bool     // one that may be for what is not understood
	follows string   // a macro that is tuned, and that its type or its shape has
	truth   bool     // it holds 0 and 1 alone
	counts  bool     // its elements go into an index or the condition of a loop
	ends    bool     // an integer that goes into a condition
}

// qualified is a name with its namespace.
func (d declaration) qualified() string { return strings.TrimPrefix(d.space+"::"+d.name, "::") }

// is says whether a word stands before the name of a declaration.
func (d declaration) is(words ...string) bool {
	return slices.ContainsFunc(d.words, func(t token) bool { return slices.Contains(words, t.text) })
}

// signatures returns the functions that a source defines and that can be called from elsewhere, in its order: for CUDA
// those that are __global__. Those that return a number are another list: their result cannot be compared.
func (u *unit) signatures(backend string) (found, returning []signature) {
	for _, d := range u.declared {
		words, stars, _, _ := u.resolved(d)
		for len(words) > 1 && elementOf(words) == "" {
			words = words[1:] // a macro of a file that is included
		}
		s := signature{declaration: d}
		switch {
		case !d.complete || stars > 0 || !identifier.MatchString(d.name) || d.name == "main" || backend == kernels.CUDA &&
			!d.is("__global__") || backend != kernels.CUDA && d.is("static", "inline", "__device__"):
		case slices.Equal(words, []string{"void"}):
			if s.refused = u.describe(&s); s.refused == nil {
				s.findChanged()
			}
			found = append(found, s)
		case elementOf(words) != "":
			s.refused = fmt.Errorf("it returns a number, and a result is what a kernel writes: add void %s_result(..., T "+
				"*result) { *result = %s(...); } and describe that", d.name, d.name)
			returning = append(returning, s)
		}
	}
	return found, returning
}

// calls reports whether another function of the source uses one.
func (u *unit) calls(name string) bool {
	return slices.ContainsFunc(u.declared, func(d declaration) bool {
		return d.name != name && slices.ContainsFunc(d.body, func(t token) bool { return t.text == name })
	})
}

// describe reads the parameters of a function and of its template, or says why it cannot.
func (u *unit) describe(s *signature) error {
	if s.odd != "" {
		return errors.New(s.odd)
	}
	for _, d := range u.declared {
		if strings.HasPrefix(d.name, s.name+"<") {
			return fmt.Errorf("its template is specialized (%s), and the reference needs one function", d.name)
		}
	}
	within := *u
	for i, d := range s.declaration.template {
		words, _, _, _ := u.resolved(d)
		kind, isType := elementOf(words), join(d.words) == "typename" || join(d.words) == "class"
		if d.odd != "" || !isType && (kind == "" || kind[0] == 'f') {
			return fmt.Errorf("its template has the parameter %q, which is no type or number with a name", u.said(d.list))
		}
		t := u.templated(s.name, i, d)
		if s.template = append(s.template, t); t.isType() {
			within.aliases = append([]declaration{{name: t.name, words: scan(t.value)}}, within.aliases...)
		}
	}
	if len(s.list) == 0 || join(s.list) == "void" {
		return fmt.Errorf("it takes no arguments")
	}
	for _, d := range s.declaration.parameters {
		p, err := within.parameter(d)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(s.parameters, func(other parameter) bool { return other.name == p.name }) {
			return fmt.Errorf("two of its arguments are called %s", p.name)
		}
		s.parameters = append(s.parameters, p)
	}
	if !slices.ContainsFunc(s.parameters, func(p parameter) bool { return p.out }) {
		return fmt.Errorf("it writes to none of its arguments")
	}
	return nil
}

// said is how tokens stand in the source.
func (u *unit) said(tokens []token) string {
	if len(tokens) == 0 {
		return ""
	}
	return strings.Join(strings.Fields(u.source[tokens[0].from:max(tokens[0].to, tokens[len(tokens)-1].to)]), " ")
}

// parameter reads one argument: const float *__restrict__ x.
func (u *unit) parameter(d declaration) (p parameter, err error) {
	words, stars, constant, odd := u.resolved(d)
	p = parameter{name: d.name, element: elementOf(words), pointer: stars == 1, out: stars == 1 && !constant}
	p.truth = slices.Equal(words, []string{"bool"}) || slices.Equal(words, []string{"_Bool"})
	several := strings.Contains(p.element, "x") || strings.HasPrefix(p.element, "c")
	switch said := u.said(d.list); {
	case odd != "" || stars > 1 || p.element == "" || !identifier.MatchString(p.name):
		odd = cmp.Or(odd, map[bool]string{true: "is a pointer to pointers"}[stars > 1], "has the type "+
			join(collect.Where(d.words, func(t token) bool { return !qualifiers[t.text] })))
		err = fmt.Errorf("its argument %q %s, which init does not describe: docs/manifest.md lists what a manifest can "+
			"describe; or add a void function that takes numbers and pointers to them and calls this one", said, odd)
	case several && !p.pointer:
		err = fmt.Errorf("its argument %q is several numbers by value: take them one by one, or as a structure with fields",
			said)
	}
	for _, t := range d.words {
		if m := u.defined[t.macro]; m != nil && m.guarded && m.word != "" {
			p.follows = t.macro
		}
	}
	return p, err
}

var identifier = regexp.MustCompile(`^[A-Za-z_]\w*$`)

// templated is a parameter of a template. Its value is that of the first use, f<float, 8>, or its default, as far as
// they are written out.
func (u *unit) templated(name string, i int, d declaration) templated {
	t := templated{name: d.name, kind: join(d.words), guessed: true}
	t.value = map[bool]string{true: "float", false: "1"}[t.isType()]
	if t.kind == "bool" {
		t.value = "false"
	}
	candidates := [][]token{d.given}
	for _, use := range u.instancesOf(name) {
		if arguments := split(use.arguments, ","); i < len(arguments) {
			candidates = [][]token{arguments[i], d.given}
			break
		}
	}
	for _, value := range candidates {
		words, stars, _, _ := u.resolved(declaration{words: value})
		number, isNumber := u.constant(value)
		switch {
		case !t.guessed:
		case t.isType() && stars == 0 && elementOf(words) != "":
			t.value, t.guessed = join(value), false
		case t.isType():
		case t.kind == "bool" && (join(value) == "true" || join(value) == "false"):
			t.value, t.guessed = join(value), false
		case isNumber && t.kind != "bool":
			t.value, t.guessed = fmt.Sprint(number), false
		}
	}
	return t
}

// constant is the value of an expression of numbers, and of macros at their defaults.
func (u *unit) constant(tokens []token) (int64, bool) {
	none := func(string, bool, bool) (int64, bool) { return 0, false }
	return expression{tokens: u.expand(tokens, nil, true), value: none}.evaluate()
}

// instance is a use of a template, its arguments, and their place with the brackets.
type instance struct {
	arguments []token
	from, to  int
}

// instancesOf are those that are called, launched or instantiated.
func (u *unit) instancesOf(name string) (found []instance) {
	for i, t := range u.tokens {
		if inside, next, ok := angles(u.tokens, i+1); ok && t.text == name {
			found = append(found, instance{inside, u.tokens[i+1].from, u.tokens[next-1].to})
		}
	}
	return found
}

// instance is how the entry is named, its numbers being parameters.
func (s signature) instance() string {
	name := s.qualified()
	if len(s.template) == 0 {
		return name
	}
	return name + "<" + strings.Join(collect.Each(s.template, func(t templated) string {
		if t.isType() {
			return t.value
		}
		return "{" + t.parameter() + "}"
	}), ", ") + ">"
}

// findChanged notes which outputs a function writes, and which it reads, too: y[i] += x, y[i] = x + y[i], or
// atomicAdd(&y[i], x). What *y is, y[0] is too.
func (s *signature) findChanged() {
	for i := range s.parameters {
		p := &s.parameters[i]
		if !p.out {
			continue
		}
		s.body = dereferenced(s.body, p.name)
		for at, t := range s.body {
			before, behind := textAt(s.body, at-1), textAt(s.body, at+1)
			if t.text != p.name || before == "." || before == "->" || before == "sizeof" {
				continue
			}
			function := textAt(s.body, at-2)
			if before == "&" {
				function = textAt(s.body, at-3)
			}
			if strings.Contains(function, "atomic") || strings.HasPrefix(function, "__sync_") {
				p.changed, p.written = true, true
			}
			if behind != "[" || before == "&" {
				p.handed = true
			}
			if behind != "[" {
				continue
			}
			_, next := enclosed(s.body, at+1)
			operator := written(s.body, at, next)
			p.written = p.written || operator != ""
			p.changed = p.changed || operator != "=" && before != "&"
		}
	}
}

// written is the operator that changes what a name with its indices and fields is, empty where none does.
func written(body []token, at, next int) string {
	for textAt(body, next) == "[" || textAt(body, next) == "." {
		if textAt(body, next) == "." {
			next += 2
		} else {
			_, next = enclosed(body, next)
		}
	}
	before, behind := textAt(body, at-1), textAt(body, next)
	switch {
	case before == "++" || before == "--":
		return before
	case behind == "++" || behind == "--", strings.HasSuffix(behind, "=") && operators[behind].level == 0:
		return behind
	}
	return ""
}

// dereferenced writes *y as y[0], where it is all that is done with y.
func dereferenced(body []token, name string) (made []token) {
	for i := 0; i < len(body); i++ {
		behind := textAt(body, i+2)
		if body[i].text != "*" || textAt(body, i+1) != name ||
			slices.Contains([]string{"++", "--", "[", "(", ".", "->"}, behind) {
			made = append(made, body[i])
			continue
		}
		made = append(made, body[i+1], token{text: "["}, token{kind: isNumber, text: "0"}, token{text: "]"})
		i++
	}
	return made
}
