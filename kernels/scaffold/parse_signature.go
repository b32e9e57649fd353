package scaffold

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"pawl/internal/collect"
	"pawl/kernels"
	"pawl/kernels/csource"
)

// unit is a source in which a kernel is looked for.
type unit struct{ *csource.Unit }

// signature is a function as its source declares it.
type signature struct {
	csource.Declaration
	parameters []parameter
	template   []templated // what it is an instance of
	refused    error       // why init does not describe it
}

// templated is a parameter of a template: a type, or a number, with the value that the source has for it.
type templated struct {
	name, kind, value string
	guessed           bool // the source has none
}

// number is its value, if it is one.
func (t templated) number() (value int64) {
	fmt.Sscan(t.value, &value)
	return value
}

// parameter is the name under which it is tuned: parameters are macros, and its own name is
// the template's.
func (t templated) parameter() string { return t.name + "_VALUE" }

func (t templated) isType() bool { return t.kind == "typename" || t.kind == "class" }

// parameter is one argument of a function.
type parameter struct {
	name        string
	element     string // the manifest's name of its type
	pointer     bool
	out         bool     // a pointer to what is not const
	csource.Use          // what the source does with it
	shape       []string // as far as its indices tell; nil for not at all
	exact       bool     // whether they reach all of the shape
	bounds      bool     // an integer that a loop or an index ends at
	maybe       bool     // one that may be for what is not understood
	follows     string   // a macro that is tuned, and that its type or its shape has
	truth       bool     // it holds 0 and 1 alone
	counts      bool     // its elements go into an index or the condition of a loop
	ends        bool     // an integer that goes into a condition
}

// signatures returns the functions that a source defines and that can be called from elsewhere, in its order: for CUDA
// those that are __global__. Those that return a number are another list: their result cannot be compared.
func (u unit) signatures(backend string) (found, returning []signature) {
	for _, d := range u.Declared {
		words, stars, _, _ := u.Resolved(d)
		for len(words) > 1 && csource.Element(words) == "" {
			words = words[1:] // a macro of a file that is included
		}
		s := signature{Declaration: d}
		switch {
		case !d.Complete || stars > 0 || !csource.Identifier.MatchString(d.Name) || d.Name == "main" ||
			backend == kernels.CUDA && !d.Has("__global__") ||
			backend != kernels.CUDA && d.Has("static", "inline", "__device__"):
		case slices.Equal(words, []string{"void"}):
			s.refused = u.describe(&s)
			found = append(found, s)
		case csource.Element(words) != "":
			s.refused = fmt.Errorf("it returns a number, and a result is what a kernel writes: add void %s_result(..., T "+
				"*result) { *result = %s(...); } and describe that", d.Name, d.Name)
			returning = append(returning, s)
		}
	}
	return found, returning
}

// describe reads the parameters of a function and of its template, and what it does with its outputs, or says why it
// cannot.
func (u unit) describe(s *signature) error {
	if s.Odd != "" {
		return errors.New(s.Odd)
	}
	for _, d := range u.Declared {
		if strings.HasPrefix(d.Name, s.Name+"<") {
			return fmt.Errorf("its template is specialized (%s), and the reference needs one function", d.Name)
		}
	}
	within := u
	for i, d := range s.Declaration.Template {
		words, _, _, _ := u.Resolved(d)
		kind, isType := csource.Element(words), csource.Join(d.Words) == "typename" || csource.Join(d.Words) == "class"
		if d.Odd != "" || !isType && (kind == "" || kind[0] == 'f') {
			return fmt.Errorf("its template has the parameter %q, which is no type or number with a name", u.Said(d.List))
		}
		t := u.templated(s.Name, i, d)
		if s.template = append(s.template, t); t.isType() {
			within = unit{within.WithType(t.name, t.value)}
		}
	}
	if len(s.List) == 0 || csource.Join(s.List) == "void" {
		return fmt.Errorf("it takes no arguments")
	}
	for _, d := range s.Declaration.Parameters {
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
	for i, p := range s.parameters {
		if p.out { // what *y is, y[0] is too
			s.Body = csource.Dereferenced(s.Body, p.name)
			s.parameters[i].Use = csource.UseOf(s.Body, p.name)
		}
	}
	return nil
}

// parameter reads one argument: const float *__restrict__ x.
func (u unit) parameter(d csource.Declaration) (p parameter, err error) {
	words, stars, constant, odd := u.Resolved(d)
	p = parameter{name: d.Name, element: csource.Element(words), pointer: stars == 1, out: stars == 1 && !constant}
	p.truth = slices.Equal(words, []string{"bool"}) || slices.Equal(words, []string{"_Bool"})
	several := strings.Contains(p.element, "x") || strings.HasPrefix(p.element, "c")
	switch said := u.Said(d.List); {
	case odd != "" || stars > 1 || p.element == "" || !csource.Identifier.MatchString(p.name):
		odd = cmp.Or(odd, map[bool]string{true: "is a pointer to pointers"}[stars > 1], "has the type "+
			csource.Join(collect.Where(d.Words, func(t csource.Token) bool { return !csource.Qualifiers[t.Text] })))
		err = fmt.Errorf("its argument %q %s, which init does not describe: docs/manifest.md lists what a manifest can "+
			"describe; or add a void function that takes numbers and pointers to them and calls this one", said, odd)
	case several && !p.pointer:
		err = fmt.Errorf("its argument %q is several numbers by value: take them one by one, or as a structure with fields",
			said)
	}
	for _, t := range d.Words {
		if m := u.Defined[t.Macro]; m != nil && m.Guarded && m.Word != "" {
			p.follows = t.Macro
		}
	}
	return p, err
}

// instance is how the entry is named, its numbers being parameters.
func (s signature) instance() string {
	name := s.Qualified()
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

// templated is a parameter of a template. Its value is that of the first use, f<float, 8>, or its default, as far as
// they are written out.
func (u unit) templated(name string, i int, d csource.Declaration) templated {
	t := templated{name: d.Name, kind: csource.Join(d.Words), guessed: true}
	t.value = map[bool]string{true: "float", false: "1"}[t.isType()]
	if t.kind == "bool" {
		t.value = "false"
	}
	candidates := [][]csource.Token{d.Given}
	for _, use := range u.Instances(name) {
		if arguments := csource.Split(use.Arguments, ","); i < len(arguments) {
			candidates = [][]csource.Token{arguments[i], d.Given}
			break
		}
	}
	for _, value := range candidates {
		words, stars, _, _ := u.Resolved(csource.Declaration{Words: value})
		number, isNumber := u.Constant(value)
		switch {
		case !t.guessed:
		case t.isType() && stars == 0 && csource.Element(words) != "":
			t.value, t.guessed = csource.Join(value), false
		case t.isType():
		case t.kind == "bool" && (csource.Join(value) == "true" || csource.Join(value) == "false"):
			t.value, t.guessed = csource.Join(value), false
		case isNumber && t.kind != "bool":
			t.value, t.guessed = fmt.Sprint(number), false
		}
	}
	return t
}
