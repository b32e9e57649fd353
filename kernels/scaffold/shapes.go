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
	words    = regexp.MustCompile(`\w+`)
	assigned = regexp.MustCompile(`\b(\w+)\s*=([^=;,][^;,]*)[;,]`)
	bound    = regexp.MustCompile(`(?:(\w+)\s*\+\s*)?(\w+)\s*(<=?|>=)([^<>=?]+)$`)
	cast     = regexp.MustCompile(`\(\s*(?:(?:unsigned|signed|const|long|int|short|size_t|ptrdiff_t|u?int\d+_t)\s*)+\)`)
	leaving  = regexp.MustCompile(`^\)\s*\{?\s*(?:return|continue|break)\b`)
	element  = regexp.MustCompile(`\b(\w+)\s*\[[^\[\]]*\]`)
)

// evaluate is the largest value of an expression.
func (r reach) evaluate(text string) (int64, bool) {
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

// enclosed is a text up to what closes it.
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

// factor is what a shape may consist of, and its value for two choices of the sizes.
type factor struct {
	text   string
	values [2]int64
}

// factors are the sizes themselves, small numbers, and what halos make of sizes.
func factors(sizes []factor) (all []factor) {
	all = slices.Clone(sizes)
	for n := range int64(3) {
		all = append(all, factor{fmt.Sprint(n + 2), [2]int64{n + 2, n + 2}})
	}
	for i, a := range sizes {
		for _, n := range []int64{-2, -1, 1, 2} {
			text := strings.Replace(fmt.Sprintf("%s + %d", a.text, n), "+ -", "- ", 1)
			all = append(all, factor{text, [2]int64{a.values[0] + n, a.values[1] + n}})
		}
		for j, b := range sizes {
			if i <= j {
				sum := [2]int64{a.values[0] + b.values[0], a.values[1] + b.values[1]}
				all = append(all, factor{a.text + " + " + b.text, sum},
					factor{a.text + " + " + b.text + " - 1", [2]int64{sum[0] - 1, sum[1] - 1}})
			}
			all = append(all, factor{a.text + " - " + b.text + " + 1",
				[2]int64{a.values[0] - b.values[0] + 1, a.values[1] - b.values[1] + 1}})
		}
	}
	return slices.DeleteFunc(all, func(f factor) bool { return min(f.values[0], f.values[1]) < 2 })
}

// mostDimensions bounds a shape.
const mostDimensions = 4

// divided are factors with a product.
func divided(product [2]int64, from []factor, most int) (shape []string, ok bool) {
	if product == [2]int64{1, 1} {
		return nil, true
	}
	for i, f := range from {
		if most == 0 || product[0]%f.values[0] != 0 || product[1]%f.values[1] != 0 {
			continue
		}
		rest := [2]int64{product[0] / f.values[0], product[1] / f.values[1]}
		if more, ok := divided(rest, from[i:], most-1); ok {
			return append([]string{f.text}, more...), true
		}
	}
	return nil, false
}

// nearest are the sizes whose product is nearest to an extent: an index may stop short of a border.
func nearest(extent int64, sizes []factor) (shape []string) {
	least := math.Inf(1)
	var walk func(from []factor, chosen []string, product float64)
	walk = func(from []factor, chosen []string, product float64) {
		distance := math.Abs(math.Log(product / float64(extent)))
		if len(chosen) > 0 && distance < least {
			least, shape = distance, slices.Clone(chosen)
		}
		for i, f := range from {
			if len(chosen) < mostDimensions {
				walk(from[i:], append(chosen, f.text), product*float64(f.values[0]))
			}
		}
	}
	walk(sizes, nil, 1)
	return shape
}

// trialSizes are two choices of sizes: primes, no byte is as large, and what comes first is mostly larger.
var trialSizes = [2][]int64{{19853, 9923, 4957, 2477, 1237, 617, 307}, {21193, 10597, 5297, 2647, 1321, 661, 331}}

// findShapes notes the shape of each array, as far as the indices of the source tell.
func (d *description) findShapes() {
	var sizes []factor
	var tried [2]reach
	for i := range tried {
		tried[i] = reach{body: d.body, known: map[string]int64{}, bytes: map[string]bool{},
			found: map[string]int64{}, tried: map[string]bool{}}
		for _, m := range d.macros {
			tried[i].known[m.name] = m.value
		}
		for _, t := range d.template {
			tried[i].known[t.name] = t.macro().value
		}
	}
	for _, p := range d.parameters {
		if p.pointer {
			tried[0].bytes[p.name], tried[1].bytes[p.name] = p.element == "u8", p.element == "u8"
			continue
		}
		if !p.isSize() {
			continue
		}
		if len(sizes) == len(trialSizes[0]) {
			return
		}
		f := factor{d.dimension(p), [2]int64{trialSizes[0][len(sizes)], trialSizes[1][len(sizes)]}}
		sizes = append(sizes, f)
		tried[0].known[p.name], tried[1].known[p.name] = f.values[0], f.values[1]
	}
	for i, p := range d.parameters {
		first, all := tried[0].extent(p.name)
		second, _ := tried[1].extent(p.name)
		if !p.pointer || first == 0 {
			continue
		}
		shape, exact := []string{fmt.Sprint(first)}, first == second
		if !exact {
			shape, exact = divided([2]int64{first, second}, factors(sizes), mostDimensions)
		}
		if !exact {
			shape = nearest(first, sizes)
		}
		d.parameters[i].shape, d.parameters[i].exact = shape, exact && all
	}
}
