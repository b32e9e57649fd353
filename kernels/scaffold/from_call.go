package scaffold

import (
	"fmt"
	"slices"
	"strings"

	"pawl/internal/collect"
	"pawl/space"
)

// Call is what a program called a kernel on tiles with.
type Call struct {
	Arguments map[string]CallArgument `json:"arguments"`
	// Given are the arguments that the call names, the others having their defaults or being tuned.
	Given []string `json:"given"`
	// Options are the compiler's.
	Options map[string]int64 `json:"options"`
	// Grids are the counts of programs: at the call's own constants, and with some of them doubled. Formula says that the
	// program computes them from the constants.
	Grids   []CallGrid `json:"grids"`
	Formula bool       `json:"formula"`
}

// CallGrid is the grid where some constants have other values.
type CallGrid struct {
	At   map[string]int64 `json:"at"`
	Grid []int64          `json:"grid"`
}

// CallArgument is one argument: a tensor, an int, a float, a bool, a text such as None, or another.
type CallArgument struct {
	Kind    string      `json:"kind"`
	Type    string      `json:"type"`
	Shape   []int64     `json:"shape"`
	Strides []int64     `json:"strides"`
	Value   space.Value `json:"value"`
}

func (a CallArgument) contiguous() bool {
	step := int64(1)
	for i := len(a.Shape) - 1; i >= 0; i-- {
		if a.Shape[i] != 1 && a.Strides[i] != step {
			return false
		}
		step *= a.Shape[i]
	}
	return true
}

// size is a dimension of the workload.
type size struct {
	name  string
	value int64
	used  bool
}

// calledDescription is a call on its way to a manifest. Everything in it was seen; what it is called in a formula is
// concluded from equal numbers, so that two equal sizes are marked.
type calledDescription struct {
	*tileDescription
	call   Call
	sizes  []size
	shapes map[string][]string
}

// product is a product of sizes, and its value.
type product struct {
	text  string
	value int64
}

func fromCall(d *tileDescription, call Call) *calledDescription {
	c := &calledDescription{tileDescription: d, call: call, shapes: map[string][]string{}}
	for _, p := range d.f.Parameters {
		a := call.Arguments[p.Name]
		tile := tileName.MatchString(p.Name) || p.Use == "tile" && !p.Size || c.tuned(p.Name)
		isSize := a.Kind == "int" && a.Value.Integer() > 1 && !tile && !numberName.MatchString(p.Name) &&
			!strings.Contains(strings.ToLower(p.Name), "stride")
		if isSize && !slices.Contains(TileOptions, p.Name) {
			c.sizes = append(c.sizes, size{p.Name, a.Value.Integer(), false})
		}
	}
	for _, p := range d.f.Parameters {
		a := call.Arguments[p.Name]
		if a.Kind != "tensor" {
			continue
		}
		shape := []string{}
		for i, n := range a.Shape {
			shape = append(shape, c.named(n, fmt.Sprintf("%s_%d", strings.ToUpper(strings.TrimSuffix(p.Name, "_ptr")), i)))
		}
		if !a.contiguous() {
			extent := int64(1)
			for i, n := range a.Shape {
				extent += (n - 1) * a.Strides[i]
			}
			shape = []string{fmt.Sprint(extent)}
		}
		if len(shape) == 0 {
			shape = []string{"1"}
		}
		c.shapes[p.Name] = shape
	}
	return c
}

// tuned says that a constant has values in the list of configurations.
func (c *calledDescription) tuned(name string) bool {
	return slices.ContainsFunc(c.f.Configs, func(config map[string]space.Value) bool {
		_, there := config[name]
		return there
	})
}

// named is the size of a value: an argument's, or a new one.
func (c *calledDescription) named(value int64, otherwise string) string {
	if value <= 1 {
		return fmt.Sprint(value)
	}
	for i, s := range c.sizes {
		if s.value == value {
			c.sizes[i].used = true
			return s.name
		}
	}
	c.sizes = append(c.sizes, size{otherwise, value, true})
	return otherwise
}

// products are what numbers of the call may be: sizes, and what the shapes of tensors multiply to.
func (c *calledDescription) products() (all []product) {
	for _, s := range c.sizes {
		if s.used {
			all = append(all, product{s.name, s.value})
		}
	}
	for _, p := range c.f.Parameters {
		a, shape := c.call.Arguments[p.Name], c.shapes[p.Name]
		if a.Kind != "tensor" || !a.contiguous() {
			continue
		}
		for from := range shape {
			for to := from + 2; to <= len(shape); to++ {
				value := int64(1)
				for _, n := range a.Shape[from:to] {
					value *= n
				}
				factors := collect.Where(shape[from:to], func(factor string) bool { return factor != "1" })
				all = append(all, product{strings.Join(factors, " * "), value})
			}
		}
	}
	return all
}

// formula is what a number is: a size, a product of some, or the number itself.
func (c *calledDescription) formula(value int64) (text string, known bool) {
	if value <= 1 {
		return fmt.Sprint(value), true
	}
	for _, p := range c.products() {
		if p.value == value {
			return p.text, true
		}
	}
	return fmt.Sprint(value), false
}

// equalSizes are the names of sizes that cannot be told apart.
func (c *calledDescription) equalSizes() (groups []string) {
	for i, s := range c.sizes {
		var equal []string
		for _, other := range c.sizes[i+1:] {
			if other.value == s.value {
				equal = append(equal, other.name)
			}
		}
		earlier := slices.ContainsFunc(c.sizes[:i], func(other size) bool { return other.value == s.value })
		if len(equal) > 0 && !earlier {
			groups = append(groups, strings.Join(append([]string{s.name}, equal...), ", "))
		}
	}
	return groups
}

