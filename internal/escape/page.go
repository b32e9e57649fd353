package escape

import "strings"

// Page returns a page of HTML in which nothing is hidden: what would reorder or hide text
// (a bidirectional override, a control character) is written as its escape sequence, as on a
// terminal. Whoever made the page has escaped markup already; this is for what markup does
// not mind. Lines and tabs stay.
func Page(html string) string {
	layout := func(r rune) bool { return r == '\n' || r == '\t' }
	if !strings.ContainsFunc(html, func(r rune) bool { return hidden(r) && !layout(r) }) {
		return strings.ToValidUTF8(html, "\ufffd")
	}
	var page strings.Builder
	for _, r := range html {
		if hidden(r) && !layout(r) {
			page.WriteString(Line(string(r)))
		} else {
			page.WriteRune(r)
		}
	}
	return page.String()
}
