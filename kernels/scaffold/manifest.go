package scaffold

import (
	"fmt"
	"slices"
	"strings"

	"pawl/kernels"
)

// description is a source on its way to a manifest.
type description struct {
	name, backend, source, reference string
	signature
	macros  []macro
	globals []global
	vector  bool     // it has the processor's vector instructions
	threads bool     // it has OpenMP's pragmas, which a compiler skips unless told
	fixed   []string // macros that have a number whatever the compiler is told
	open    []string
}

// todo notes something that a person has to look at, and returns it as a comment.
func (d *description) todo(format string, arguments ...any) string {
	text := fmt.Sprintf(format, arguments...)
	d.open = append(d.open, text)
	return " # look: " + text
}

func (d *description) manifest() string {
	var text strings.Builder
	line := func(format string, arguments ...any) { fmt.Fprintf(&text, format+"\n", arguments...) }
	line("# docs/manifest.md describes every key.")
	line("name: %s", d.name)
	line("entry: %s", d.entry())
	line("source: {%s: %s}", d.backend, d.source)
	line("reference: {%s: %s}%s", d.backend, d.reference,
		d.todo("%s is a copy of the kernel: replace it by plain code that you trust", d.reference))
	line("params:")
	var flags string
	for _, m := range d.macros {
		if m.word != "" {
			line("  %s: {values: [%s], default: %s}%s", m.name, m.word, m.word, d.todo("what else %s may be", m.name))
			continue
		}
		line("  %s: {values: %s, default: %d}", m.name, list(m.values()), m.value)
	}
	numbers := 0
	for _, t := range d.template {
		switch {
		case t.isType():
		case t.kind == "bool":
			line("  %s: {values: [false, true], default: false}", t.parameter())
			numbers++
		default:
			line("  %s: {values: [1, 2, 4, 8], default: 1}%s", t.parameter(), d.todo("the values of the template's %s", t.name))
			numbers++
		}
	}
	if len(d.macros)+numbers == 0 {
		name, values, flag := "LEVEL", "[1, 2, 3]", "-O{LEVEL}"
		if d.backend == kernels.CUDA {
			name, values, flag = "REGISTERS", "[64, 128, 255]", "-maxrregcount={REGISTERS}"
		}
		fallback := map[string]int{"LEVEL": 2, "REGISTERS": 255}[name]
		line("  %s: {values: %s, default: %d}%s", name, values, fallback,
			d.todo("%s, so that a compiler flag is tuned", d.noMacro()))
		flags = flag
	}
	dims := d.dimensions()
	var sizes []string
	longest := len(dims)
	if longest == 1 {
		for _, p := range d.parameters {
			longest = max(longest, 1+p.power)
		}
	}
	for _, dim := range dims {
		sizes = append(sizes, fmt.Sprintf("%s: %d", dim, size(longest)))
	}
	line("workloads:")
	line("  small: {%s}%s", strings.Join(sizes, ", "), d.todo("the sizes of your workload"))
	line("args:")
	for _, p := range d.parameters {
		d.argument(line, p, dims)
	}
	d.symbols(line)
	if d.backend == kernels.CUDA {
		d.launch(line, dims)
	}
	if d.vector {
		flags = strings.TrimPrefix(flags+`", "-march=native`, `", "`)
	}
	if d.threads {
		flags = strings.TrimPrefix(flags+`", "-fopenmp`, `", "`)
	}
	if flags != "" {
		line("flags: [\"%s\"]", flags)
	}
	return text.String()
}

// entry is the function's name, in quotes where it is more than one.
func (d *description) entry() string {
	name := d.instance()
	if strings.ContainsAny(name, "<{:") {
		name = fmt.Sprintf("%q", name)
	}
	if slices.ContainsFunc(d.template, templated.isType) {
		name += d.todo("the type in the arguments of the template: float is proposed")
	}
	return name
}

// noMacro says why nothing of the source is tuned.
func (d *description) noMacro() string {
	if len(d.fixed) == 0 {
		return "the source has no macro with a default (#ifndef NAME, #define NAME 8)"
	}
	return fmt.Sprintf("%s: #define without #ifndef round it cannot be tuned (#ifndef %s, #define %s 8, #endif)",
		strings.Join(d.fixed, ", "), d.fixed[0], d.fixed[0])
}

// dimensions are the integers that the function takes, or one size where it takes none.
func (d *description) dimensions() []string {
	var dims []string
	for _, p := range d.parameters {
		if !p.pointer && p.isSize() && !slices.Contains(dims, d.dimension(p)) {
			dims = append(dims, d.dimension(p))
		}
	}
	if len(dims) == 0 {
		return []string{"SIZE"}
	}
	return dims
}

// isSize says that an integer may be one: signed, or as wide as an address.
func (p parameter) isSize() bool {
	return p.element[0] == 'i' || p.element == "u64" || p.element == "u32"
}

// dimension is the name of a size; a macro of that name would be taken for it.
func (d *description) dimension(p parameter) string {
	name := strings.ToUpper(p.name)
	if slices.ContainsFunc(d.macros, func(m macro) bool { return m.name == name }) {
		name += "_SIZE"
	}
	return name
}

// size keeps a buffer over all dimensions small.
func size(dims int) int {
	switch dims {
	case 1:
		return 4096
	case 2:
		return 128
	}
	return 32
}

func (d *description) argument(line func(string, ...any), p parameter, dims []string) {
	switch {
	case p.pointer:
		more, look := "", ""
		if p.out {
			more = ", out: true"
		}
		if p.changed {
			more, look = ", inout: true, fill: uniform",
				d.todo("what %s holds before a launch: the source reads it, and does not declare it const; init: 0 instead "+
					"where it starts at a number", p.name)
		}
		shape := dims
		if len(dims) == 1 && p.power > 0 {
			shape = slices.Repeat(dims, 1+p.power)
			look += d.todo("the shape of %s: an index of it has %s multiplied", p.name, dims[0])
		}
		if len(dims) > 1 {
			look += d.todo("the shape of %s; it has room for all sizes multiplied", p.name)
		}
		if p.out && d.outputs() > 1 {
			look += d.todo("%s may be an input that the source does not declare const", p.name)
		}
		line("  - {name: %s, type: %s, shape: [%s]%s}%s", p.name, p.element, strings.Join(shape, ", "), more, look)
	case p.isSize():
		line("  - {name: %s, type: %s, value: %s}", p.name, p.element, d.dimension(p))
	default:
		line("  - {name: %s, type: %s, value: 1}%s", p.name, p.element, d.todo("the value of %s", p.name))
	}
}

func (d *description) outputs() (n int) {
	for _, p := range d.parameters {
		if p.out {
			n++
		}
	}
	return n
}

// launch proposes one thread for each element.
func (d *description) launch(line func(string, ...any), dims []string) {
	block := "256"
	for _, m := range d.macros {
		if upper := strings.ToUpper(m.name); strings.Contains(upper, "BLOCK") || strings.Contains(upper, "THREADS") {
			block = m.name
			break
		}
	}
	line("launch:%s", d.todo("grid and block: one thread for each element is proposed"))
	line("  grid: [\"cdiv(%s, %s)\"]", strings.Join(dims, " * "), block)
	line("  block: [%s]", block)
}

func list(values []int64) string {
	var texts []string
	for _, v := range values {
		texts = append(texts, fmt.Sprint(v))
	}
	return "[" + strings.Join(texts, ", ") + "]"
}
