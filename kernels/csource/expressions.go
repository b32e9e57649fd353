package csource

import (
	"slices"
	"strconv"
	"strings"
)

// Expression evaluates integers of C from the left.
type Expression struct {
	Tokens []Token
	// Value is what a name or an element of an array stands for; fixed asks for a name that is one number.
	Value func(name string, fixed, element bool) (int64, bool)
	// Largest asks for the largest value where names stand for their largest.
	Largest, fixed bool
	failed         bool
	depth          int // of brackets
}

// operator is what stands between two operands: a higher level binds closer.
type operator struct {
	level int
	of    func(a, b int64) int64
}

var operators = map[string]operator{
	"||": {1, func(a, b int64) int64 { return truth(a != 0 || b != 0) }},
	"&&": {2, func(a, b int64) int64 { return truth(a != 0 && b != 0) }},
	"|":  {3, func(a, b int64) int64 { return a | b }},
	"^":  {4, func(a, b int64) int64 { return a ^ b }},
	"&":  {5, func(a, b int64) int64 { return a & b }},
	"==": {6, func(a, b int64) int64 { return truth(a == b) }},
	"!=": {6, func(a, b int64) int64 { return truth(a != b) }},
	"<":  {7, func(a, b int64) int64 { return truth(a < b) }},
	">":  {7, func(a, b int64) int64 { return truth(a > b) }},
	"<=": {7, func(a, b int64) int64 { return truth(a <= b) }},
	">=": {7, func(a, b int64) int64 { return truth(a >= b) }},
	"<<": {8, func(a, b int64) int64 { return a << (b & 63) }},
	">>": {8, func(a, b int64) int64 { return a >> (b & 63) }},
	"+":  {9, func(a, b int64) int64 { return a + b }},
	"-":  {9, func(a, b int64) int64 { return a - b }},
	"*":  {10, func(a, b int64) int64 { return a * b }},
	"/":  {10, func(a, b int64) int64 { return a / b }},
	"%":  {10, func(a, b int64) int64 { return a % b }},
}

func truth(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

// Evaluate returns a number, if the whole is one.
func (e Expression) Evaluate() (int64, bool) {
	found := e.choice()
	return found, !e.failed && len(e.Tokens) == 0
}

func (e *Expression) take() (t Token) {
	if len(e.Tokens) == 0 {
		e.failed = true
		return t
	}
	t, e.Tokens = e.Tokens[0], e.Tokens[1:]
	return t
}

// choice is a ? b : c, or what stands before the question mark.
func (e *Expression) choice() int64 {
	condition := e.binary(1)
	if At(e.Tokens, 0) != "?" || e.failed {
		return condition
	}
	e.take()
	yes := e.choice()
	e.failed = e.take().Text != ":" || e.failed
	no := e.choice()
	switch {
	case e.Largest:
		return max(yes, no)
	case condition != 0:
		return yes
	}
	return no
}

func (e *Expression) binary(least int) int64 {
	left := e.unary()
	for !e.failed {
		text := At(e.Tokens, 0)
		operator, known := operators[text]
		if !known || operator.level < least {
			break
		}
		e.take()
		outer := e.fixed
		e.fixed = outer || e.Largest && slices.Contains([]string{"-", "/", "|", "^", "<<", ">>"}, text)
		right := e.binary(operator.level + 1)
		e.fixed = outer
		switch {
		case right == 0 && (text == "/" || text == "%"):
			e.failed = true
		case e.Largest && text == "%":
			left = min(left, right-1)
		case e.Largest && text == "&":
			left = min(left, right)
		default:
			left = operator.of(left, right)
		}
	}
	return left
}

func (e *Expression) unary() int64 {
	if At(e.Tokens, 0) == "(" {
		inside, next := Enclosed(e.Tokens, 0)
		e.Tokens = e.Tokens[next:]
		if len(inside) > 0 && !slices.ContainsFunc(inside, func(t Token) bool { return !isType(t.Text) }) {
			return e.unary() // a cast
		}
		return e.inner(inside)
	}
	t := e.take()
	switch {
	case e.failed:
		return 0
	case t.Text == "-" || t.Text == "~" || t.Text == "!":
		outer := e.fixed
		e.fixed = outer || e.Largest
		value := e.unary()
		e.fixed = outer
		return map[string]int64{"-": -value, "~": ^value, "!": truth(value == 0)}[t.Text]
	case t.Text == "+":
		return e.unary()
	case t.Kind == Number:
		value, ok := Integer(t.Text)
		e.failed = !ok
		return value
	case t.Kind == Word:
		return e.name(t)
	}
	e.failed = true
	return 0
}

// name is a name, an element, a cast as C++ writes it, or the smaller or larger of two.
func (e *Expression) name(t Token) int64 {
	for At(e.Tokens, 0) == "::" {
		e.take()
		t = e.take()
	}
	if strings.HasSuffix(t.Text, "_cast") {
		if _, next, ok := angles(e.Tokens, 0); ok {
			e.Tokens = e.Tokens[next:]
		}
	}
	element := false
	switch next := At(e.Tokens, 0); {
	case next == "(" && (isType(t.Text) || strings.HasSuffix(t.Text, "_cast")):
		return e.unary()
	case next == "(" && (t.Text == "min" || t.Text == "max"):
		inside, end := Enclosed(e.Tokens, 0)
		e.Tokens = e.Tokens[end:]
		both := Split(inside, ",")
		if e.failed = len(both) != 2; e.failed {
			return 0
		}
		a, b := e.inner(both[0]), e.inner(both[1])
		if t.Text == "min" {
			return min(a, b)
		}
		return max(a, b)
	case next == "[":
		_, end := Enclosed(e.Tokens, 0)
		e.Tokens, element = e.Tokens[end:], true
	case next == "(" || next == "." || next == "->":
		e.failed = true
		return 0
	}
	value, ok := e.Value(t.Text, e.fixed, element)
	e.failed = !ok
	return value
}

// mostNested bounds brackets in brackets.
const mostNested = 100

// inner is an expression in brackets.
func (e *Expression) inner(tokens []Token) int64 {
	part := *e
	part.Tokens = tokens
	if part.depth++; part.depth > mostNested {
		e.failed = true
		return 0
	}
	value := part.choice()
	e.failed = e.failed || part.failed || len(part.Tokens) > 0
	return value
}

// Integer is a number of C: 0x40, 128u, 1'000.
func Integer(text string) (int64, bool) {
	value, err := strconv.ParseInt(strings.TrimRight(strings.ReplaceAll(text, "'", ""), "uUlLzZ"), 0, 64)
	return value, err == nil && !strings.Contains(text, "_")
}
