package scaffold

import (
	"regexp"
	"slices"
	"strings"

	"pawl/internal/collect"
)

// token is a word, a number, a text in quotes or a mark of C.
type token struct {
	kind     byte // one of the constants below
	text     string
	from, to int    // its place in the source; that of the macro if it comes from one
	first    bool   // the first of its line
	macro    string // that it comes from
}

const (
	isMark   = 'm'
	isText   = 't'
	isNumber = 'n'
	isWord   = 'w'
)

// lexeme is what a source begins with: space or a comment, the start of a raw string, a text, a number, a word, or a
// mark.
var lexeme = regexp.MustCompile(`(?s)^(?:(\s+|\x{FEFF}|\\\r?\n|//(?:\\\r?\n|[^\n])*|/\*.*?(?:\*/|$))|` +
	`((?:u8|[uUL])?R"([^()\\\s]{0,16})\()|((?:u8|[uUL])?(?:"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?))|` +
	`(\.?[0-9](?:[eEpP][-+]|'\w|[\w.])*)|([\pL_][\pL\pN_]*)|` +
	`<<<|>>>|<<=|>>=|\.\.\.|->|::|##|\+\+|--|&&|\|\||<<|>>|[-+*/%&|^!=<>]=|.)`)

// scan returns the tokens of a source, those of its directives among them.
func scan(source string) (all []token) {
	first := true
	for at := 0; at < len(source); {
		match := lexeme.FindStringSubmatchIndex(source[at:])
		t := token{kind: isMark, from: at, to: at + match[1], first: first}
		switch {
		case match[2] >= 0:
			first = first || source[at] != '/' && source[at] != '\\' && strings.Contains(source[at:t.to], "\n")
			at = t.to
			continue
		case match[4] >= 0:
			t.kind, t.to = isText, len(source)
			closing := ")" + source[at+match[6]:at+match[7]] + `"`
			if end := strings.Index(source[at:], closing); end >= 0 {
				t.to = at + end + len(closing)
			}
		case match[8] >= 0:
			t.kind = isText
		case match[10] >= 0:
			t.kind = isNumber
		case match[12] >= 0:
			t.kind = isWord
		}
		t.text = source[at:t.to]
		all, at, first = append(all, t), t.to, false
	}
	return all
}

// closings has what closes a bracket.
var closings = map[string]string{"(": ")", "[": "]", "{": "}"}

// enclosed is what stands between the bracket at a place and the one that closes it, and the place behind that.
func enclosed(tokens []token, at int) (inside []token, next int) {
	var open []string
	for i := at; i < len(tokens); i++ {
		if closing := closings[tokens[i].text]; closing != "" {
			open = append(open, closing)
		} else if tokens[i].text == open[len(open)-1] {
			if open = open[:len(open)-1]; len(open) == 0 {
				return tokens[at+1 : i], i + 1
			}
		}
	}
	return tokens[min(at+1, len(tokens)):], len(tokens)
}

// angles is the same for the < of a template; ok is false where none closes it.
func angles(tokens []token, at int) (inside []token, next int, ok bool) {
	depth := 0
	if textAt(tokens, at) != "<" {
		return nil, at, false
	}
	for i := at; i < min(len(tokens), at+mostOfTemplate); i++ {
		switch text := tokens[i].text; {
		case closings[text] != "" && text != "{":
			_, i = enclosed(tokens, i)
			i--
		case text == ";" || text == "{" || text == "}" || text == ")":
			return nil, at, false
		case strings.Trim(text, "<") == "" && text != "<<=":
			depth += len(text)
		case strings.Trim(text, ">") == "":
			if depth -= len(text); depth <= 0 {
				return tokens[at+1 : i], i + 1, true
			}
		}
	}
	return nil, at, false
}

// mostOfTemplate bounds how far its end is looked for, in tokens.
const mostOfTemplate = 1000

// split divides at a mark that stands in no brackets; of nothing it makes nothing.
func split(tokens []token, mark string) (parts [][]token) {
	start := 0
	for i := 0; i < len(tokens); {
		switch _, behind, ok := angles(tokens, i); {
		case ok:
			i = behind
		case closings[tokens[i].text] != "":
			_, i = enclosed(tokens, i)
		case tokens[i].text == mark:
			parts, start = append(parts, tokens[start:i]), i+1
			i++
		default:
			i++
		}
	}
	if len(tokens) > 0 {
		parts = append(parts, tokens[start:])
	}
	return parts
}

// textAt is the token at a place, empty beyond the ends.
func textAt(tokens []token, at int) string {
	if at < 0 || at >= len(tokens) {
		return ""
	}
	return tokens[at].text
}

// index is where the first token of a text is, or -1.
func index(tokens []token, text string) int {
	return slices.IndexFunc(tokens, func(t token) bool { return t.text == text })
}

func join(tokens []token) string {
	return strings.Join(collect.Each(tokens, func(t token) string { return t.text }), " ")
}
