package ci

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"pawl/gate"
	"pawl/gate/reporting"
	"pawl/internal/escape"
	"pawl/internal/git"
	"pawl/internal/page"
	"pawl/objective"
)

const (
	// longestBody is what GitHub takes for a comment or a pull request, in characters.
	longestBody = 65536
	// mostRows is how many configurations a comment lists.
	mostRows = 40
)

// body writes the comment; no report means that the gate wrote none.
func (c Comment) body(r *reporting.Report) string {
	if r == nil {
		r = &reporting.Report{Planned: 1}
	}
	first := r.FailuresFirst()[:min(len(r.Results), mostRows)]
	columns := []string{"config", "verdict", "baseline", "current", "change", "95 % interval"}
	return closed("comment", marker, struct {
		*reporting.Report
		Verdict, WhatToDo string
		First             []reporting.Result
		Table             *page.Grid
		More              int
		Repeat, Page      string
	}{r, verdict(r), whatToDo(r), first, page.NewGrid(reporting.Rows(first, escape.Markdown, columns...), columns...),
		len(r.Results) - len(first), c.repeat(r), c.Job.page()})
}

// verdict is the run in a few words.
func verdict(r *reporting.Report) string {
	if len(r.Results) == 0 && r.Problem == "" {
		return "**incomplete**: the gate wrote no result"
	}
	return reporting.Headline(r)
}

// whatToDo says what a reader must do now.
func whatToDo(r *reporting.Report) string {
	switch {
	case unbuilt(r):
		return "Fix the build."
	case r.Count(gate.Wrong) > 0:
		return "Make the results right; until then no time counts."
	case r.Failed() && r.Count(gate.Regression) > 0:
		return "Make it fast again, or let a person accept the loss: `pawl baseline accept KERNEL --reason \"…\"`."
	case r.Problem != "":
		return "Fix what it names."
	case len(r.Results) == 0 || !r.Finished():
		return "Read the run's log, and run it again."
	case r.Failed() && r.Count(gate.Vanished) > 0:
		return "Bring it back, or say why it is gone: `pawl baseline remove KERNEL --reason \"…\"`."
	case slices.ContainsFunc(r.Results, func(s reporting.Result) bool { return len(s.Changed) > 0 && s.AcceptedBy == "" }):
		return "A person has to accept what it changes about the checks: `pawl baseline accept KERNEL --reason \"…\"`."
	case r.Count(gate.Infeasible) > 0:
		return "Find out why it does not run here."
	case r.Count(gate.Inconclusive) > 0:
		return "Run the job again on a quieter machine, or give it more minutes."
	case r.Count(gate.New) > 0:
		return "No action needed: the baseline is made after the merge."
	case r.Count(gate.Improvement) > 0:
		return "No action needed: the baseline takes note after the merge, and moves when a later build holds the gain."
	}
	return "No action needed."
}

// unbuilt reports whether all that is wrong does not build.
func unbuilt(r *reporting.Report) bool {
	wrong := func(s reporting.Result) bool { return s.Verdict == gate.Wrong }
	return r.Count(gate.Wrong) > 0 && !slices.ContainsFunc(r.Results,
		func(s reporting.Result) bool { return wrong(s) && s.Stage != objective.Compile })
}

var hash = regexp.MustCompile(`^[0-9a-f]{40,64}$`)

// repeat are the commands that measure the same again, in any clone: what was gated is the merge that
// GitHub makes of a pull request.
func (c Comment) repeat(r *reporting.Report) string {
	commit, _ := git.Hash(r.Commit)
	var commands []string
	if hash.MatchString(commit) {
		if c.Pull > 0 {
			commands = append(commands, escape.Shell("git", "fetch", "origin", fmt.Sprintf("refs/pull/%d/merge", c.Pull)))
		}
		commands = append(commands, escape.Shell("git", "checkout", commit))
	}
	words := []string{"pawl", "gate"}
	if hash.MatchString(r.Base) {
		words = append(words, "--base", r.Base)
	}
	return strings.Join(append(commands, escape.Shell(words...)), "\n")
}

//go:embed bodies.md.tmpl
var bodiesSource string

var bodies = page.Markdown(bodiesSource, nil)

// closed writes a page that ends with the marker, and cuts before it what GitHub would not take. A cut
// inside folded lines or code ends them too.
func closed(name, marker string, data any) string {
	var text strings.Builder
	if err := bodies.ExecuteTemplate(&text, name, data); err != nil {
		panic("ci: " + err.Error()) // a builder takes everything
	}
	body := text.String()
	if utf8.RuneCountInString(body)+len(marker) <= longestBody {
		return body + marker
	}
	const note = "\n\n</details>\n\nThe rest does not fit here.\n\n"
	kept := string([]rune(body)[:longestBody-len(note)-len(marker)-100])
	if at := strings.LastIndex(kept, "\n"); at >= 0 {
		kept = kept[:at]
	}
	if strings.Count(kept, "\n```")%2 == 1 {
		kept += "\n```"
	}
	return fmt.Sprintf("%s%s%s", kept, note, marker)
}
