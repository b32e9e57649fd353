package scaffold

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// unit is a source behind its preprocessor, as a compiler sees it that is given no macro.
type unit struct {
	source   string
	tokens   []token // with macros put in, but for those that are tuned
	pragmas  []token
	included []string
	errors   []string // directives that stop a compiler
	defined  map[string]*definition
	order    []*definition // those of the source
	uses     map[string]int
	asked    map[string]bool // used as a condition
	branches []branch
	room     int  // how many tokens macros may still become
	vector   bool // it has the processor's vector instructions
	// aliases are names of types, declared the variables and functions.
	aliases, declared []declaration
	instances         map[string][][2]int
}

// definition is a macro.
type definition struct {
	macro
	body    []token
	takes   []string
	call    bool // it is used with arguments
	guarded bool // it is defined unless somebody else has
	number  bool // it is an integer
}

// macro is an integer, or a word or a fraction, that a source defines unless somebody else has.
type macro struct {
	name  string
	value int64
	word  string
	asked bool // the source takes it for a condition
}

// branch is what stands between two directives of a condition.
type branch struct {
	live, done bool     // it is compiled; one of its condition's branches was, or none is
	asks       []string // the macros that the condition finds defined or not
}

// mostExpanded bounds what macros become, which may double with each.
const mostExpanded = 1 << 20

// vectorHeader declares the vector instructions of x86.
var vectorHeader = regexp.MustCompile(`^\w+intrin\.h$`)

// preprocess takes the directives out of a source; path tells its language.
func preprocess(source, path string) *unit {
	u := &unit{source: source, defined: map[string]*definition{}, uses: map[string]int{}, asked: map[string]bool{},
		room: mostExpanded}
	given := map[string]string{"__GNUC__": "12", "__STDC_VERSION__": "201710L", "__linux__": "1", "__x86_64__": "1"}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".cu", ".cuh":
		given["__CUDACC__"], given["__CUDA_ARCH__"], given["__cplusplus"] = "1", "900", "201703L"
	case ".cc", ".cpp", ".cxx", ".hpp":
		given["__cplusplus"] = "201703L"
	}
	for name, value := range given {
		u.defined[name] = &definition{body: scan(value), number: true}
	}
	all := scan(source)
	if i := index(all, "omp"); i > 0 && all[i-1].text == "pragma" {
		u.defined["_OPENMP"] = &definition{body: scan("201511"), number: true}
	}
	for i := 0; i < len(all); {
		directive, end := all[i].first && all[i].text == "#", i+1
		for end < len(all) && !(all[end].first && (directive || all[end].text == "#")) {
			end++
		}
		if directive {
			u.directive(all[i+1 : end])
		} else if u.live() {
			u.count(all[i:end])
			u.tokens = append(u.tokens, u.expand(all[i:end], nil, false)...)
		}
		i = end
	}
	p := parser{tokens: withoutAttributes(u.tokens), instances: map[string][][2]int{}}
	p.file("")
	for _, d := range p.found {
		if d.alias {
			u.aliases = append(u.aliases, d)
		} else {
			u.declared = append(u.declared, d)
		}
	}
	u.instances = p.instances
	return u
}

func (u *unit) live() bool { return len(u.branches) == 0 || u.branches[len(u.branches)-1].live }

func (u *unit) directive(line []token) {
	if len(line) == 0 {
		return
	}
	rest, last, live := line[1:], len(u.branches)-1, u.live()
	switch name := line[0].text; name {
	case "if", "ifdef", "ifndef":
		is, asks := u.condition(name, rest)
		u.branches = append(u.branches, branch{live: live && is, done: is || !live, asks: asks})
	case "elif", "else", "endif", "elifdef", "elifndef":
		if last < 0 {
			return
		}
		top := &u.branches[last]
		if name == "endif" {
			u.branches = u.branches[:last]
			return
		}
		is, asks := name == "else", []string(nil)
		if !is {
			is, asks = u.condition(name[2:], rest)
		}
		top.live, top.done, top.asks = !top.done && is, top.done || is, append(top.asks, asks...)
	case "include":
		file := strings.ReplaceAll(join(rest), " ", "")
		u.vector = u.vector || vectorHeader.MatchString(strings.Trim(file, `<>"`))
		if live {
			u.included = append(u.included, file)
		}
	case "pragma":
		if live {
			u.count(rest)
			u.pragmas = append(u.pragmas, line...)
		}
	case "error":
		if live {
			u.errors = append(u.errors, join(rest))
		}
	case "undef":
		if live && len(rest) > 0 {
			delete(u.defined, rest[0].text)
		}
	case "define":
		if live && len(rest) > 0 && rest[0].kind == isWord {
			u.define(rest[0], rest[1:])
		}
	}
}

