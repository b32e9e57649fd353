package escape

import "testing"

func TestPageHidesNothing(t *testing.T) {
	for text, want := range map[string]string{
		"<p>\n\tplain é</p>":    "<p>\n\tplain é</p>",
		"<p>\u202ereversed</p>": `<p>\u202ereversed</p>`,
		"a\x1b[31mb\u2066c":     `a\x1b[31mb\u2066c`,
		"\r\n":                  `\r` + "\n",
		"##[group] a":           "##[group] a", // a page is no log
		"\xff":                  "\ufffd",
	} {
		if got := Page(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
