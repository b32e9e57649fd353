package csource

import (
	"regexp"
	"slices"
	"strings"
)

// branch is what stands between two directives of a condition.
type branch struct {
	live, done bool     // it is compiled; one of its condition's branches was, or none is
	asks       []string // the macros that the condition finds defined or not
}

// vectorHeader declares the vector instructions of x86.
var vectorHeader = regexp.MustCompile(`^\w+intrin\.h$`)

func (u *Unit) live() bool { return len(u.branches) == 0 || u.branches[len(u.branches)-1].live }

func (u *Unit) directive(line []Token) {
	if len(line) == 0 {
		return
	}
	rest, last, live := line[1:], len(u.branches)-1, u.live()
	switch name := line[0].Text; name {
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
		file := strings.ReplaceAll(Join(rest), " ", "")
		u.Vector = u.Vector || vectorHeader.MatchString(strings.Trim(file, `<>"`))
		if live {
			u.Included = append(u.Included, file)
		}
	case "pragma":
		if live {
			u.count(rest)
			u.Pragmas = append(u.Pragmas, line...)
		}
	case "error":
		if live {
			u.Errors = append(u.Errors, Join(rest))
		}
	case "undef":
		if live && len(rest) > 0 {
			delete(u.Defined, rest[0].Text)
		}
	case "define":
		if live && len(rest) > 0 && rest[0].Kind == Word {
			u.define(rest[0], rest[1:])
		}
	}
}

// condition evaluates one, and names the macros that it finds defined or not.
func (u *Unit) condition(kind string, line []Token) (is bool, asks []string) {
	if kind != "if" && len(line) > 0 {
		line = []Token{{Text: "defined"}, line[0]}
	}
	u.count(slices.Concat([]Token{{Text: "if"}}, line, []Token{{Text: ")"}}))
	var plain []Token
	for i := 0; i < len(line); i++ {
		if strings.HasPrefix(line[i].Text, "__AVX") || strings.HasPrefix(line[i].Text, "__SSE") {
			u.Vector = true
		}
		if m := u.Defined[line[i].Text]; m != nil && m.Guarded {
			m.Decides = true
		}
		if line[i].Text != "defined" {
			if t := line[i]; t.Kind == Word && u.Defined[t.Text] == nil && t.Text[0] != '_' && u.live() {
				u.Unset = append(u.Unset, t.Text)
			}
			plain = append(plain, line[i])
			continue
		}
		if i++; At(line, i) == "(" {
			i++
		}
		name, number := At(line, i), "0"
		if u.Defined[name] != nil {
			number = "1"
		}
		asks, plain = append(asks, name), append(plain, Token{Kind: Number, Text: number})
		u.uses[name]-- // it was counted, but asking is no use
		if At(line, i+1) == ")" && At(line, i-1) == "(" {
			i++
		}
	}
	zero := func(string, bool, bool) (int64, bool) { return 0, true }
	value, ok := Expression{Tokens: u.expand(plain, nil, true), Value: zero}.Evaluate()
	return ok && (value != 0) == (kind != "ifndef"), asks
}

// attribute is a word whose brackets say nothing about what is declared.
var attribute = regexp.MustCompile(
	`^(__attribute(__)?|__declspec|alignas|_Alignas|__align__|__cluster_dims__|__maxnreg__|__block_size__|noexcept|` +
		`asm|__asm(__)?|__pragma|_Pragma|throw|requires)$`)

// withoutAttributes takes them out.
func withoutAttributes(tokens []Token) (rest []Token) {
	for i := 0; i < len(tokens); {
		t, next := tokens[i], At(tokens, i+1)
		if next == "(" && attribute.MatchString(t.Text) {
			var inside []Token
			if inside, i = Enclosed(tokens, i+1); strings.Contains(Join(inside), "vector_") { // it is another type
				rest = append(rest, t)
			}
		} else if t.Text == "[" && next == "[" && tokens[i+1].From == t.To {
			_, i = Enclosed(tokens, i)
		} else {
			rest = append(rest, t)
			i++
		}
	}
	return rest
}
