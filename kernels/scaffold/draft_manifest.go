package scaffold

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"pawl/internal/collect"
	"pawl/kernels"
	"pawl/kernels/csource"
)

// description is a source on its way to a manifest.
type description struct {
	name, backend, source, reference string
	unit                             unit
	signature
	notes
	macros  []csource.Macro
	globals []global
	others  []string // what is said of variables of the source that are not described
	rivals  []string // functions that may be the kernel, too
	flags   []string
}

// Mark begins a comment in a manifest that a person has to look at.
const Mark = " # look: "

// notes are what a person has to look at.
type notes struct{ open []string }

// todo notes something, and returns it as a comment.
func (n *notes) todo(format string, arguments ...any) string {
	text := fmt.Sprintf(format, arguments...)
	n.open = append(n.open, text)
	return Mark + text
}

func (d *description) manifest() string {
	var text strings.Builder
	line := func(format string, arguments ...any) { fmt.Fprintf(&text, format+"\n", arguments...) }
	line("# docs/manifest.md describes every key.")
	line("name: %s", d.name)
	line("entry: %s", d.entry())
	line("source: {%s: %s}", d.backend, d.source)
	line("reference: {%s: %s}%s", d.backend, d.reference,
		d.todo("%s is a copy of the kernel: replace it with plain code that you trust", d.reference))
	d.sourceNotes(line)
	line("params:")
	d.parametersOf(line)
	dims := d.dimensions()
	var sizes []string
	longest := 1
	for _, p := range d.parameters {
		if p.pointer {
			longest = max(longest, len(d.shape(p)))
		}
	}
	within := d.within()
	for _, dim := range dims {
		usual := max(32, map[int]int{1: 4096, 2: 128}[longest]) // a buffer over all dimensions is small
		if within[dim] != "" {
			usual = 5
		}
		sizes = append(sizes, fmt.Sprintf("%s: %d", dim, usual))
	}
	line("workloads:")
	line("  small: {%s}%s", strings.Join(sizes, ", "), d.todo("the sizes of your workload"))
	if len(within) > 0 {
		rules := collect.Each(slices.Sorted(maps.Keys(within)), func(d string) string { return d + " <= " + within[d] })
		line("domain: [%s]", strings.Join(rules, ", "))
	}
	line("args:")
	for _, p := range d.parameters {
		d.argument(line, p)
	}
	d.symbols(line)
	if d.backend == kernels.CUDA {
		d.launch(line, dims[:min(len(dims), mostDimensions)])
	}
	d.compilation(line)
	return text.String()
}

// sourceNotes says what of the source as a whole has to be looked at.
func (d *description) sourceNotes(line func(string, ...any)) {
	for _, file := range d.unit.Included {
		if strings.HasPrefix(file, `"`) {
			line(" %s", d.todo("the source includes %s: put it here, too; init did not read it", strings.Trim(file, `"`)))
		}
	}
	for _, name := range collect.Distinct(d.unit.Unset) {
		line(" %s", d.todo("%s decides what is compiled, and the source does not define it: init read it without", name))
	}
	for _, text := range d.unit.Errors {
		line(" %s", d.todo("without a macro the source stops at #error %s", text))
	}
	if _, calls := d.unit.onOneThread(); len(calls) > 0 && d.backend == kernels.Host {
		line(" %s", d.todo("%s: the reference is compiled without OpenMP, so take this out of %s",
			strings.Join(calls, ", "), d.reference))
	}
}

// parametersOf lists what is tuned: macros, numbers of a template, or else a compiler's flag.
func (d *description) parametersOf(line func(string, ...any)) {
	for _, m := range d.macros {
		if m.Word != "" {
			line("  %s: {values: [%s], default: %s}%s", quoted(m.Name), quoted(m.Word), quoted(m.Word),
				d.todo("what else %s may be, and reference: true if the result depends on it", m.Name))
			continue
		}
		look := d.todo("the values of %s, and reference: true if the result depends on it", m.Name)
		if d.unit.Defined[m.Name].Decides {
			look += d.todo("init did not read what is compiled only where %s is not %d", m.Name, m.Value)
		}
		line("  %s: {values: %s, default: %d}%s", quoted(m.Name), list(proposals(m.Value, m.Asked)), m.Value, look)
	}
	for _, name := range d.unit.Unknown() {
		line(" %s", d.todo("%s has a default that is no plain number or word; list its values here to tune it", name))
	}
	numbers := 0
	for _, t := range d.template {
		if t.isType() {
			continue
		}
		values := "[false, true]"
		if t.kind != "bool" {
			values = list(proposals(t.number(), false))
		}
		line("  %s: {values: %s, default: %s}%s", t.parameter(), values, t.value,
			d.todo("the values of %s, which is the template's %s, and reference: true if the result depends on it",
				t.parameter(), t.name))
		numbers++
	}
	if len(d.macros)+numbers == 0 {
		name, values, fallback, flag := "LEVEL", "[1, 2, 3]", 2, "-O{LEVEL}"
		if d.backend == kernels.CUDA {
			name, values, fallback, flag = "REGISTERS", "[64, 128, 255]", 255, "-maxrregcount={REGISTERS}"
		}
		line("  %s: {values: %s, default: %d}%s", name, values, fallback,
			d.todo("%s, so that a compiler flag is tuned", d.noMacro()))
		d.flags = append(d.flags, flag)
	}
}

