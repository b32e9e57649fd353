// Package pictures draws a study: how the search went, what each parameter does, what the
// finalists took. The pages that are written (studies/report) and those that are served
// (gate/serve) show the same ones.
//
//  1. New takes from the trials what can be drawn, once: a time and a column per parameter.
//  2. Each method draws one picture. A dot says its trial, time and point, and leads to the
//     trial's page where there is one.
//  3. Ten thousand trials do not make a page of many megabytes: where dots lie on each
//     other one of them is drawn, and the caption says so.
//
// Nothing is estimated here: what has an interval was given one.
package pictures

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"pawl/internal/page"
	"pawl/internal/plot"
	"pawl/search"
	"pawl/studies"
)

// Figure is a picture with the words around it.
type Figure struct {
	Title string
	// Caption says how to read it.
	Caption string
	plot.Picture
	// Wide says that it needs more room than a telephone has.
	Wide bool
}

// Search is what was tried, ready to be drawn.
type Search struct {
	params []studies.ParamFacts
	timed  []timed // in the order of asking
	link   func(trial int) string
	place  func() // fills in the values, once
	// measure is what trials are compared by; nil is the time.
	measure *page.Objective
}

// timed is a trial with a verified time.
type timed struct {
	trial  *search.Trial
	ms     float64
	values []int // of each parameter, the place of its value; -1 for one that is not listed
}

// New takes the trials of a space. Link returns the address of a trial's page; nil stands
// for none.
func New(space studies.SpaceFacts, trials []search.Trial, link func(trial int) string) *Search {
	s := &Search{params: space.Params, link: link}
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
func (s *Search) findValues() {
	places, columns := make([]map[string]int, len(s.params)), map[string]int{}
	for i, p := range s.params {
		places[i], columns[p.Name] = map[string]int{}, i
		for j, value := range p.Values {
			places[i][value] = j
		}
	}
	for i := range s.timed {
		values := make([]int, len(s.params))
		for j := range values {
			values[j] = -1
		}
		for _, a := range s.timed[i].trial.Point.Assignments() {
			column, known := columns[a.Name]
			if !known {
				continue
			}
			if place, listed := places[column][a.Value.String()]; listed {
				values[column] = place
			}
		}
		s.timed[i].values = values
	}
}

// By says what the trials are compared by where it is not the time.
func (s *Search) By(m *page.Objective) *Search {
	s.measure = m
	return s
}

// axis is the logarithmic one of what is compared.
func (s *Search) axis() plot.Axis {
	name := "time"
	if s.measure != nil {
		name = s.measure.Formula
	}
	return plot.Log(name, s.measure.Text, s.times()...)
}

func (s *Search) param(name string) int {
	return slices.IndexFunc(s.params, func(p studies.ParamFacts) bool { return p.Name == name })
}

func (s *Search) times() []float64 {
	times := make([]float64, len(s.timed))
	for i, t := range s.timed {
		times[i] = t.ms
	}
	return times
}

// fastest returns the trials, the fastest first.
func (s *Search) fastest() []timed {
	return slices.SortedStableFunc(slices.Values(s.timed), func(a, b timed) int { return cmp.Compare(a.ms, b.ms) })
}

func (s *Search) title(t timed) string {
	return fmt.Sprintf("trial %d: %s, %s", t.trial.Number, s.measure.Text(t.ms), t.trial.Point)
}

func (s *Search) href(t timed) string {
	if s.link == nil {
		return ""
	}
	return s.link(t.trial.Number)
}

func (s *Search) dot(t timed, x float64, colour string, radius float64) plot.Dot {
	return plot.Dot{XY: plot.XY{X: x, Y: t.ms}, Colour: colour, Radius: radius, Title: s.title(t), Href: s.href(t)}
}

// thinned says how many of the dots are not drawn; empty for none.
func thinned(drawn, all int) string {
	if drawn == all {
		return ""
	}
	return fmt.Sprintf(" %d of %d dots lie on others and are not drawn.", all-drawn, all)
}
