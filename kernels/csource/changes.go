package csource

import (
	"slices"
	"strings"
)

// Use is what a function does with a pointer, as far as its body tells.
type Use struct {
	Written bool // it assigns to elements
	Changed bool // it reads them, too: y[i] += x, y[i] = x + y[i], or atomicAdd(&y[i], x)
	Handed  bool // it does more: what it reads is not known
}

// UseOf looks at a body in which *y is written as y[0]: see [Dereferenced].
func UseOf(body []Token, name string) (found Use) {
	for at, t := range body {
		before, behind := At(body, at-1), At(body, at+1)
		if t.Text != name || before == "." || before == "->" || before == "sizeof" {
			continue
		}
		function := At(body, at-2)
		if before == "&" {
			function = At(body, at-3)
		}
		if strings.Contains(function, "atomic") || strings.HasPrefix(function, "__sync_") {
			found.Changed, found.Written = true, true
		}
		if behind != "[" || before == "&" {
			found.Handed = true
		}
		if behind != "[" {
			continue
		}
		_, next := Enclosed(body, at+1)
		operator := Written(body, at, next)
		found.Written = found.Written || operator != ""
		found.Changed = found.Changed || operator != "=" && before != "&"
	}
	return found
}

// Written is the operator that changes what a name with its indices and fields is, empty where none does.
func Written(body []Token, at, next int) string {
	for At(body, next) == "[" || At(body, next) == "." {
		if At(body, next) == "." {
			next += 2
		} else {
			_, next = Enclosed(body, next)
		}
	}
	before, behind := At(body, at-1), At(body, next)
	switch {
	case before == "++" || before == "--":
		return before
	case behind == "++" || behind == "--", strings.HasSuffix(behind, "=") && operators[behind].level == 0:
		return behind
	}
	return ""
}

// Dereferenced writes *y as y[0], where it is all that is done with y.
func Dereferenced(body []Token, name string) (made []Token) {
	for i := 0; i < len(body); i++ {
		behind := At(body, i+2)
		if body[i].Text != "*" || At(body, i+1) != name ||
			slices.Contains([]string{"++", "--", "[", "(", ".", "->"}, behind) {
			made = append(made, body[i])
			continue
		}
		made = append(made, body[i+1], Token{Text: "["}, Token{Kind: Number, Text: "0"}, Token{Text: "]"})
		i++
	}
	return made
}