// quoted is a word as YAML has it: some of its words are no text.
func quoted(word string) string {
	if slices.Contains([]string{"null", "true", "false"}, strings.ToLower(word)) {
		return `"` + word + `"`
	}
	return word
}

// compilation says how a source for a processor is compiled, and with how many threads it runs.
func (d *description) compilation(line func(string, ...any)) {
	if d.backend == kernels.Host {
		if threads := d.threads(); threads != "" {
			line("launch: {threads: %s}", threads)
		} else if d.unit.parallel() {
			line(" %s", d.todo("launch: {threads: 4} if it is to run on four threads: without it, it runs on one"))
		}
		if d.unit.Vector {
			d.flags = append(d.flags, "-march=native")
		}
		if d.unit.parallel() {
			d.flags = append(d.flags, "-fopenmp")
		}
	}
	if d.flags != nil {
		line("flags: [\"%s\"]", strings.Join(d.flags, `", "`))
	}
}

// threads is how many the pragmas ask for, where that is a number or a macro that is tuned.
func (d *description) threads() string {
	for i, t := range d.unit.Pragmas {
		name := csource.At(d.unit.Pragmas, i+2)
		_, isNumber := csource.Integer(name)
		if t.Text == "num_threads" && csource.At(d.unit.Pragmas, i+3) == ")" &&
			(isNumber || slices.ContainsFunc(d.macros, func(m csource.Macro) bool { return m.Name == name && m.Word == "" })) {
			return name
		}
	}
	return ""
}

// entry is the function's name, in quotes where it is more than one.
func (d *description) entry() string {
	name := fmt.Sprintf("%q", d.instance())
	if !strings.ContainsAny(name, "<{:") {
		name = quoted(d.instance())
	}
	if len(d.rivals) > 0 {
		name += d.todo("no other function calls %s, so it was chosen; --entry names another: %s", d.signature.Name,
			strings.Join(d.rivals, ", "))
	}
	if slices.ContainsFunc(d.template, func(t templated) bool { return t.isType() && t.guessed }) {
		name += d.todo("the type in the arguments of the template: float is proposed")
	}
	return name
}

// noMacro says why nothing of the source is tuned.
func (d *description) noMacro() string {
	fixed := d.unit.Fixed()
	if len(fixed) == 0 {
		return "the source uses no macro with a default (#ifndef NAME, #define NAME 8)"
	}
	return fmt.Sprintf("%s: #define without #ifndef around it cannot be tuned (#ifndef %s, #define %s 8, #endif)",
		strings.Join(fixed, ", "), fixed[0], fixed[0])
}

func (d *description) argument(line func(string, ...any), p parameter) {
	switch {
	case p.pointer:
		more, look := "", ""
		if p.out {
			more = ", out: true"
		}
		if p.Changed {
			more, look = ", inout: true, fill: uniform", d.todo("what %s holds before a launch: the source reads it, and does "+
				"not declare it const; init: 0 instead of fill if it has to be zeros", p.name)
		} else if p.out && p.Handed {
			look = d.todo("inout: true if the source reads %s before it writes it: it is used by more than its elements", p.name)
		}
		switch read := !p.out || p.Changed; {
		case read && p.truth:
			more += ", range: [0, 1]"
		case read && p.counts:
			look += d.todo("the range of %s, as in range: [0, N - 1]: its elements go into an index or the condition of a loop",
				p.name)
		}
		switch {
		case p.shape == nil:
			look += d.todo("the shape of %s: its indices do not tell; here it is %s", p.name,
				strings.Join(d.shape(p), " * "))
		case !p.exact:
			look += d.todo("the shape of %s: only some of its indices are understood", p.name)
		case len(p.shape) == 1 && !strings.Contains(p.shape[0], " "):
		case len(collect.Distinct(p.shape)) < len(p.shape), !allNames(p.shape):
			look += d.todo("the shape of %s: it is as large as its indices reach", p.name)
		}
		if p.follows != "" {
			look += d.todo("the type or shape of %s where %s is not its default", p.name, p.follows)
		}
		if p.out && !p.Written && len(collect.Where(d.parameters, func(p parameter) bool { return p.out })) > 1 {
			look += d.todo("%s may be an input that the source does not declare const", p.name)
		}
		line("  - {name: %s, type: %s, shape: [%s]%s}%s", quoted(p.name), p.element, strings.Join(d.shape(p), ", "), more,
			look)
	default:
		value, look := "1", ""
		if p.isSize() && (p.bounds || p.maybe) {
			value = d.dimension(p)
		}
		switch {
		case p.isSize() && p.bounds && p.ends:
		case p.isSize() && p.bounds:
			look = d.todo("whether %s is a size, or an offset or a step: it stands in indices, and in no condition", p.name)
		case p.isSize() && p.maybe:
			look = d.todo("whether %s is a size: init understands no loop and no index that ends at it", p.name)
		case p.isSize():
			look = d.todo("the value of %s: no loop and no index ends at it; if it is a size, add it to the workload", p.name)
		default:
			look = d.todo("the value of %s", p.name)
		}
		line("  - {name: %s, type: %s, value: %s}%s", quoted(p.name), p.element, value, look)
	}
}

