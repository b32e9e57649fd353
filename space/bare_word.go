package space

import "strings"

// word is a kind of name: a letter or an underscore, then letters, digits, underscores and
// the characters that it holds. Every point of a study is read from its text, ten thousand for one
// page, and regular expressions took most of that time.
type word string

// MatchString reports whether a text is such a name.
func (w word) MatchString(text string) bool {
	for i := range len(text) {
		c := text[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_':
		case i > 0 && (c >= '0' && c <= '9' || strings.IndexByte(string(w), c) >= 0):
		default:
			return false
		}
	}
	return text != ""
}
