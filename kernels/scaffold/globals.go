package scaffold

import (
	"fmt"
	"slices"
	"strings"

	"pawl/internal/collect"
	"pawl/kernels"
)

// global is a variable at file scope that a kernel reads: its content comes from the program around it, so that it
// is an argument in the manifest, and one of the reference.
type global struct {
	name, element string
	declared      string   // as an argument of the reference
	shape         []string // numbers, or macros that have one; nil for a scalar
	unknown       []string // sizes that are no number
	follows       string   // a macro that is tuned, and that its size has
}

// variables are those of the source by their names. Of several declarations the one with a value or a size counts.
func (u *unit) variables() (all []declaration) {
	for _, d := range u.declared {
		at := slices.IndexFunc(all, func(other declaration) bool { return other.name == d.name && other.space == d.space })
		switch {
		case d.function:
		case at < 0:
			all = append(all, d)
		case !d.is("extern"):
			all[at] = d
		}
	}
	return all
}

// reached are the functions that one calls, and those that they call; it is the first.
func (u *unit) reached(from declaration) (all []declaration) {
	named := map[string][]declaration{}
	for _, d := range u.declared {
		if d.complete && d.name != from.name {
			named[d.name] = append(named[d.name], d)
		}
	}
	all = []declaration{from}
	for i := 0; i < len(all); i++ {
		for _, t := range all[i].body {
			all = append(all, named[t.text]...)
			delete(named, t.text)
		}
	}
	return all
}

// free are the places in a function's body of names that it does not declare itself, and that are no fields.
func (d declaration) free() (places []int) {
	own := map[string]bool{}
	for _, p := range d.parameters {
		own[p.name] = true
	}
	scopes := []map[string]bool{own}
	for i, t := range d.body {
		before := textAt(d.body, i-1)
		switch {
		case t.text == "{":
			scopes = append(scopes, map[string]bool{})
		case t.text == "}" && len(scopes) > 1:
			scopes = scopes[:len(scopes)-1]
		}
		if t.kind != isWord || before == "." || before == "->" {
			continue
		}
		if starts := before == "(" && textAt(d.body, i-2) == "for"; starts || strings.Contains(";{}", before) {
			p := parser{tokens: d.body[i:min(len(d.body), i+mostOfTemplate)], local: true}
			p.declare(declaration{})
			for _, local := range p.found {
				scopes[len(scopes)-1][local.name] = true
			}
		}
		if !slices.ContainsFunc(scopes, func(scope map[string]bool) bool { return scope[t.text] }) {
			places = append(places, i)
		}
	}
	return places
}

// findGlobals looks for the variables that a function uses, in the order of the source. On a GPU they are constant or
// device memory; on the host those that other files can set. Of the others that are no constants it says so.
func (d *description) findGlobals() {
	called := d.unit.reached(d.declaration)
	used := map[string][]int{} // places in the function's own body
	for _, place := range d.free() {
		used[d.body[place].text] = append(used[d.body[place].text], place)
	}
	elsewhere := map[string]bool{}
	for _, function := range called[1:] {
		for _, place := range function.free() {
			elsewhere[function.body[place].text] = true
		}
	}
	for _, v := range d.unit.variables() {
		places := used[v.name]
		words, stars, constant, odd := d.unit.resolved(v)
		if places == nil && !elsewhere[v.name] || v.begun && (constant || v.is("constexpr")) || v.is("__shared__") {
			continue
		}
		element := elementOf(words)
		device := v.is("__constant__", "__device__")
		changed := slices.ContainsFunc(places, func(at int) bool {
			return written(d.body, at, at+1) != "" || textAt(d.body, at-1) == "&"
		})
		plain := v.stars == 0 && stars <= 1 && element != "" && !strings.HasPrefix(odd, "is a p") && v.odd == ""
		switch {
		case changed:
			d.others = append(d.others,
				v.name+" is written by the function: take it as an argument, so that it is checked")
		case !plain || v.begun || device != (d.backend == kernels.CUDA) || elsewhere[v.name] || v.space != "" ||
			v.is("static", "extern", "const", "constexpr", "__managed__", "thread_local", "_Thread_local") ||
			d.closing.macro != "":
			d.others = append(d.others, v.name+" stays as the source begins it: init makes no symbol of such a declaration; "+
				"if the program around the kernel sets it, take it as an argument")
		default:
			d.globals = append(d.globals, d.unit.global(v, element))
		}
	}
}

func (u *unit) global(v declaration, element string) global {
	kind := collect.Where(v.words, func(t token) bool {
		return !slices.Contains([]string{"__constant__", "__device__", "volatile"}, t.text)
	})
	g := global{name: v.name, element: element, declared: join(kind) + " " + v.name}
	for _, size := range v.sizes {
		g.declared += "[" + u.said(size) + "]"
		number, known := u.constant(size)
		if !known {
			number, g.unknown = 1, append(g.unknown, u.said(size))
		}
		for _, t := range size {
			if m := u.defined[t.text]; m != nil {
				g.follows = m.name
			}
		}
		g.shape = append(g.shape, fmt.Sprint(number))
	}
	if g.shape != nil {
		g.declared = "const " + g.declared
	}
	return g
}

// symbols describes the variables.
func (d *description) symbols(line func(string, ...any)) {
	for _, g := range d.globals {
		look := d.todo("what %s holds: it is a variable of the source, which the program around it sets", g.name)
		if g.follows != "" {
			look += d.todo("the size of %s where %s is not its default: it is as large as the default needs", g.name, g.follows)
		}
		for _, size := range g.unknown {
			look += d.todo("the size %s of %s", size, g.name)
		}
		if d.unit.defined["__cplusplus"] == nil && d.unit.calls(d.signature.name) {
			look += d.todo("in %s %s takes %s, too, and is called without it", d.reference, d.signature.name, g.name)
		}
		content := "value: 1"
		if g.shape != nil {
			content = "shape: [" + strings.Join(g.shape, ", ") + "], fill: uniform"
		}
		line("  - {name: %s, type: %s, %s, symbol: %s}%s", quoted(g.name), g.element, content, quoted(g.name), look)
	}
	for _, other := range d.others {
		line(" %s", d.todo("%s", other))
	}
}
