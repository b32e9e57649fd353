package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// scope is what an expression may ask for: contexts by name, and functions about how things
// stand, which take nothing.
type scope struct {
	contexts  map[string]any
	functions map[string]bool
}

// statusFunction finds the functions that take the place of the success() that every
// condition begins with.
var statusFunction = regexp.MustCompile(`\b(always|success|failure|cancelled)\s*\(`)

// placeholder is an expression inside a text.
var placeholder = regexp.MustCompile(`\$\{\{((?:[^}']|'[^']*'|\}[^}])*)\}\}`)

// condition evaluates an if.
func (s scope) condition(text string) (bool, error) {
	text = strings.TrimSpace(text)
	if whole := placeholder.FindStringSubmatch(text); whole != nil && whole[0] == text {
		text = whole[1]
	}
	switch {
	case text == "":
		text = "success()"
	case !statusFunction.MatchString(text):
		text = "success() && (" + text + ")"
	}
	value, err := s.evaluate(text)
	return truthy(value), err
}

// text replaces the expressions in a text by their values.
func (s scope) text(text string) (string, error) {
	var failed error
	replaced := placeholder.ReplaceAllStringFunc(text, func(found string) string {
		value, err := s.evaluate(placeholder.FindStringSubmatch(found)[1])
		if err != nil {
			failed = err
		}
		return toText(value)
	})
	return replaced, failed
}

// value is text, but a text that is nothing but an expression has that one's type.
func (s scope) value(text string) (any, error) {
	if whole := placeholder.FindStringSubmatch(strings.TrimSpace(text)); whole != nil &&
		whole[0] == strings.TrimSpace(text) {
		return s.evaluate(whole[1])
	}
	return s.text(text)
}

// evaluate computes an expression of GitHub's.
func (s scope) evaluate(text string) (any, error) {
	tokens, err := tokenize(text)
	if err != nil {
		return nil, err
	}
	p := &expressionParser{scope: s, tokens: tokens}
	value, err := p.or()
	if err == nil && p.at < len(p.tokens) {
		err = fmt.Errorf("%q does not belong there", p.tokens[p.at])
	}
	if err != nil {
		return nil, fmt.Errorf("the expression %s: %w", strings.TrimSpace(text), err)
	}
	return value, nil
}

var expressionToken = regexp.MustCompile(`^(?:'(?:[^']|'')*'|\|\||&&|==|!=|[!().]|-?[0-9]+(?:\.[0-9]+)?|[A-Za-z_][A-Za-z0-9_-]*)`)

func tokenize(text string) ([]string, error) {
	var tokens []string
	for {
		if text = strings.TrimSpace(text); text == "" {
			return tokens, nil
		}
		found := expressionToken.FindString(text)
		if found == "" {
			return nil, fmt.Errorf("it cannot be read from %q on", text)
		}
		tokens = append(tokens, found)
		text = text[len(found):]
	}
}

// expressionParser computes while it reads: expressions have no effects, so that nothing is lost by
// computing both sides.
type expressionParser struct {
	scope
	tokens []string
	at     int
}

func (p *expressionParser) peek() string {
	if p.at < len(p.tokens) {
		return p.tokens[p.at]
	}
	return ""
}

func (p *expressionParser) take(wanted string) bool {
	if p.peek() != wanted {
		return false
	}
	p.at++
	return true
}

func (p *expressionParser) expect(wanted string) error {
	if !p.take(wanted) {
		return fmt.Errorf("%q is missing before %q", wanted, p.peek())
	}
	return nil
}

func (p *expressionParser) or() (any, error) {
	return p.binary("||", p.and, func(left, right any) any {
		if truthy(left) {
			return left
		}
		return right
	})
}

func (p *expressionParser) and() (any, error) {
	return p.binary("&&", p.comparison, func(left, right any) any {
		if truthy(left) {
			return right
		}
		return left
	})
}

func (p *expressionParser) comparison() (any, error) {
	same := func() (any, error) { return p.binary("==", p.unary, func(a, b any) any { return equal(a, b) }) }
	return p.binary("!=", same, func(a, b any) any { return !equal(a, b) })
}

// binary reads operands with an operator between them.
func (p *expressionParser) binary(operator string, operand func() (any, error),
	compute func(left, right any) any) (any, error) {
	left, err := operand()
	for err == nil && p.take(operator) {
		var right any
		if right, err = operand(); err == nil {
			left = compute(left, right)
		}
	}
	return left, err
}

func (p *expressionParser) unary() (any, error) {
	if p.take("!") {
		value, err := p.unary()
		return !truthy(value), err
	}
	value, err := p.primary()
	for err == nil && p.take(".") {
		object, _ := value.(map[string]any)
		value = object[p.peek()] // nothing where there is none
		p.at++
	}
	return value, err
}

func (p *expressionParser) primary() (any, error) {
	word := p.peek()
	p.at++
	switch {
	case word == "":
		return nil, fmt.Errorf("it ends too early")
	case word == "(":
		value, err := p.or()
		if err == nil {
			err = p.expect(")")
		}
		return value, err
	case word[0] == '\'':
		return strings.ReplaceAll(word[1:len(word)-1], "''", "'"), nil
	case word == "true" || word == "false":
		return word == "true", nil
	case word == "null":
		return nil, nil
	case word[0] == '-' || word[0] >= '0' && word[0] <= '9':
		return strconv.ParseFloat(word, 64)
	case p.take("("):
		return p.call(word)
	}
	value, known := p.contexts[word]
	if !known {
		return nil, fmt.Errorf("there is no context %q", word)
	}
	return value, nil
}

// call is fromJSON, or a function of the scope.
func (p *expressionParser) call(name string) (value any, err error) {
	value, known := p.functions[name]
	if name == "fromJSON" {
		text, failed := p.or()
		err, known = errors.Join(failed, json.Unmarshal([]byte(toText(text)), &value)), true
	}
	if !known {
		return nil, fmt.Errorf("there is no function %s", name)
	}
	return value, errors.Join(err, p.expect(")"))
}

func truthy(value any) bool {
	switch v := value.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case float64:
		return v != 0 && !math.IsNaN(v)
	}
	return true
}

// equal is as loose as GitHub: texts without regard to case, values of two kinds as numbers.
func equal(left, right any) bool {
	a, aText := left.(string)
	b, bText := right.(string)
	if aText && bText {
		return strings.EqualFold(a, b)
	}
	return toNumber(left) == toNumber(right) // what is no number equals nothing
}

func toNumber(value any) float64 {
	if text, ok := value.(string); ok && text != "" {
		if number, err := strconv.ParseFloat(text, 64); err == nil {
			return number
		}
		return math.NaN()
	}
	if number, ok := value.(float64); ok {
		return number
	}
	if truthy(value) {
		return 1 // true
	}
	return 0
}

func toText(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return strconv.FormatFloat(v, 'g', 15, 64)
	}
	return "Object"
}
