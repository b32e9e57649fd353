package csource

import (
	"cmp"
	"slices"
	"strings"
)

// Place is a part of a source, in bytes.
type Place struct{ From, To int }

// Edit puts a text in a place.
type Edit struct {
	Place
	Text string
}

// Before and After insert a text there.
func Before(p Place, text string) Edit { return Edit{Place{p.From, p.From}, text} }
func After(p Place, text string) Edit  { return Edit{Place{p.To, p.To}, text} }

// Rewrite is a source with edits. Of two that overlap the first in the source counts.
func Rewrite(source string, edits []Edit) string {
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b Edit) int { return cmp.Or(a.From-b.From, b.To-a.To) })
	var text strings.Builder
	at := 0
	for _, e := range edits {
		if e.From >= at {
			text.WriteString(source[at:e.From] + e.Text)
			at = e.To
		}
	}
	return text.String() + source[at:]
}
