package scaffold

import (
	"fmt"
	"slices"
	"strings"

	"pawl/internal/collect"
	"pawl/kernels"
	"pawl/kernels/csource"
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

// findGlobals looks for the variables that a function uses, in the order of the source. On a GPU they are constant or
// device memory; on the host those that other files can set. Of the others that are no constants it says so.
func (d *description) findGlobals() {
	called := d.unit.Reached(d.Declaration)
	used := map[string][]int{} // places in the function's own body
	for _, place := range d.Free() {
		used[d.Body[place].Text] = append(used[d.Body[place].Text], place)
	}
	elsewhere := map[string]bool{}
	for _, function := range called[1:] {
		for _, place := range function.Free() {
			elsewhere[function.Body[place].Text] = true
		}
	}
	for _, v := range d.unit.Variables() {
		places := used[v.Name]
		words, stars, constant, odd := d.unit.Resolved(v)
		if places == nil && !elsewhere[v.Name] || v.Begun && (constant || v.Has("constexpr")) || v.Has("__shared__") {
			continue
		}
		element := csource.Element(words)
		device := v.Has("__constant__", "__device__")
		changed := slices.ContainsFunc(places, func(at int) bool {
			return csource.Written(d.Body, at, at+1) != "" || csource.At(d.Body, at-1) == "&"
		})
		plain := v.Stars == 0 && stars <= 1 && element != "" && !strings.HasPrefix(odd, "is a p") && v.Odd == ""
		switch {
		case changed:
			d.others = append(d.others,
				v.Name+" is written by the function: take it as an argument, so that it is checked")
		case !plain || v.Begun || device != (d.backend == kernels.CUDA) || elsewhere[v.Name] || v.Space != "" ||
			v.Has("static", "extern", "const", "constexpr", "__managed__", "thread_local", "_Thread_local") ||
			d.Closing.Macro != "":
			d.others = append(d.others, v.Name+" stays as the source begins it: init makes no symbol of such a declaration; "+
				"if the program around the kernel sets it, take it as an argument")
		default:
			d.globals = append(d.globals, d.unit.global(v, element))
		}
	}
}

func (u unit) global(v csource.Declaration, element string) global {
	kind := collect.Where(v.Words, func(t csource.Token) bool {
		return !slices.Contains([]string{"__constant__", "__device__", "volatile"}, t.Text)
	})
	g := global{name: v.Name, element: element, declared: csource.Join(kind) + " " + v.Name}
	for _, size := range v.Sizes {
		g.declared += "[" + u.Said(size) + "]"
		number, known := u.Constant(size)
		if !known {
			number, g.unknown = 1, append(g.unknown, u.Said(size))
		}
		for _, t := range size {
			if m := u.Defined[t.Text]; m != nil {
				g.follows = m.Name
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
		if d.unit.Defined["__cplusplus"] == nil && d.unit.Calls(d.signature.Name) {
			look += d.todo("in %s %s takes %s, too, and is called without it", d.reference, d.signature.Name, g.name)
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
