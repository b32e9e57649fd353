package csource

import (
	"regexp"
	"slices"
	"strings"

	"pawl/internal/collect"
)

// Token is a word, a number, a text in quotes or a mark of C.
type Token struct {
	Kind  byte // one of the constants below
	Text  string
	Place        // that of the macro if it comes from one
	first bool   // the first of its line
	Macro string // that it comes from
}

const (
	isMark = 'm'
	isText = 't'
	Number = 'n'
	Word   = 'w'
)

// lexeme is what a source begins with: space or a comment, the start of a raw string, a text, a number, a word, or a
// mark.
var lexeme = regexp.MustCompile(`(?s)^(?:(\s+|\x{FEFF}|\\\r?\n|//(?:\\\r?\n|[^\n])*|/\*.*?(?:\*/|$))|` +
	`((?:u8|[uUL])?R"([^()\\\s]{0,16})\()|((?:u8|[uUL])?(?:"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?))|` +
	`(\.?[0-9](?:[eEpP][-+]|'\w|[\w.])*)|([\pL_][\pL\pN_]*)|` +
	`<<<|>>>|<<=|>>=|\.\.\.|->|::|##|\+\+|--|&&|\|\||<<|>>|[-+*/%&|^!=<>]=|.)`)

// Scan returns the tokens of a source, those of its directives among them.
func Scan(source string) (all []Token) {
	first := true
	for at := 0; at < len(source); {
		match := lexeme.FindStringSubmatchIndex(source[at:])
		t := Token{Kind: isMark, Place: Place{at, at + match[1]}, first: first}
		switch {
		case match[2] >= 0:
			first = first || source[at] != '/' && source[at] != '\\' && strings.Contains(source[at:t.To], "\n")
			at = t.To
			continue
		case match[4] >= 0:
			t.Kind, t.To = isText, len(source)
			closing := ")" + source[at+match[6]:at+match[7]] + `"`
			if end := strings.Index(source[at:], closing); end >= 0 {
				t.To = at + end + len(closing)
			}
		case match[8] >= 0:
			t.Kind = isText
		case match[10] >= 0:
			t.Kind = Number
		case match[12] >= 0:
			t.Kind = Word
		}
		t.Text = source[at:t.To]
		all, at, first = append(all, t), t.To, false
	}
	return all
}

// closings has what closes a bracket.
var closings = map[string]string{"(": ")", "[": "]", "{": "}"}

// Enclosed is what stands between the bracket at a place and the one that closes it, and the place behind that.
func Enclosed(tokens []Token, at int) (inside []Token, next int) {
	var open []string
	for i := at; i < len(tokens); i++ {
		if closing := closings[tokens[i].Text]; closing != "" {
			open = append(open, closing)
		} else if tokens[i].Text == open[len(open)-1] {
			if open = open[:len(open)-1]; len(open) == 0 {
				return tokens[at+1 : i], i + 1
			}
		}
	}
	return tokens[min(at+1, len(tokens)):], len(tokens)
}

// angles is the same for the < of a template; ok is false where none closes it.
func angles(tokens []Token, at int) (inside []Token, next int, ok bool) {
	depth := 0
	if At(tokens, at) != "<" {
		return nil, at, false
	}
	for i := at; i < min(len(tokens), at+MostOfTemplate); i++ {
		switch text := tokens[i].Text; {
		case closings[text] != "" && text != "{":
			_, i = Enclosed(tokens, i)
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

// MostOfTemplate bounds how far the end of a template or of a value is looked for, in tokens.
const MostOfTemplate = 1000

// Split divides at a mark that stands in no brackets; of nothing it makes nothing.
func Split(tokens []Token, mark string) (parts [][]Token) {
	start := 0
	for i := 0; i < len(tokens); {
		switch _, behind, ok := angles(tokens, i); {
		case ok:
			i = behind
		case closings[tokens[i].Text] != "":
			_, i = Enclosed(tokens, i)
		case tokens[i].Text == mark:
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

// At is the token at a place, empty beyond the ends.
func At(tokens []Token, at int) string {
	if at < 0 || at >= len(tokens) {
		return ""
	}
	return tokens[at].Text
}

// Index is where the first token of a text is, or -1.
func Index(tokens []Token, text string) int {
	return slices.IndexFunc(tokens, func(t Token) bool { return t.Text == text })
}

// Join is the texts of tokens with blanks between.
func Join(tokens []Token) string {
	return strings.Join(collect.Each(tokens, func(t Token) string { return t.Text }), " ")
}
