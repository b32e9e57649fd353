package scaffold

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"pawl/kernels/csource"
)

// reach works out how far the indices of arrays go in a body, with numbers in place of sizes: variables are as large as
// the loops and conditions around them allow.
type reach struct {
	body       []csource.Token
	at         int // where in it an index is looked at
	conditions []condition
	assigned   map[string][][]csource.Token
	grows      map[string]bool  // variables that go beyond where they begin
	known      map[string]int64 // sizes, macros, and numbers of a template
	found      map[string]int64 // variables
	tried      map[string]bool  // and those that are looked for: none leads to itself
	bytes      map[string]bool  // arrays of u8
	used       map[string]bool  // sizes that something was found with
}

// condition is that of a loop or a branch.
type condition struct {
	word   string
	text   []csource.Token
	leaves bool // the source leaves where it holds
	end    int  // behind the statement that it is for, of which the word is the first
	from   int
}

// read notes the conditions and the assignments of the body.
func (r *reach) read() {
	r.assigned, r.grows, r.used = map[string][][]csource.Token{}, map[string]bool{}, map[string]bool{}
	r.found, r.tried = map[string]int64{}, map[string]bool{}
	for i, t := range r.body {
		next := csource.At(r.body, i+1)
		grows := slices.Contains([]string{"++", "+=", "*=", "|=", "^=", "<<="}, next) || csource.At(r.body, i-1) == "++"
		if t.Kind == csource.Word && grows {
			r.grows[t.Text] = true
		}
		switch {
		case next == "(" && (t.Text == "for" || t.Text == "while" || t.Text == "if"):
			c, end := condition{word: t.Text, from: i}, 0
			if c.text, end = csource.Enclosed(r.body, i+1); t.Text == "for" {
				if parts := csource.Split(c.text, ";"); len(parts) >= 2 {
					c.text = parts[1]
				}
			}
			first := csource.At(r.body, end)
			if first == "{" {
				first = csource.At(r.body, end+1)
			}
			c.leaves = slices.Contains([]string{"return", "continue", "break"}, first)
			c.end = csource.Statement(r.body, end)
			r.conditions = append(r.conditions, c)
		case t.Kind != csource.Word:
		case next == "=" || grows && strings.HasSuffix(next, "="):
			value := csource.Split(r.body[i+2:min(len(r.body), i+2+csource.MostOfTemplate)], ";")
			if len(value) > 0 {
				if value = csource.Split(value[0], ","); len(value) > 0 {
					r.assigned[t.Text] = append(r.assigned[t.Text], value[0])
				}
			}
		}
	}
}

// evaluate is the largest value of an expression, which has to grow with its variables.
func (r reach) evaluate(text []csource.Token) (int64, bool) {
	return csource.Expression{Tokens: text, Largest: true, Value: func(name string, fixed, element bool) (int64, bool) {
		if element {
			return 255, r.bytes[name]
		}
		if value, ok := r.known[name]; ok || fixed {
			r.used[name] = true
			return value, ok
		}
		return r.variable(name)
	}}.Evaluate()
}

// variable is the largest value of a name where it is used, as the conditions around that say, or others. Of two
// conditions in one both hold; loops follow each other.
func (r reach) variable(name string) (largest int64, ok bool) {
	if value, ok := r.found[name]; ok || r.tried[name] {
		return value, ok
	}
	r.tried[name] = true
	defer func() {
		if ok {
			r.found[name] = largest
		}
	}()
	for _, around := range []bool{true, false} {
		for _, word := range []string{"for", "while", "if"} {
			for _, c := range r.conditions {
				if c.word != word || around && (c.leaves || r.at < c.from || r.at >= c.end) {
					continue
				}
				if least, found := r.least(name, c); found {
					largest, ok = max(largest, least), true
				}
			}
			if ok {
				return largest, true
			}
		}
	}
	if r.grows[name] {
		return 0, false
	}
	for _, value := range r.assigned[name] {
		if value, found := r.evaluate(value); found {
			largest, ok = max(largest, value), true
		}
	}
	return largest, ok
}

// mirrored is a comparison with its sides exchanged.
var mirrored = map[string]string{"<": ">", ">": "<", "<=": ">=", ">=": "<=", "!=": "!="}