func allNames(shape []string) bool {
	return !slices.ContainsFunc(shape, func(factor string) bool { return !csource.Identifier.MatchString(factor) })
}

// launch proposes one thread for each element, in two dimensions where the source has them: x goes with the last size.
func (d *description) launch(line func(string, ...any), dims []string) {
	tuned := map[string]string{}
	for _, t := range d.template {
		if !t.isType() && t.kind != "bool" {
			tuned[t.name] = t.parameter()
		}
	}
	for _, m := range d.macros {
		if m.Value > 0 {
			tuned[m.Name] = m.Name
		}
	}
	blocks := map[string]string{} // by axis: what block indices are multiplied by, or what is called so
	for i, t := range d.Body {
		if axis := csource.At(d.Body, i-2); csource.At(d.Body, i-1) == "*" && csource.At(d.Body, i-4) == "blockIdx" {
			if t.Kind == csource.Number {
				tuned[t.Text] = t.Text
			}
			blocks[axis] = cmp.Or(blocks[axis], tuned[t.Text])
		}
	}
	others := collect.Where(slices.Sorted(maps.Keys(tuned)), func(name string) bool {
		return threadsName.MatchString(name) && !slices.Contains(slices.Collect(maps.Values(blocks)), tuned[name])
	})
	for _, axis := range []string{"x", "y"} {
		if blocks[axis] == "" && len(others) > 0 {
			blocks[axis], others = tuned[others[0]], others[1:]
		}
	}
	line("launch:%s", d.todo("grid and block: one thread for each element is proposed"))
	defer d.shared(line)
	if strings.Contains(csource.Join(d.Body), "Idx . y") && len(dims) > 1 {
		if at := slices.IndexFunc(d.parameters, func(p parameter) bool { return p.out && len(p.shape) > 1 }); at >= 0 {
			dims = d.parameters[at].shape
		}
		last, x, y := len(dims)-1, cmp.Or(blocks["x"], "16"), cmp.Or(blocks["y"], "16")
		rows := dims[0]
		if last > 1 {
			rows = "(" + strings.Join(dims[:last], ") * (") + ")"
		}
		line("  grid: [\"cdiv(%s, %s)\", \"cdiv(%s, %s)\"]", dims[last], x, rows, y)
		line("  block: [%s, %s]", x, y)
		return
	}
	x := cmp.Or(blocks["x"], "256")
	line("  grid: [\"cdiv(%s, %s)\"]", strings.Join(dims, " * "), x)
	line("  block: [%s]", x)
}

var threadsName = regexp.MustCompile(`(?i)block|threads`)

// shared notes memory whose size a launch states.
func (d *description) shared(line func(string, ...any)) {
	tokens := d.unit.Tokens
	if csource.Index(d.Body, "this_grid") >= 0 {
		line(" %s", d.todo("this_grid: pawl launches no kernel cooperatively, so its grid cannot be synchronized"))
	}
	for i, t := range tokens {
		if t.Text == "__shared__" && (csource.At(tokens, i-1) == "extern" || csource.At(tokens, i+1) == "extern") {
			line("  shared: 0%s", d.todo("shared: the bytes of the source's extern __shared__ memory"))
			return
		}
	}
}

func list(values []int64) string { return strings.ReplaceAll(fmt.Sprint(values), " ", ", ") }

// proposals are what to try: a switch both ways, a size by powers of two around it.
func proposals(value int64, asked bool) []int64 {
	if value == 0 || value == 1 && asked {
		return []int64{0, 1}
	}
	var all []int64
	for _, v := range []int64{value / 4, value / 2, value, 2 * value, 4 * value} {
		if v == value || v > 0 && value > 0 && v>>2 <= value && (len(all) == 0 || v > all[len(all)-1]) {
			all = append(all, v)
		}
	}
	return slices.Compact(all)
}
