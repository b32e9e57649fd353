package report

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"pawl/internal/collect"
	"pawl/internal/page"
	"pawl/internal/plot"
	"pawl/search/trial"
	"pawl/studies"
)

// A drawing shows how a search went and what each parameter does, on the pages that are written here and on those that
// cmd/pawl/pages serves. Ten thousand trials do not make a page of many megabytes: where dots lie on each other one of
// them is drawn, and the caption says so. Nothing is estimated: what has an interval was given one.

// Figure is a picture with the words around it.
type Figure struct {
	Title string
	// Caption says how to read it.
	Caption string
	plot.Picture
	// Wide says that it needs more room than a telephone has.
	Wide bool
}

// Drawing is what was tried, ready to be drawn.
type Drawing struct {
	params []studies.ParamFacts
	timed  []timed // in the order of asking
	link   func(trial int) string
	place  func() // fills in the values, once
	// measure is what trials are compared by; nil is the time.
	measure *page.Objective
}

// timed is a trial with a verified time.
type timed struct {
	trial  *trial.Trial
	ms     float64
	values []int // of each parameter, the place of its value; -1 for one that is not listed
}

// NewDrawing takes the trials of a study. Link returns the address of a trial's page; nil stands
// for none.
func NewDrawing(study studies.Study, trials []trial.Trial, link func(trial int) string) *Drawing {
	s := &Drawing{params: study.Space.Params, measure: study.Environment.Objective, link: link}
	for i := range trials {
		if t := &trials[i]; t.OK() {
			s.timed = append(s.timed, timed{trial: t, ms: t.Outcome.Milliseconds()})
		}
	}
	s.place = sync.OnceFunc(s.findValues)
	return s
}

// findValues finds where the trials' values stand among their parameters'. It is left to
// the pictures that need it: a point is its text, and reading ten thousand takes longer
// than an update of a page may.
func (s *Drawing) findValues() {
	for i := range s.timed {
		values := slices.Repeat([]int{-1}, len(s.params))
		for _, a := range s.timed[i].trial.Point.Assignments() {
			if column := s.param(a.Name); column >= 0 {
				values[column] = slices.Index(s.params[column].Values, a.Value.String())
			}
		}
		s.timed[i].values = values
	}
}

// axis is the logarithmic one of what is compared.
func (s *Drawing) axis() plot.Axis {
	name := "time"
	if s.measure != nil {
		name = s.measure.Formula
	}
	return plot.Log(name, s.measure.Text, collect.Each(s.timed, func(t timed) float64 { return t.ms })...)
}

func (s *Drawing) param(name string) int {
	return slices.IndexFunc(s.params, func(p studies.ParamFacts) bool { return p.Name == name })
}

// fastest returns the trials, the fastest first.
func (s *Drawing) fastest() []timed {
	return slices.SortedStableFunc(slices.Values(s.timed), func(a, b timed) int { return cmp.Compare(a.ms, b.ms) })
}

func (s *Drawing) title(t timed) string {
	return fmt.Sprintf("trial %d: %s, %s", t.trial.Number, s.measure.Text(t.ms), t.trial.Point)
}

func (s *Drawing) href(trial int) string {
	if s.link == nil {
		return ""
	}
	return s.link(trial)
}

func (s *Drawing) dot(t timed, x float64, color string, radius float64) plot.Dot {
	return plot.Dot{
		XY:     plot.XY{X: x, Y: t.ms},
		Color:  color,
		Radius: radius,
		Title:  s.title(t),
		Href:   s.href(t.trial.Number),
	}
}

// thinned says how many of the dots are not drawn; empty for none.
func thinned(drawn, all int) string {
	if drawn == all {
		return ""
	}
	return fmt.Sprintf(" %d of %d dots lie on others and are not drawn.", all-drawn, all)
}