// least is what a condition lets a name be at most: i < n, or i >= n where the source leaves then.
func (r reach) least(name string, c condition) (least int64, ok bool) {
	both, either := "&&", "||" // of what the source leaves by, either is not the case behind it
	if c.leaves {
		both, either = either, both
	}
	for start, i := 0, 0; i <= len(c.text); i++ {
		if i < len(c.text) && c.text[i].Text != both {
			continue
		}
		part := c.text[start:i]
		start = i + 1
		if csource.Index(part, either) >= 0 {
			continue
		}
		at := slices.IndexFunc(part, func(t csource.Token) bool { return mirrored[t.Text] != "" })
		if at < 0 {
			continue
		}
		left, operator, right := trimmed(part[:at]), part[at].Text, trimmed(part[at+1:])
		step, bounded := r.behind(name, left)
		if !bounded {
			left, operator, right = right, mirrored[operator], left
			step, bounded = r.behind(name, left)
		}
		if operator == "!=" && c.word == "for" {
			operator = "<"
		}
		if !bounded || operator == "!=" || c.leaves != (operator[0] == '>') {
			continue
		}
		value, known := r.evaluate(right)
		if value -= step; operator == "<" || operator == ">=" {
			value--
		}
		if known && value >= 0 && (!ok || value < least) {
			least, ok = value, true
		}
	}
	return least, ok
}

// behind is how far one side of a comparison is behind a name: i + 4.
func (r reach) behind(name string, side []csource.Token) (step int64, ok bool) {
	if len(side) == 3 && side[1].Text == "+" {
		other := side[2].Text
		if other == name {
			other = side[0].Text
		} else if side[0].Text != name {
			return 0, false
		}
		if step, ok = r.known[other]; !ok {
			step, ok = csource.Integer(other)
		}
		return step, ok
	}
	return 0, len(side) == 1 && side[0].Text == name
}

// trimmed is part of a condition, without brackets that close or open in another part, or stand around all of it.
func trimmed(text []csource.Token) []csource.Token {
	open := 0
	for _, t := range text {
		open += strings.Count(t.Text, "(") - strings.Count(t.Text, ")")
	}
	for ; open > 0 && csource.At(text, 0) == "("; open-- {
		text = text[1:]
	}
	for ; open < 0 && csource.At(text, len(text)-1) == ")"; open++ {
		text = text[:len(text)-1]
	}
	if csource.At(text, 0) == "(" {
		if inside, next := csource.Enclosed(text, 0); next == len(text) {
			return trimmed(inside)
		}
	}
	return text
}

// extent is how many elements of an array are reached by what is known of its indices, 0 for none, and whether that
// is all.
func (r reach) extent(array string) (extent int64, all bool) {
	all = true
	for i, t := range r.body {
		if before := csource.At(r.body, i-1); t.Text != array || before == "." || before == "->" {
			continue
		}
		if csource.At(r.body, i+1) != "[" {
			all = false
			continue
		}
		inside, _ := csource.Enclosed(r.body, i+1)
		r.at, r.found, r.tried = i, map[string]int64{}, map[string]bool{}
		if index, known := r.evaluate(inside); known {
			extent = max(extent, index+1)
		} else {
			all = false
		}
	}
	return extent, all
}

// factor is what a shape may consist of, and its value at the trial sizes.
type factor struct {
	text  string
	value int64
}

// factors are the sizes themselves, small numbers, and what halos make of sizes.
func factors(sizes []factor) []factor {
	all := append(slices.Clone(sizes), factor{"2", 2}, factor{"3", 3}, factor{"4", 4})
	for i, a := range sizes {
		all = append(all, factor{a.text + " - 2", a.value - 2}, factor{a.text + " - 1", a.value - 1},
			factor{a.text + " + 1", a.value + 1}, factor{a.text + " + 2", a.value + 2})
		for j, b := range sizes {
			if i < j {
				sum, difference := a.value+b.value, a.value-b.value
				all = append(all, factor{a.text + " + " + b.text, sum}, factor{a.text + " + " + b.text + " - 1", sum - 1},
					factor{a.text + " - " + b.text + " + 1", difference + 1})
			}
		}
	}
	return all
}

// mostDimensions bounds a shape.
const mostDimensions = 4

// divided are factors with a product.
func divided(product int64, from []factor, most int) (shape []string, ok bool) {
	if product == 1 || most == 0 {
		return nil, product == 1
	}
	for i, f := range from {
		if product%f.value != 0 {
			continue
		}
		if more, ok := divided(product/f.value, from[i:], most-1); ok {
			return append([]string{f.text}, more...), true
		}
	}
	return nil, false
}

