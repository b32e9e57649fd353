package dispatch

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"pawl/internal/collect"
	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/space"
)

// selection looks values up in the tables that Python writes above it.
//
//go:embed selection.py
var selection string

// Python writes the table as a module that needs nothing but Python 3.8: configs looks values up, and autotune stands
// in for Triton's decorator and never tunes. Where constraints rule the default out, other values stand in for it.
func (t *Table) Python(w io.Writer) error {
	if t.Default == (space.Point{}) {
		return fmt.Errorf("the default of kernel %s is wrong on a workload, so that there is nothing for sizes that nobody "+
			"tuned: give the manifest another default", t.Kernel)
	}
	var text strings.Builder
	line := func(format string, arguments ...any) { fmt.Fprintf(&text, format+"\n", arguments...) }
	line("# Written by pawl: %s of %s for %s on %s.", page.Count(len(t.Variants), "variant"), escape.Line(t.Kernel),
		page.Count(len(t.Entries), "workload"), escape.Line(strings.Join(t.devices(), ", ")))
	line("# configs(device, **sizes) looks values up; autotune replaces triton.autotune and never tunes. Sizes nobody")
	line("# tuned have the default, and are appended to the file that PAWL_MISSED names, for pawl tune --workload FILE.")
	var conditions []string
	for _, c := range t.conditions {
		condition, err := c.Python()
		if err != nil {
			return err
		}
		conditions = append(conditions, condition)
	}
	line("KERNEL = %s", strconv.Quote(t.Kernel))
	var sizes, fixed, arguments []string
	for i, name := range t.Sizes {
		sizes = append(sizes, strconv.Quote(name))
		if slices.Contains(t.Fixed, name) {
			fixed = append(fixed, fmt.Sprint(i))
		}
		if argument := t.Arguments[name]; argument != "" {
			arguments = append(arguments, strconv.Quote(name)+": "+strconv.Quote(argument))
		}
	}
	line("SIZES = [%s]", strings.Join(sizes, ", "))
	line("FIXED = [%s]  # positions of sizes that are never taken for others", strings.Join(fixed, ", "))
	line("ARGUMENTS = {%s}  # the kernel's arguments that are sizes", strings.Join(arguments, ", "))
	line("VARIANTS = [")
	for _, v := range t.Variants {
		line("    %s,", values(v.Point))
	}
	line("]")
	line("DEFAULT = %s", values(t.Default))
	line("TUNED = {")
	written := map[string]bool{} // the first counts, as in the header
	for _, e := range t.Entries {
		key := collect.Each(t.Sizes, func(name string) string { return fmt.Sprint(e.Sizes[name]) })
		sizes := key[0]
		if len(key) > 1 {
			sizes = "(" + strings.Join(key, ", ") + ")"
		}
		place := fmt.Sprintf("(%s, %s)", strconv.Quote(e.Device), sizes)
		if !written[place] {
			line("    %s: VARIANTS[%d],  # %s", place, e.Variant, escape.Line(e.Workload))
		}
		written[place] = true
	}
	line("}\n\n\ndef _right(v):  # whether values are right at sizes")
	line("    return %s\n", cmp.Or(strings.Join(conditions, " and "), "True"))
	_, err := io.WriteString(w, text.String()+selection)
	return err
}

// values is a point as a dictionary. Go and Python quote alike.
func values(p space.Point) string {
	var pairs []string
	for _, a := range p.Assignments() {
		value := a.Value.String()
		switch a.Value.Kind() {
		case space.Text:
			value = strconv.Quote(a.Value.Define())
		case space.Boolean:
			value = strings.ToUpper(value[:1]) + value[1:]
		}
		pairs = append(pairs, strconv.Quote(a.Name)+": "+value)
	}
	return "{" + strings.Join(pairs, ", ") + "}"
}