// workload writes the sizes of the call.
func (c *calledDescription) workload(line func(string, ...any)) {
	var parts []string
	for _, s := range c.sizes {
		if s.used {
			parts = append(parts, fmt.Sprintf("%s: %d", s.name, s.value))
		}
	}
	if len(parts) == 0 {
		parts = []string{"SIZE: 1"}
	}
	look := ""
	for _, group := range c.equalSizes() {
		look += c.todo("%s are equal in this call, so which of them stands where is a guess", group)
	}
	line("workloads:")
	line("  called: {%s}%s", strings.Join(parts, ", "), look)
}

// constants writes the constants of the call: those that are tuned, and those that are what they were.
func (c *calledDescription) constants(line func(string, ...any)) (defines []string) {
	for _, p := range c.f.Parameters {
		a, there := c.call.Arguments[p.Name]
		value := a.Value.String()
		if a.Value.Kind() == space.Text {
			value = fmt.Sprintf("%q", a.Value.String())
		}
		isSize := slices.ContainsFunc(c.sizes, func(s size) bool { return s.name == p.Name && s.used })
		number := a.Value.Integer()
		switch {
		case !there, p.Kind != "constant" && (a.Kind != "text" || a.Value.String() != "None"), c.tuned(p.Name),
			slices.Contains(TileOptions, p.Name), slices.Contains(c.f.Heuristics, p.Name),
			p.HasDefault && !slices.Contains(c.call.Given, p.Name):
		case a.Kind == "other":
			line("  %s: {values: [%s], default: %s}%s", p.Name, unknown, unknown,
				c.todo("%s was something that a manifest does not have", p.Name))
		case isSize:
			defines = append(defines, p.Name)
		case a.Kind == "int" && number >= 8 && number&(number-1) == 0 &&
			(tileName.MatchString(p.Name) || p.Use == "tile" && !p.Size):
			values := []int64{number / 2, number, 2 * number}
			if c.f.Covers[p.Name] != "" {
				values = []int64{number, 2 * number}
			}
			line("  %s: {values: %s, default: %d}", p.Name, list(values), number)
		default:
			line("  %s: {values: [%s], default: %s}", p.Name, value, value)
		}
	}
	return defines
}

// number writes an argument that is no tensor.
func (c *calledDescription) number(line func(string, ...any), p TileParameter, a CallArgument) {
	switch {
	case a.Kind == "float":
		line("  - {name: %s, type: f32, value: %s}", p.Name, a.Value)
	case a.Kind == "int":
		element := "i32"
		if n := a.Value.Integer(); n != int64(int32(n)) {
			element = "i64"
		}
		text, known := c.formula(a.Value.Integer())
		look := ""
		if !known && a.Value.Integer() > 1 {
			look = c.todo("%s is %s at all sizes", p.Name, text)
		}
		line("  - {name: %s, type: %s, value: %q}%s", p.Name, element, text, look)
	default:
		line("  - {name: %s, type: i32, value: %s}%s", p.Name, unknown,
			c.todo("%s was passed as %s", p.Name, a.Value))
	}
}

// grid is what each axis counts, as far as the counts of the call agree with it.
func (c *calledDescription) grid() (axes []string, look string) {
	for axis, count := range c.call.Grids[0].Grid {
		text, certain := c.axis(axis, count)
		axes = append(axes, fmt.Sprintf("%q", text))
		if !certain {
			look += c.todo("axis %d of the grid: %d programs in this call", axis, count)
		}
	}
	return axes, look
}

// axis looks for a formula that has the count of every grid: sizes, divided by constants that the count depends on.
func (c *calledDescription) axis(axis int, count int64) (text string, certain bool) {
	var divisors []string
	for _, g := range c.call.Grids {
		for name := range g.At {
			if len(g.At) == 1 && axis < len(g.Grid) && g.Grid[axis] != count {
				divisors = append(divisors, name)
			}
		}
	}
	slices.Sort(divisors)
	switch {
	case len(divisors) == 0 && c.call.Formula:
		return c.formula(count)
	case len(divisors) == 0: // the program has computed it before the call
		text, known := c.formula(count)
		return text, known && count == 1
	case len(divisors) > 2:
		return "?", false
	}
	var tried []string
	for _, first := range c.products() {
		for _, second := range append([]product{{"", 1}}, c.products()...) {
			sizes := []product{first, second}[:len(divisors)]
			quotient := func(at map[string]int64) int64 {
				result := int64(1)
				for i, s := range sizes {
					by, there := at[divisors[i]]
					if !there {
						by = c.call.Arguments[divisors[i]].Value.Integer()
					}
					result *= (s.value + by - 1) / by
				}
				return result
			}
			base := quotient(nil)
			if base == 0 || count%base != 0 {
				continue
			}
			factor := count / base
			fits := !slices.ContainsFunc(c.call.Grids, func(g CallGrid) bool { return g.Grid[axis] != factor*quotient(g.At) })
			rest, known := c.formula(factor)
			if !fits || !known {
				continue
			}
			parts := []string{}
			for i, s := range sizes {
				parts = append(parts, fmt.Sprintf("cdiv(%s, %s)", s.text, divisors[i]))
			}
			if factor != 1 {
				parts = append(parts, rest)
			}
			if formula := strings.Join(parts, " * "); !slices.Contains(tried, formula) {
				tried = append(tried, formula)
			}
		}
	}
	if len(tried) == 0 {
		return "?", false
	}
	slices.SortStableFunc(tried, func(a, b string) int { return len(a) - len(b) })
	return tried[0], len(tried) == 1 || len(tried[0]) < len(tried[1])
}
