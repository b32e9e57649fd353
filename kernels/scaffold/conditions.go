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
	unset    []string // macros that decide what is compiled, and are not defined
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

// branch is what stands between two directives of a condition.
type branch struct {
	live, done bool     // it is compiled; one of its condition's branches was, or none is
	asks       []string // the macros that the condition finds defined or not
}

// mostExpanded bounds what macros become, which may double with each.
const mostExpanded = 1 << 18

// vectorHeader declares the vector instructions of x86.
var vectorHeader = regexp.MustCompile(`^\w+intrin\.h$`)

// preprocess takes the directives out of a source; path tells its language.
func preprocess(source, path string) *unit {
	u := &unit{source: source, defined: map[string]*definition{}, uses: map[string]int{}, asked: map[string]bool{},
		room: mostExpanded}
	given := map[string]string{"__GNUC__": "12", "__STDC_VERSION__": "201710L", "__linux__": "1", "__x86_64__": "1"}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".cu":
		given["__CUDACC__"], given["__CUDA_ARCH__"], given["__cplusplus"] = "1", "900", "201703L"
	case ".cc", ".cpp", ".cxx":
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
	for i, t := range u.tokens {
		if t.text == "_Pragma" {
			u.pragmas = append(u.pragmas, scan(strings.Trim(textAt(u.tokens, i+2), `"`))...)
		}
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
		if m := u.defined[line[i].text]; m != nil && m.guarded {
			m.decides = true
		}
		if line[i].text != "defined" {
			if t := line[i]; t.kind == isWord && u.defined[t.text] == nil && t.text[0] != '_' && u.live() {
				u.unset = append(u.unset, t.text)
			}
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

// attribute is a word whose brackets say nothing about what is declared.
var attribute = regexp.MustCompile(
	`^(__attribute(__)?|__declspec|alignas|_Alignas|__align__|__cluster_dims__|__maxnreg__|__block_size__|noexcept|` +
		`asm|__asm(__)?|__pragma|_Pragma|throw|requires)$`)

// withoutAttributes takes them out.
func withoutAttributes(tokens []token) (rest []token) {
	for i := 0; i < len(tokens); {
		t, next := tokens[i], textAt(tokens, i+1)
		if next == "(" && attribute.MatchString(t.text) {
			var inside []token
			if inside, i = enclosed(tokens, i+1); strings.Contains(join(inside), "vector_") { // it is another type
				rest = append(rest, t)
			}
		} else if t.text == "[" && next == "[" && tokens[i+1].from == t.to {
			_, i = enclosed(tokens, i)
		} else {
			rest = append(rest, t)
			i++
		}
	}
	return rest
}