// condition evaluates one, and names the macros that it finds defined or not.
func (u *unit) condition(kind string, line []token) (is bool, asks []string) {
	if kind != "if" && len(line) > 0 {
		line = []token{{text: "defined"}, line[0]}
	}
	u.count(slices.Concat([]token{{text: "if"}}, line, []token{{text: ")"}}))
	var plain []token
	for i := 0; i < len(line); i++ {
		if strings.HasPrefix(line[i].text, "__AVX") || strings.HasPrefix(line[i].text, "__SSE") {
			u.vector = true
		}
		if line[i].text != "defined" {
			plain = append(plain, line[i])
			continue
		}
		if i++; textAt(line, i) == "(" {
			i++
		}
		name, number := textAt(line, i), "0"
		if u.defined[name] != nil {
			number = "1"
		}
		asks, plain = append(asks, name), append(plain, token{kind: isNumber, text: number})
		u.uses[name]-- // it was counted, but asking is no use
		if textAt(line, i+1) == ")" && textAt(line, i-1) == "(" {
			i++
		}
	}
	zero := func(string, bool, bool) (int64, bool) { return 0, true }
	value, ok := expression{tokens: u.expand(plain, nil, true), value: zero}.evaluate()
	return ok && (value != 0) == (kind != "ifndef"), asks
}

func (u *unit) define(name token, body []token) {
	m := &definition{macro: macro{name: name.text}}
	if m.call = textAt(body, 0) == "(" && body[0].from == name.to; m.call {
		takes, next := enclosed(body, 0)
		for _, part := range split(takes, ",") {
			m.takes = append(m.takes, strings.Replace(join(part), "...", "__VA_ARGS__", 1))
		}
		body = body[next:]
	}
	m.body = body
	u.count(body)
	for _, b := range u.branches {
		m.guarded = m.guarded || slices.Contains(b.asks, name.text)
	}
	if textAt(body, 0) == "(" {
		if inside, next := enclosed(body, 0); next == len(body) {
			body = inside
		}
	}
	none := func(string, bool, bool) (int64, bool) { return 0, false }
	if len(body) > 0 && !m.call {
		m.value, m.number = expression{tokens: u.expand(body, []string{m.name}, false), value: none}.evaluate()
		fraction := body[len(body)-1].kind == isNumber && (len(body) == 1 || len(body) == 2 && body[0].text == "-")
		if fraction && !m.number {
			m.word = strings.ReplaceAll(join(body), " ", "")
		} else if !slices.ContainsFunc(body, func(t token) bool { return t.kind != isWord }) && !m.number {
			m.word = join(body)
		}
	}
	u.defined[m.name] = m
	u.order = append(u.order, m)
}

// count notes which names are used, and which for a condition.
func (u *unit) count(tokens []token) {
	for i, t := range tokens {
		if t.kind != isWord {
			continue
		}
		u.uses[t.text]++
		before, after := textAt(tokens, i-1), textAt(tokens, i+1)
		for j := i - 1; before == "!" || before == "(" && textAt(tokens, j-1) == "if"; j-- {
			before = textAt(tokens, j-1)
		}
		ends := after == "?" || after == "&&" || after == "||"
		u.asked[t.text] = u.asked[t.text] || before == "if" && (ends || after == ")") ||
			ends && slices.Contains([]string{"(", ",", ";", "{", "}", "?", ":", "&&", "||", "=", "return"}, before)
	}
}

