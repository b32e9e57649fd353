package escape

import (
	"fmt"
	"strings"
)

// Macro returns the text behind #define NAME that means the same as -DNAME=text
// does on a compiler's command line, and cannot reach beyond its line. There is no
// such text for a comment that does not end, which no compiler takes either.
func Macro(text string) (string, error) {
	// Compilers drop what follows a line break in a define.
	if end := strings.IndexAny(text, "\n\r"); end >= 0 {
		text = text[:end]
	}
	if openComment(text) {
		return "", fmt.Errorf("%q begins a comment that does not end", text)
	}
	if strings.ContainsRune(text, 0) {
		return "", fmt.Errorf("%q holds a zero byte", text)
	}
	// A backslash at the end would take the next line in, also behind blanks, and so
	// would the trigraph of one.
	if end := strings.TrimRight(text, " \t\v\f"); strings.HasSuffix(end, `\`) || strings.HasSuffix(end, "??/") {
		text += " /**/"
	}
	return text, nil
}

// openComment reports whether text may begin a comment that it does not end.
func openComment(text string) bool {
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '"' || text[i] == '\'':
			end := literalEnd(text[i:])
			if end < 0 { // compilers differ on what that is: then no comment may follow
				return strings.Contains(text[i:], "/*")
			}
			i += end
		case strings.HasPrefix(text[i:], "//"):
			return false
		case strings.HasPrefix(text[i:], "/*"):
			end := strings.Index(text[i+2:], "*/")
			if end < 0 {
				return true
			}
			i += 2 + end + 1
		}
	}
	return false
}

// literalEnd returns the position of the quote that ends a literal, or -1.
func literalEnd(literal string) int {
	for i := 1; i < len(literal); i++ {
		switch literal[i] {
		case '\\':
			i++
		case literal[0]:
			return i
		}
	}
	return -1
}

// Comment returns text for the inside of a comment in C, on one line.
func Comment(text string) string {
	text = strings.ReplaceAll(Line(text), "/*", "/ *")
	return strings.ReplaceAll(text, "*/", "* /")
}

// String returns text as a string literal of C and C++ with the same bytes, whatever
// character set the source is read in and whether it knows trigraphs.
func String(text string) string {
	var literal strings.Builder
	literal.WriteByte('"')
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\' || c == '?':
			literal.WriteByte('\\')
			literal.WriteByte(c)
		case c < ' ' || c > '~':
			fmt.Fprintf(&literal, `\%03o`, c) // octal ends after three digits, hexadecimal does not
		default:
			literal.WriteByte(c)
		}
	}
	literal.WriteByte('"')
	return literal.String()
}
