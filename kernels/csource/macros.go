package csource

import (
	"slices"
	"strings"

	"pawl/internal/collect"
)

// Definition is a macro.
type Definition struct {
	Macro
	body    []Token
	takes   []string
	call    bool // it is used with arguments
	Guarded bool // it is defined unless somebody else has
	number  bool // it is an integer
	Decides bool // what is compiled
}

// Macro is an integer, or a word or a fraction, that a source defines unless somebody else has.
type Macro struct {
	Name  string
	Value int64
	Word  string
	Asked bool // the source takes it for a condition
}

func (u *Unit) define(name Token, body []Token) {
	m := &Definition{Macro: Macro{Name: name.Text}}
	if m.call = At(body, 0) == "(" && body[0].From == name.To; m.call {
		takes, next := Enclosed(body, 0)
		for _, part := range Split(takes, ",") {
			m.takes = append(m.takes, strings.Replace(Join(part), "...", "__VA_ARGS__", 1))
		}
		body = body[next:]
	}
	m.body = body
	u.count(body)
	for _, b := range u.branches {
		m.Guarded = m.Guarded || slices.Contains(b.asks, name.Text)
	}
	if At(body, 0) == "(" {
		if inside, next := Enclosed(body, 0); next == len(body) {
			body = inside
		}
	}
	none := func(string, bool, bool) (int64, bool) { return 0, false }
	if len(body) > 0 && !m.call {
		m.Value, m.number = Expression{Tokens: u.expand(body, []string{m.Name}, false), Value: none}.Evaluate()
		fraction := body[len(body)-1].Kind == Number && (len(body) == 1 || len(body) == 2 && body[0].Text == "-")
		if fraction && !m.number {
			m.Word = strings.ReplaceAll(Join(body), " ", "")
		} else if !slices.ContainsFunc(body, func(t Token) bool { return t.Kind != Word }) && !m.number {
			m.Word = Join(body)
		}
	}
	u.Defined[m.Name] = m
	u.order = append(u.order, m)
}

// count notes which names are used, and which for a condition.
func (u *Unit) count(tokens []Token) {
	for i, t := range tokens {
		if t.Kind != Word {
			continue
		}
		u.uses[t.Text]++
		before, after := At(tokens, i-1), At(tokens, i+1)
		for j := i - 1; before == "!" || before == "(" && At(tokens, j-1) == "if"; j-- {
			before = At(tokens, j-1)
		}
		ends := after == "?" || after == "&&" || after == "||"
		u.asked[t.Text] = u.asked[t.Text] || before == "if" && (ends || after == ")") ||
			ends && slices.Contains([]string{"(", ",", ";", "{", "}", "?", ":", "&&", "||", "=", "return"}, before)
	}
}

// expand puts macros in: in code not those that are tuned, in a condition all.
func (u *Unit) expand(in []Token, within []string, all bool) (out []Token) {
	for i := 0; i < len(in); i++ {
		t := in[i]
		m := u.Defined[t.Text]
		if m == nil || slices.Contains(within, t.Text) || u.room <= 0 || m.Guarded && m.number && !all ||
			m.call && At(in, i+1) != "(" {
			out = append(out, t)
			continue
		}
		body := m.body
		if m.call {
			inside, next := Enclosed(in, i+1)
			body = m.with(Split(inside, ","))
			i = next - 1
		}
		u.room -= len(body) + 1
		for _, made := range u.expand(body, append(slices.Clip(within), t.Text), all) {
			made.From, made.To, made.Macro = t.From, in[i].To, t.Text
			out = append(out, made)
		}
	}
	return out
}

// with is the body of a macro with its arguments.
func (m *Definition) with(arguments [][]Token) (body []Token) {
	var put []Token
	for i, t := range m.body {
		switch at := slices.Index(m.takes, t.Text); {
		case t.Text == "#" && slices.Contains(m.takes, At(m.body, i+1)):
		case at >= 0 && At(m.body, i-1) == "#":
			put = append(put, Token{Kind: isText, Text: `""`})
		case at >= 0 && t.Text == "__VA_ARGS__":
			for _, argument := range arguments[min(at, len(arguments)):] {
				put = append(append(put, argument...), Token{Kind: isMark, Text: ","})
			}
			put = put[:max(0, len(put)-1)]
		case at >= 0 && at < len(arguments):
			put = append(put, arguments[at]...)
		case at < 0:
			put = append(put, t)
		}
	}
	for i := 0; i < len(put); i++ {
		if put[i].Text == "##" && len(body) > 0 && i+1 < len(put) {
			i++
			body[len(body)-1].Text += put[i].Text
			continue
		}
		body = append(body, put[i])
	}
	return body
}

// Tuned are the macros that have a number, a word or a fraction for a default and are used.
func (u *Unit) Tuned() (found []Macro) {
	for _, m := range u.order {
		if m.Guarded && (m.number || m.Word != "") && u.uses[m.Name] > 0 {
			m.Asked = u.asked[m.Name]
			found = append(found, m.Macro)
		}
	}
	return found
}

// Unknown have a default that is no macro's here.
func (u *Unit) Unknown() []string {
	return collect.Each(collect.Where(u.order, func(m *Definition) bool {
		return m.Guarded && (m.call || len(m.body) > 0 && !m.number && m.Word == "") && u.uses[m.Name] > 0
	}), called)
}

func called(m *Definition) string { return m.Name }

// Fixed are the macros with a number that the source defines whatever a compiler is told.
func (u *Unit) Fixed() []string {
	return collect.Each(collect.Where(u.order, func(m *Definition) bool { return m.number && !m.Guarded }), called)
}

// Constant is the value of an expression of numbers, and of macros at their defaults.
func (u *Unit) Constant(tokens []Token) (int64, bool) {
	none := func(string, bool, bool) (int64, bool) { return 0, false }
	return Expression{Tokens: u.expand(tokens, nil, true), Value: none}.Evaluate()
}
