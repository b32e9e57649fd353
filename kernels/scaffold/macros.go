package scaffold

import (
	"slices"
	"strings"

	"pawl/internal/collect"
)

// definition is a macro.
type definition struct {
	macro
	body    []token
	takes   []string
	call    bool // it is used with arguments
	guarded bool // it is defined unless somebody else has
	number  bool // it is an integer
	decides bool // what is compiled
}

// macro is an integer, or a word or a fraction, that a source defines unless somebody else has.
type macro struct {
	name  string
	value int64
	word  string
	asked bool // the source takes it for a condition
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

// unknownMacros have a default that is no macro's here.
func (u *unit) unknownMacros() []string {
	return collect.Each(collect.Where(u.order, func(m *definition) bool {
		return m.guarded && (m.call || len(m.body) > 0 && !m.number && m.word == "") && u.uses[m.name] > 0
	}), called)
}

func called(m *definition) string { return m.name }

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

// fixed are the macros with a number that the source defines whatever a compiler is told.
func (u *unit) fixed() []string {
	return collect.Each(collect.Where(u.order, func(m *definition) bool { return m.number && !m.guarded }), called)
}
