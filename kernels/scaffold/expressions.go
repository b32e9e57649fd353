package scaffold

import (
	"slices"
	"strconv"
	"strings"
)

// expression evaluates integers of C from the left.
type expression struct {
	tokens []token
	// value is what a name or an element of an array stands for; fixed asks for a name that is one number.
	value func(name string, fixed, element bool) (int64, bool)
	// largest asks for the largest value where names stand for their largest.
	largest, fixed bool
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

// evaluate returns a number, if the whole is one.
func (e expression) evaluate() (int64, bool) {
	found := e.choice()
	return found, !e.failed && len(e.tokens) == 0
}

func (e *expression) take() (t token) {
	if len(e.tokens) == 0 {
		e.failed = true
		return t
	}
	t, e.tokens = e.tokens[0], e.tokens[1:]
	return t
}

// choice is a ? b : c, or what stands before the question mark.
func (e *expression) choice() int64 {
	condition := e.binary(1)
	if textAt(e.tokens, 0) != "?" || e.failed {
		return condition
	}
	e.take()
	yes := e.choice()
	e.failed = e.take().text != ":" || e.failed
	no := e.choice()
	switch {
	case e.largest:
		return max(yes, no)
	case condition != 0:
		return yes
	}
	return no
}

func (e *expression) binary(least int) int64 {
	left := e.unary()
	for !e.failed {
		text := textAt(e.tokens, 0)
		operator, known := operators[text]
		if !known || operator.level < least {
			break
		}
		e.take()
		outer := e.fixed
		e.fixed = outer || e.largest && slices.Contains([]string{"-", "/", "|", "^", "<<", ">>"}, text)
		right := e.binary(operator.level + 1)
		e.fixed = outer
		switch {
		case right == 0 && (text == "/" || text == "%"):
			e.failed = true
		case e.largest && text == "%":
			left = min(left, right-1)
		case e.largest && text == "&":
			left = min(left, right)
		default:
			left = operator.of(left, right)
		}
	}
	return left
}

func (e *expression) unary() int64 {
	if textAt(e.tokens, 0) == "(" {
		inside, next := enclosed(e.tokens, 0)
		e.tokens = e.tokens[next:]
		if len(inside) > 0 && !slices.ContainsFunc(inside, func(t token) bool { return !isType(t.text) }) {
			return e.unary() // a cast
		}
		return e.inner(inside)
	}
	t := e.take()
	switch {
	case e.failed:
		return 0
	case t.text == "-" || t.text == "~" || t.text == "!":
		outer := e.fixed
		e.fixed = outer || e.largest
		value := e.unary()
		e.fixed = outer
		return map[string]int64{"-": -value, "~": ^value, "!": truth(value == 0)}[t.text]
	case t.text == "+":
		return e.unary()
	case t.kind == isNumber:
		value, ok := integer(t.text)
		e.failed = !ok
		return value
	case t.kind == isWord:
		return e.name(t)
	}
	e.failed = true
	return 0
}

// name is a name, an element, a cast as C++ writes it, or the smaller or larger of two.
func (e *expression) name(t token) int64 {
	for textAt(e.tokens, 0) == "::" {
		e.take()
		t = e.take()
	}
	if strings.HasSuffix(t.text, "_cast") {
		if _, next, ok := angles(e.tokens, 0); ok {
			e.tokens = e.tokens[next:]
		}
	}
	element := false
	switch next := textAt(e.tokens, 0); {
	case next == "(" && (isType(t.text) || strings.HasSuffix(t.text, "_cast")):
		return e.unary()
	case next == "(" && (t.text == "min" || t.text == "max"):
		inside, end := enclosed(e.tokens, 0)
		e.tokens = e.tokens[end:]
		both := split(inside, ",")
		if e.failed = len(both) != 2; e.failed {
			return 0
		}
		a, b := e.inner(both[0]), e.inner(both[1])
		if t.text == "min" {
			return min(a, b)
		}
		return max(a, b)
	case next == "[":
		_, end := enclosed(e.tokens, 0)
		e.tokens, element = e.tokens[end:], true
	case next == "(" || next == "." || next == "->":
		e.failed = true
		return 0
	}
	value, ok := e.value(t.text, e.fixed, element)
	e.failed = !ok
	return value
}

// mostNested bounds brackets in brackets.
const mostNested = 100

// inner is an expression in brackets.
func (e *expression) inner(tokens []token) int64 {
	part := *e
	part.tokens = tokens
	if part.depth++; part.depth > mostNested {
		e.failed = true
		return 0
	}
	value := part.choice()
	e.failed = e.failed || part.failed || len(part.tokens) > 0
	return value
}

// integer is a number of C: 0x40, 128u, 1'000.
func integer(text string) (int64, bool) {
	value, err := strconv.ParseInt(strings.TrimRight(strings.ReplaceAll(text, "'", ""), "uUlLzZ"), 0, 64)
	return value, err == nil && !strings.Contains(text, "_")
}
