package escape

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"pawl/internal/collect"
)

// Line returns text as one line for a terminal or a log: what would move the
// cursor, change colors, reorder the line or begin another one is written as its
// escape sequence in Go (\n, \x1b, \u202e). A log of GitHub executes ##[ anywhere
// in a line, so it is broken up. A line of JSON stays the same JSON.
func Line(text string) string {
	if !strings.ContainsFunc(text, hidden) && utf8.ValidString(text) {
		return breakCommand(text)
	}
	var line strings.Builder
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !validAt(text[i:]):
			line.WriteString(`\x` + strconv.FormatInt(0x100|int64(text[i]), 16)[1:])
		case r == '\x7f':
			line.WriteString(`\u007f`)
		case hidden(r) && r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&line, `\u%04x\u%04x`, high, low)
		case hidden(r):
			quoted := strconv.QuoteToASCII(string(r))
			line.WriteString(quoted[1 : len(quoted)-1])
		default:
			line.WriteRune(r)
		}
	}
	return breakCommand(line.String())
}

func breakCommand(line string) string { return strings.ReplaceAll(line, "##[", `##\u005b`) }

// validAt reports whether text begins with a whole character.
func validAt(text string) bool {
	_, size := utf8.DecodeRuneInString(text)
	return size > 1
}

// hidden reports whether a character does something instead of being seen: control
// characters, and those that set the direction of what follows or join lines.
func hidden(r rune) bool {
	return r != ' ' && !unicode.IsGraphic(r) || r == '\u2028' || r == '\u2029'
}

// Lines returns text of several lines for a terminal or a log: each as Line
// writes it, and none that a log of GitHub takes for a command, which begins with
// two colons. Tabs stay.
func Lines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.Join(collect.Each(strings.Split(strings.TrimSuffix(line, "\r"), "\t"), Line), "\t")
		if rest := strings.TrimLeftFunc(lines[i], unicode.IsSpace); strings.HasPrefix(rest, "::") {
			lines[i] = lines[i][:len(lines[i])-len(rest)] + `\` + rest
		}
	}
	return strings.Join(lines, "\n")
}
