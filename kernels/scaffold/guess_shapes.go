package scaffold

import (
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// reach works out how far the indices of arrays go in a body, with numbers in place of sizes: variables are as large as
// the loops and conditions around them allow.
type reach struct {
	body  string
	known map[string]int64 // sizes, macros, and numbers of a template
	found map[string]int64 // variables
	tried map[string]bool  // and those that are looked for: none leads to itself
	bytes map[string]bool  // arrays of u8
}

var (
	words      = regexp.MustCompile(`\w+`)
	assigned   = regexp.MustCompile(`\b(\w+)\s*=([^=;,][^;,]*)[;,]`)
	bound      = regexp.MustCompile(`(?:(\w+)\s*\+\s*)?(\w+)\s*(<=?|>=)([^<>=?]+)$`)
	cast       = regexp.MustCompile(`\(\s*(?:(?:unsigned|signed|const|long|int|short|size_t|ptrdiff_t|u?int\d+_t)\s*)+\)`)
	leaving    = regexp.MustCompile(`^\)\s*\{?\s*(?:return|continue|break)\b`)
	subtracted = regexp.MustCompile(`-\s*([A-Za-z_]\w*)`)
	element    = regexp.MustCompile(`\b(\w+)\s*\[[^\[\]]*\]`)
)

// evaluate is the largest value of an expression, which has to grow with its variables.
func (r reach) evaluate(text string) (int64, bool) {
	for _, match := range subtracted.FindAllStringSubmatch(text, -1) {
		if _, known := r.known[match[1]]; !known {
			return 0, false
		}
	}
	text = element.ReplaceAllStringFunc(cast.ReplaceAllString(text, ""), func(found string) string {
		if r.bytes[words.FindString(found)] {
			return "255"
		}
		return found
	})
	text = words.ReplaceAllStringFunc(text, func(word string) string {
		if value, ok := r.variable(word); ok {
			return fmt.Sprintf("(%d)", value)
		}
		return word
	})
	found, err := types.Eval(token.NewFileSet(), nil, token.NoPos, text)
	if err != nil || found.Value == nil || found.Value.Kind() != constant.Int {
		return 0, false
	}
	return constant.Int64Val(found.Value)
}

// variable is the largest value of a name. Of two conditions in one both hold; loops follow each other.
func (r reach) variable(name string) (largest int64, ok bool) {
	if value, ok := r.known[name]; ok {
		return value, true
	}
	if value, ok := r.found[name]; ok || r.tried[name] {
		return value, ok
	}
	r.tried[name] = true
	defer func() {
		if ok {
			r.found[name] = largest
		}
	}()
	for _, word := range []string{"for", "while", "if"} {
		for _, at := range regexp.MustCompile(`\b`+word+`\s*\(`).FindAllStringIndex(r.body, -1) {
			condition := enclosed(r.body[at[1]:], "(", ")")
			leaves := leaving.MatchString(r.body[at[1]+len(condition):])
			if parts := strings.Split(condition, ";"); len(parts) == 3 {
				condition = parts[1]
			}
			if least, found := r.least(name, condition, leaves); found {
				largest, ok = max(largest, least), true
			}
		}
		if ok {
			return largest, true
		}
	}
	if regexp.MustCompile(`\+\+\s*` + name + `\b|\b` + name + `\s*(?:\+\+|(?:[+*|^]|<<)=)`).MatchString(r.body) {
		return 0, false // it goes beyond where it begins
	}
	for _, local := range assigned.FindAllStringSubmatch(r.body, -1) {
		if local[1] != name {
			continue
		}
		if value, found := r.evaluate(local[2]); found {
			largest, ok = max(largest, value), true
		}
	}
	return largest, ok
}

// least is what a condition lets a name be at most: i < n, or i >= n where the source leaves then.
func (r reach) least(name, condition string, leaves bool) (least int64, ok bool) {
	for _, part := range strings.Split(strings.ReplaceAll(condition, "||", "&&"), "&&") {
		match := bound.FindStringSubmatch(part)
		if match == nil || leaves != (match[3] == ">=") {
			continue
		}
		step, fixed := r.known[match[2]]
		if number, err := strconv.ParseInt(match[2], 10, 64); err == nil {
			step, fixed = number, true
		}
		if match[1] == "" && match[2] == name {
			step = 0
		} else if match[1] != name || !fixed { // i + 4 <= n
			continue
		}
		value, known := r.evaluate(match[4])
		if value -= step; match[3] != "<=" {
			value--
		}
		if known && value >= 0 && (!ok || value < least) {
			least, ok = value, true
		}
	}
	return least, ok
}

// extent is how many elements of an array are reached by what is known of its indices, 0 for none, and whether that
// is all.
func (r reach) extent(array string) (extent int64, all bool) {
	all = true
	for _, at := range regexp.MustCompile(`\b`+array+`\b\s*\[?`).FindAllStringIndex(r.body, -1) {
		if r.body[at[1]-1] != '[' {
			all = false
		} else if index, known := r.evaluate(enclosed(r.body[at[1]:], "[", "]")); known {
			extent = max(extent, index+1)
		} else {
			all = false
		}
	}
	return extent, all
}

func enclosed(text, open, closing string) string {
	depth := 1
	for i, c := range text {
		depth += strings.Count(open, string(c)) - strings.Count(closing, string(c))
		if depth == 0 {
			return text[:i]
		}
	}
	return text
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

// findShapes notes the shape of each array, as far as the indices of the source tell.
func (d *description) findShapes() {
	var sizes []factor
	r := reach{body: d.body, known: map[string]int64{}, bytes: map[string]bool{}, found: map[string]int64{},
		tried: map[string]bool{}}
	for _, m := range d.macros {
		r.known[m.name] = m.value
	}
	for _, t := range d.template {
		r.known[t.name] = t.macro().value
	}
	for _, p := range d.parameters {
		r.bytes[p.name] = p.pointer && p.element == "u8"
		if !p.pointer && p.isSize() && len(sizes) < len(trialSizes) {
			r.known[p.name] = trialSizes[len(sizes)]
			sizes = append(sizes, factor{d.dimension(p), r.known[p.name]})
		}
	}
	for i, p := range d.parameters {
		extent, all := r.extent(p.name)
		if !p.pointer || extent == 0 {
			continue
		}
		shape, exact := divided(extent, factors(sizes), mostDimensions)
		if extent < trialSizes[len(trialSizes)-1] {
			shape, exact = []string{fmt.Sprint(extent)}, true
		} else if !exact {
			shape, _ = nearest(float64(extent), sizes, mostDimensions)
		}
		d.parameters[i].shape, d.parameters[i].exact = shape, exact && all
	}
}
