package escape

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// linked is what GitHub turns into a link or a message to somebody, even where
// its characters are escaped.
var linked = regexp.MustCompile(`@|://|www\.`)

// Markdown returns text for a sentence, a heading or the cell of a table in
// Markdown: it is read as it is, and begins no markup, link, mention or line.
func Markdown(text string) string {
	if linked.MatchString(text) {
		return Code(text)
	}
	if text == "~" {
		return text // "not known", and no markup
	}
	var escaped strings.Builder
	runes := []rune(Line(text))
	for i, r := range runes {
		switch {
		case r == '|':
			escaped.WriteString("&#124;") // a backslash before it might be one of the text
			continue
		case r == '_':
			if !wordAt(runes, i-1) || !wordAt(runes, i+1) { // inside a word it is no markup
				escaped.WriteByte('\\')
			}
		case strings.ContainsRune("\\`*<>&[]~$", r), beginsBlock(runes, i):
			escaped.WriteByte('\\')
		}
		escaped.WriteRune(r)
	}
	return escaped.String()
}

// beginsBlock reports whether a heading or an item of a list begins at i.
func beginsBlock(runes []rune, i int) bool {
	return i == 0 && strings.ContainsRune("#+-", runes[0]) && (len(runes) == 1 || runes[1] == ' ' || runes[1] == '#')
}

func wordAt(runes []rune, i int) bool {
	return i >= 0 && i < len(runes) && (unicode.IsLetter(runes[i]) || unicode.IsDigit(runes[i]))
}

// Code returns text as a code span for Markdown, in a sentence or in the cell of
// a table; nothing for no text. The pipe of a table's cell is left to Cell.
func Code(text string) string {
	if text == "" {
		return ""
	}
	text = Line(text)
	if strings.Contains(text, `\|`) || strings.TrimSpace(text) == "" {
		return htmlCode(text) // no code span can hold it in a table
	}
	fence := strings.Repeat("`", longestRun(text, '`')+1)
	// A blank on both sides is taken away again, and keeps backticks off the fence.
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") ||
		strings.HasPrefix(text, " ") && strings.HasSuffix(text, " ") {
		text = " " + text + " "
	}
	return fence + text + fence
}

// htmlCode writes every character that might be markup as an entity.
func htmlCode(text string) string {
	var escaped strings.Builder
	for _, r := range text {
		if r == ' ' || r < 0x80 && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			fmt.Fprintf(&escaped, "&#%d;", r)
		} else {
			escaped.WriteRune(r)
		}
	}
	return "<code>" + escaped.String() + "</code>"
}

// Cell returns Markdown for the cell of a table, where a pipe would end it.
func Cell(markdown string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ").Replace(markdown)
}

// Fence returns text as a block of code for Markdown, in a language. Lines stay;
// the fence is longer than any that the text holds.
func Fence(language, text string) string {
	text = unhide(text) // what is taken out may have kept backticks apart
	fence := strings.Repeat("`", max(3, longestRun(text, '`')+1))
	return fence + language + "\n" + text + "\n" + fence
}

// unhide removes what cannot be seen: a block is copied to a shell, where the
// escape sequence of a character would be another word.
func unhide(text string) string {
	return strings.Map(func(r rune) rune {
		if hidden(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
}

func longestRun(text string, of rune) int {
	longest, run := 0, 0
	for _, r := range text {
		if r == of {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	return longest
}
