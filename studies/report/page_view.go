package report

import (
	"fmt"
	"strings"

	"pawl/internal/collect"
	"pawl/internal/page"
	"pawl/internal/plot"
	"pawl/search/confirm"
	"pawl/search/trial"
)

// View is a study as a page shows it: its facts, and pictures of them.
type View struct {
	*Summary
	*Drawing
}

// NewView draws a study. Link returns the address of a trial's page; nil stands for none.
func NewView(s *Summary, link func(trial int) string) *View {
	return &View{s, NewDrawing(s.Study, s.trials, link)}
}

// Trials are the study's, in the order of asking.
func (s *Summary) Trials() []trial.Trial { return s.trials }

// ByImportance are the parameters' names, the most important first.
func (v *View) ByImportance() []string {
	return collect.Each(v.Importances, func(i confirm.Importance) string { return i.Name })
}

// Interaction is the picture of the two most important parameters.
func (v *View) Interaction() Figure {
	names := v.ByImportance()
	if len(names) < 2 {
		return Figure{}
	}
	return v.InteractionOf(names[0], names[1])
}

// Finalists is the picture of what was confirmed, the default with it.
func (v *View) Finalists() Figure {
	if v.Winner == nil {
		return Figure{}
	}
	var all []Measured
	for i, t := range v.Rows() {
		if i > 0 || v.Default == nil {
			t.Name = "finalist " + t.Name
		}
		tried, _ := collect.First(v.trials, func(o trial.Trial) bool { return o.Point == t.Point })
		all = append(all,
			Measured{
				Measure:      v.Study.Environment.Objective,
				Name:         t.Name,
				Milliseconds: t.Milliseconds,
				Interval:     t.Interval,
				Best:         t.Point == v.Winner.Point,
				Title:        fmt.Sprintf("%s: %s, %s", t.Name, v.Written(t.Milliseconds), t.Point),
				Href:         v.href(tried.Number),
			})
	}
	return Whiskers("How sure the times are",
		"The median over rounds and its 95 % interval; the speedups, which compare "+
			"round by round, decide where these overlap. The winner is blue.",
		all)
}

// Times is the picture of where the time went.
func (v *View) Times() Figure {
	return Parts("Where the time went",
		"Shares are of the time of the search; compilers run beside it, the confirmation after it.", plot.Best,
		page.Seconds, timeRows(v.Summary))
}

// needRows are what the compiler and the device say about the default and the winner.
func needRows(s *Summary) (rows [][]string) {
	add := func(name string, t *Timed) {
		needs := t.Needs()
		if needs == "" {
			return // the throughput alone stands above
		}
		if launch := launchText(t); launch != "" {
			needs = strings.TrimSpace(needs + ". " + launch)
		}
		rows = append(rows, []string{name, needs, Throughput(t)})
	}
	add("default", s.Default)
	if s.Evidence != nil {
		add("winner", s.Winner)
	}
	return rows
}
