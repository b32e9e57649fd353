package scaffold

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"pawl/internal/collect"
	"pawl/kernels/csource"
)

// multiplied is how often an index multiplies by a size, in how many brackets, and at which token.
type multiplied struct{ times, within, at int }

// order puts last of an array's sizes those that its indices multiply by most, or outside of brackets: of
// (i * h + j) * w + k that is w, and before it h.
func (r reach) order(array string) func(a, b string) int {
	found := map[string]multiplied{}
	for i, t := range r.body {
		if t.Text != array || csource.At(r.body, i+1) != "[" {
			continue
		}
		inside, _ := csource.Enclosed(r.body, i+1)
		index, depth := r.spelledOut(inside, 4), 0
		for at, t := range index {
			depth += strings.Count(t.Text, "(") - strings.Count(t.Text, ")")
			if csource.At(index, at-1) == "*" || csource.At(index, at+1) == "*" {
				name := strings.ToUpper(t.Text) // as sizes are called
				found[name] = multiplied{found[name].times + 1, depth, at}
			}
		}
	}
	return func(a, b string) int {
		return cmp.Or(found[a].times-found[b].times, found[b].within-found[a].within, found[a].at-found[b].at)
	}
}

// spelledOut is an index with what its variables are assigned. What is longer than 50 tokens is cut: it may double.
func (r reach) spelledOut(index []csource.Token, levels int) (made []csource.Token) {
	for _, t := range index[:min(len(index), 50)] {
		values := r.assigned[t.Text]
		if levels > 0 && len(made) <= 50 && len(values) == 1 && !r.grows[t.Text] {
			made = append(append(made, csource.Token{Text: "("}), r.spelledOut(values[0], levels-1)...)
			made = append(made, csource.Token{Text: ")"})
		} else {
			made = append(made, t)
		}
	}
	return made
}

// names are those that conditions of these words, or indices ("["), are made of, and what those, and the pointers with
// an index, are assigned; those of arrays have a star where elements of theirs are.
func (r reach) names(words ...string) map[string]bool {
	names := map[string]bool{}
	var parts [][]csource.Token
	for _, c := range r.conditions {
		if slices.Contains(words, c.word) {
			parts = append(parts, c.text)
		}
	}
	for i, t := range r.body {
		if t.Text == "[" && slices.Contains(words, t.Text) {
			inside, _ := csource.Enclosed(r.body, i)
			parts = append(append(parts, inside), r.assigned[csource.At(r.body, i-1)]...)
		}
	}
	for i := 0; i < len(parts); i++ {
		for at, t := range parts[i] {
			if csource.At(parts[i], at-1) == "*" || csource.At(parts[i], at+1) == "[" {
				names["*"+t.Text] = true
			}
			if t.Kind == csource.Word && !names[t.Text] {
				names[t.Text] = true
				parts = append(parts, r.assigned[t.Text]...)
			}
		}
	}
	return names
}

// dimensions are the integers that the function takes, or one size where it takes none.
func (d *description) dimensions() []string {
	sizes := collect.Where(d.parameters, func(p parameter) bool { return p.isSize() && (p.bounds || p.maybe) })
	if len(sizes) == 0 {
		return []string{"SIZE"}
	}
	return collect.Each(sizes, d.dimension)
}

// isSize says that an integer may be one: as wide as an int or an address.
func (p parameter) isSize() bool {
	return !p.pointer && slices.Contains([]string{"i32", "u32", "i64", "u64"}, p.element)
}

// dimension is the name of a size; a macro of that name would be taken for it, and so would another size.
func (d *description) dimension(p parameter) string {
	name := strings.ToUpper(p.name)
	for _, other := range d.parameters {
		if other.name == p.name {
			break
		}
		if strings.EqualFold(other.name, p.name) {
			name += "_"
		}
	}
	for d.unit.Defined[name] != nil {
		name += "_SIZE"
	}
	return name
}

// shape is what the indices of an array tell, or the sizes, of which all make no array that fits.
func (d *description) shape(p parameter) []string {
	if p.shape != nil {
		return p.shape
	}
	dims := d.dimensions()
	return dims[:min(len(dims), mostDimensions)]
}

// within are the sizes that others must have room for, as those of a filter: a shape has the difference.
func (d *description) within() map[string]string {
	all := map[string]string{}
	for _, p := range d.parameters {
		for _, text := range p.shape {
			if match := difference.FindStringSubmatch(text); match != nil {
				all[match[2]] = match[1]
			}
		}
	}
	return all
}

var difference = regexp.MustCompile(`^(\w+) - ([A-Za-z_]\w*) \+ 1$`)
