package ci

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"pawl/gate/baseline"
	"pawl/internal/escape"
	"pawl/internal/page"
)

// Move is an entry that a commit begins or moves.
type Move struct {
	baseline.Key
	// From and To are milliseconds; From is 0 for a new entry.
	From, To float64
	// Change is what the gate has measured between both, together: times of two days are not compared. Nil is unknown.
	Change *float64
	// Accepted is a person's reason, empty where the gate has moved it.
	Accepted string
	// Provisional says that it is a gain that a later build has to hold.
	Provisional bool
}

// String is the line about it in the commit.
func (m Move) String() string {
	text := fmt.Sprintf("%s: new, %s", m.Key, m.Objective.Text(m.To))
	if m.From > 0 {
		text = fmt.Sprintf("%s: %s to %s", m.Key, m.Objective.Text(m.From), m.Objective.Text(m.To))
	}
	if m.Change != nil {
		text += fmt.Sprintf(" (%s)", page.Change(*m.Change))
	}
	if m.Provisional {
		text += ", provisional until a later build holds it"
	}
	if m.Accepted != "" {
		text += ", accepted: " + m.Accepted
	}
	return line(text)
}

func moves(before, after *baseline.File) (all []Move) {
	for _, e := range after.Entries {
		if was, _ := before.Find(e.Key); !reflect.DeepEqual(was, e.Entry) {
			m := Move{Key: e.Key, From: was.Median, To: e.Median}
			for _, a := range e.Accepted {
				if a.To == e.Median {
					m.Accepted, m.Change = a.Reason, a.Change
				}
			}
			all = append(all, m)
		}
		if was, _ := before.FindGain(e.Key); e.Provisional != nil && !reflect.DeepEqual(was, *e.Provisional) {
			all = append(all, Move{Key: e.Key, From: e.Median, To: e.Provisional.Median, Change: &e.Provisional.Gain,
				Provisional: true})
		}
	}
	return all
}

// skips is what makes GitHub start no workflow for a commit, and none for a tag on it either,
// such as a release. The branch's newest commit must not have it, whatever a kernel is called.
//
// So nothing here keeps the commit from starting workflows. A push with a job's own
// token starts none. One with the token of a person or an app does, and then ShouldRun finds that
// a push which brings nothing but a baseline is worth no run: the loop ends there.
var skips = regexp.MustCompile(`(?i)\[(skip ci|ci skip|no ci|skip actions|actions skip)\]`)

// line is text from outside for a line of the message.
func line(text string) string { return skips.ReplaceAllString(escape.Line(text), "($1)") }

// message says which entries moved, and by how much.
func message(c change) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n\n", subject(c))
	for _, m := range c.moved {
		fmt.Fprintf(&text, "- %s\n", m)
	}
	for _, sentence := range c.chosen {
		fmt.Fprintf(&text, "- %s\n", line(sentence))
	}
	if slices.ContainsFunc(c.moved, func(m Move) bool { return m.Change != nil }) {
		text.WriteString("\nA positive change is faster.\n")
	}
	if c.events > 0 {
		fmt.Fprintf(&text, "\n%s added to the history.\n", page.Count(c.events, "line"))
	}
	return text.String()
}

func subject(c change) string {
	switch moved := len(c.moved); {
	case moved == 1:
		return "Move the baseline of " + c.moved[0].String()
	case moved > 1:
		return fmt.Sprintf("Move %d entries of the baseline", moved)
	case c.file != nil:
		return "Record decisions about the baseline"
	}
	return fmt.Sprintf("Add %s to the history", page.Count(c.events, "line"))
}