// expand puts macros in: in code not those that are tuned, in a condition all.
func (u *unit) expand(in []token, within []string, all bool) (out []token) {
	for i := 0; i < len(in); i++ {
		t := in[i]
		m := u.defined[t.text]
		if m == nil || slices.Contains(within, t.text) || u.room <= 0 || m.guarded && m.number && !all ||
			m.call && textAt(in, i+1) != "(" {
			out = append(out, t)
			continue
		}
		body := m.body
		if m.call {
			inside, next := enclosed(in, i+1)
			body = m.with(split(inside, ","))
			i = next - 1
		}
		u.room -= len(body) + 1
		for _, made := range u.expand(body, append(slices.Clip(within), t.text), all) {
			made.from, made.to, made.macro = t.from, in[i].to, t.text
			out = append(out, made)
		}
	}
	return out
}

// with is the body of a macro with its arguments.
func (m *definition) with(arguments [][]token) (body []token) {
	var put []token
	for i, t := range m.body {
		switch at := slices.Index(m.takes, t.text); {
		case t.text == "#" && slices.Contains(m.takes, textAt(m.body, i+1)):
		case at >= 0 && textAt(m.body, i-1) == "#":
			put = append(put, token{kind: isText, text: `""`})
		case at >= 0 && t.text == "__VA_ARGS__":
			for _, argument := range arguments[min(at, len(arguments)):] {
				put = append(append(put, argument...), token{kind: isMark, text: ","})
			}
			put = put[:max(0, len(put)-1)]
		case at >= 0 && at < len(arguments):
			put = append(put, arguments[at]...)
		case at < 0:
			put = append(put, t)
		}
	}
	for i := 0; i < len(put); i++ {
		if put[i].text == "##" && len(body) > 0 && i+1 < len(put) {
			i++
			body[len(body)-1].text += put[i].text
			continue
		}
		body = append(body, put[i])
	}
	return body
}

// tuned are the macros that have a number, a word or a fraction for a default and are used.
func (u *unit) tuned() (found []macro) {
	for _, m := range u.order {
		if m.guarded && (m.number || m.word != "") && u.uses[m.name] > 0 {
			m.asked = u.asked[m.name]
			found = append(found, m.macro)
		}
	}
	return found
}

// attribute is a word whose brackets say nothing about what is declared.
var attribute = regexp.MustCompile(
	`^(__attribute(__)?|__declspec|alignas|_Alignas|__align__|__cluster_dims__|__maxnreg__|__block_size__|noexcept|` +
		`asm|__asm(__)?|__pragma|_Pragma|throw|requires)$`)

// withoutAttributes takes them out.
func withoutAttributes(tokens []token) (rest []token) {
	for i := 0; i < len(tokens); {
		t, next := tokens[i], textAt(tokens, i+1)
		if next == "(" && attribute.MatchString(t.text) {
			_, i = enclosed(tokens, i+1)
		} else if t.text == "[" && next == "[" && tokens[i+1].from == t.to {
			_, i = enclosed(tokens, i)
		} else {
			rest = append(rest, t)
			i++
		}
	}
	return rest
}

// unknownMacros have a default that is no macro's here.
func (u *unit) unknownMacros() (names []string) {
	for _, m := range u.order {
		if m.guarded && (m.call || len(m.body) > 0 && !m.number && m.word == "") && u.uses[m.name] > 0 {
			names = append(names, m.name)
		}
	}
	return names
}

// values proposes what to try: a switch both ways, a size by powers of two around it.
func (m macro) values() []int64 {
	if m.value == 0 || m.value == 1 && m.asked {
		return []int64{0, 1}
	}
	var all []int64
	for _, v := range []int64{m.value / 4, m.value / 2, m.value, 2 * m.value, 4 * m.value} {
		if v == m.value || v > 0 && m.value > 0 && v>>2 <= m.value && (len(all) == 0 || v > all[len(all)-1]) {
			all = append(all, v)
		}
	}
	return slices.Compact(all)
}