// nearest are the sizes whose product is nearest to a number: an index may stop short of a border.
func nearest(number float64, from []factor, most int) (shape []string, distance float64) {
	distance = math.Abs(math.Log(number))
	for i, f := range from {
		if most == 0 {
			break
		}
		if more, rest := nearest(number/float64(f.value), from[i:], most-1); rest < distance {
			shape, distance = append([]string{f.text}, more...), rest
		}
	}
	return shape, distance
}

// trialSizes are primes. What comes first is mostly larger, as an image than its filter; what is smaller than all of
// them depends on none.
var trialSizes = []int64{319993, 159979, 79979, 39989, 19997, 9973, 4999}

// findShapes notes the shape of each array, as far as the indices of the source tell, and which integers are sizes.
func (d *description) findShapes() {
	var sizes []factor
	var names []string
	r := &reach{body: d.Body, known: map[string]int64{}, bytes: map[string]bool{}}
	r.read()
	for _, m := range d.macros {
		r.known[m.Name] = m.Value
	}
	for _, t := range d.template {
		r.known[t.name] = t.number()
	}
	for _, p := range d.parameters {
		r.bytes[p.name] = p.pointer && p.element == "u8"
		if p.isSize() && len(sizes) < len(trialSizes) {
			r.known[p.name] = trialSizes[len(sizes)]
			sizes, names = append(sizes, factor{d.dimension(p), r.known[p.name]}), append(names, p.name)
		}
	}
	used := r.used
	for i, p := range d.parameters {
		r.used = map[string]bool{}
		extent, all := r.extent(p.name)
		maps.Copy(used, r.used)
		if !p.pointer || extent == 0 {
			continue
		}
		shape, exact := divided(extent, factors(sizes), mostDimensions)
		if extent < trialSizes[len(trialSizes)-1] {
			shape, exact = []string{fmt.Sprint(extent)}, true
			for _, m := range d.macros {
				if r.used[m.Name] {
					d.parameters[i].follows = m.Name
				}
			}
		} else if !exact {
			shape, _ = nearest(float64(extent), sizes, mostDimensions)
		}
		slices.SortStableFunc(shape, r.order(p.name))
		d.parameters[i].shape, d.parameters[i].exact = shape, exact && all
	}
	r.used = used
	for _, c := range r.conditions {
		for _, t := range c.text {
			if c.word != "if" && !r.used[t.Text] && t.Kind == csource.Word {
				r.used[t.Text] = true
				r.variable(t.Text)
			}
		}
	}
	shifted := map[string]bool{}
	for i, t := range r.body {
		if before := csource.At(r.body, i-1); before == "<<" || before == ">>" {
			shifted[t.Text] = true
			delete(r.used, t.Text)
		}
	}
	counts, ends := r.names("[", "for", "while"), r.names("for", "while", "if")
	unclear := slices.ContainsFunc(d.parameters, func(p parameter) bool { return p.pointer && p.shape == nil })
	for i, p := range d.parameters {
		d.parameters[i].counts = counts["*"+p.name] && strings.IndexAny(p.element, "iu") == 0
		d.parameters[i].ends = ends[p.name]
		d.parameters[i].bounds, d.parameters[i].maybe = r.used[p.name], unclear && !shifted[p.name]
	}
	d.turnSizes(r, names, sizes)
}

// turnSizes looks at the shapes with the last size the largest: of an array that one loop walks to n and another to m
// the shape depended on which is larger. A filter stays smaller than its image.
func (d *description) turnSizes(r *reach, names []string, sizes []factor) {
	if len(d.within()) > 0 {
		return
	}
	for i, j := 0, len(sizes)-1; i < j; i, j = i+1, j-1 {
		sizes[i].value, sizes[j].value = sizes[j].value, sizes[i].value
	}
	for i, name := range names {
		r.known[name] = sizes[i].value
	}
	values := map[string]int64{}
	for _, f := range factors(sizes) {
		values[f.text] = f.value
	}
	for i, p := range d.parameters {
		product := int64(1)
		for _, text := range p.shape {
			product *= values[text]
		}
		if extent, _ := r.extent(p.name); p.exact && product > 0 && extent != product {
			d.parameters[i].exact = false
		}
	}
}
