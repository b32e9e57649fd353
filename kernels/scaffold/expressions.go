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
	compared       [2]int64 // the smaller first where the last comparison holds
	depth          int      // of brackets
}

// precedence of the operators between two operands.
var precedence = map[string]int{"||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7,
	">=": 7, "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10}

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
	compared := e.compared
	if textAt(e.tokens, 0) != "?" || e.failed {
		return condition
	}
	e.take()
	yes := e.choice()
	e.failed = e.take().text != ":" || e.failed
	no := e.choice()
	switch {
	case e.largest && compared == [2]int64{yes, no}: // a < b ? a : b
		return min(yes, no)
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
		operator := textAt(e.tokens, 0)
		level := precedence[operator]
		if level < least || level == 0 {
			break
		}
		e.take()
		outer := e.fixed
		e.fixed = outer || e.largest && slices.Contains([]string{"-", "/", "|", "^", "<<", ">>"}, operator)
		right := e.binary(level + 1)
		e.fixed = outer
		left = e.apply(operator, left, right)
	}
	return left
}

func (e *expression) apply(operator string, a, b int64) int64 {
	truth := map[string]bool{"||": a != 0 || b != 0, "&&": a != 0 && b != 0, "==": a == b, "!=": a != b, "<": a < b,
		">": a > b, "<=": a <= b, ">=": a >= b}
	if is, logical := truth[operator]; logical {
		if e.compared = [2]int64{a, b}; operator[0] == '>' {
			e.compared = [2]int64{b, a}
		}
		if is || e.largest {
			return 1
		}
		return 0
	}
	switch {
	case b == 0 && (operator == "/" || operator == "%"), strings.Contains("<<>>", operator) && (b < 0 || b > 62):
		e.failed = true
		return 0
	case e.largest && operator == "%":
		return min(a, b-1)
	case e.largest && operator == "&":
		return min(a, b)
	}
	switch operator {
	case "|":
		return a | b
	case "^":
		return a ^ b
	case "&":
		return a & b
	case "<<":
		return a << b
	case ">>":
		return a >> b
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	case "/":
		return a / b
	}
	return a % b
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
		switch {
		case t.text == "-":
			return -value
		case t.text == "~":
			return ^value
		case value == 0:
			return 1
		}
		return 0
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
	e.failed, e.compared = e.failed || part.failed || len(part.tokens) > 0, part.compared
	return value
}

// integer is a number of C: 0x40, 128u, 1'000.
func integer(text string) (int64, bool) {
	value, err := strconv.ParseInt(strings.TrimRight(strings.ReplaceAll(text, "'", ""), "uUlLzZ"), 0, 64)
	return value, err == nil && !strings.Contains(text, "_")
}
