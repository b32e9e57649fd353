package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"pawl/internal/collect"
	"pawl/internal/page"
	"pawl/internal/stats"
	"pawl/search/confirm"
	"pawl/search/trial"
	"pawl/space"
)

// Data says how the times depend on what the inputs hold: the finalists were measured on several kinds of data.
type Data struct {
	// Text is the winner's time on the declared data and where it differs; empty where it hardly does.
	Text  string       `json:"text,omitempty"`
	Kinds []KindFigure `json:"kinds,omitempty"`
	// Caught were faster on the declared data only.
	Caught []CaughtPoint `json:"caught,omitempty"`
}

// KindFigure compares the winner with the default on one kind of data, in the rounds that measured it.
type KindFigure struct {
	Kind     string         `json:"kind"`
	Default  float64        `json:"default"`
	Winner   float64        `json:"winner"`
	Speedup  float64        `json:"speedup"`
	Interval stats.Interval `json:"interval"`
	Rounds   int            `json:"rounds"`
	// Slower says that the winner is slower, by more than it may be.
	Slower bool `json:"slower,omitempty"`
}

// CaughtPoint is a finalist that is slower than the default on another kind of data.
type CaughtPoint struct {
	Point space.Point `json:"point"`
	How   string      `json:"how"`
}

// dependent is by how much a time must differ between kinds of data for the verdict to say so.
const dependent = 0.03

// onData reads what the rounds say about kinds of data: those that count about the winner, all of them about who was
// caught.
func (s *Summary) onData(counting, all []trial.Round) {
	d := Data{}
	for _, r := range confirm.CaughtBy(all) {
		d.Caught = append(d.Caught, CaughtPoint{r.Point, r.Outcome.Failure.Detail})
	}
	if s.Winner != nil {
		d.Text = s.dependence(confirm.FromDeclared(counting, s.Winner.Point, 0.95))
		if s.Winner.Point != s.initial {
			d.Kinds = collect.Each(confirm.OnKinds(counting, s.initial, s.Winner.Point, 0.95), kindFigure)
		}
	}
	if d.Text != "" || d.Kinds != nil || d.Caught != nil {
		s.Data = &d
	}
}

func kindFigure(r confirm.Ratio) KindFigure {
	return KindFigure{r.Kind, r.Base, r.Milliseconds, r.Speedup, r.Interval, r.Rounds, r.Slower()}
}

// dependence says on which kinds of data the winner's time is another one.
func (s *Summary) dependence(ratios []confirm.Ratio) string {
	differ := collect.Where(ratios, func(r confirm.Ratio) bool {
		return math.Abs(1/r.Speedup-1) > dependent && !r.Interval.Contains(1)
	})
	if len(differ) == 0 {
		return ""
	}
	least, most := differ[0].Milliseconds, differ[0].Milliseconds
	for _, r := range differ {
		least, most = min(least, r.Milliseconds), max(most, r.Milliseconds)
	}
	span := s.Written(least)
	if s.Written(most) != span {
		span += " to " + s.Written(most)
	}
	return fmt.Sprintf("%s; %s on %s data", s.Written(s.Winner.Milliseconds), span,
		strings.Join(collect.Each(differ, func(r confirm.Ratio) string { return r.Kind }), ", "))
}

// withData says first how the time depends on the data, and withholds what loses on a kind of it.
func withData(a Advice, s *Summary) Advice {
	if s.Data == nil || !a.Verdict.Usable() {
		return a
	}
	slower := collect.Where(s.Data.Kinds, func(k KindFigure) bool { return k.Slower })
	if len(slower) > 0 {
		worst := slices.MinFunc(slower, func(a, b KindFigure) int { return int(math.Copysign(1, a.Speedup-b.Speedup)) })
		a = Advice{Consider, fmt.Sprintf("Better than the default on the declared data, and worse on %s data (%.2f×, %s): "+
			"apply it only where such data does not occur, and say so in the manifest (kinds).", worst.Kind, worst.Speedup,
			page.RatioInterval(worst.Interval))}
	}
	if s.Data.Text != "" {
		a.Sentence = "The time depends on the data: " + s.Data.Text + ". " + a.Sentence
	}
	return a
}

// dataRows is the table by kind of data.
func dataRows(s *Summary) (rows [][]string) {
	if s.Data == nil || s.Evidence == nil || len(s.Data.Kinds) == 0 {
		return nil
	}
	rows = append(rows, []string{"declared", s.Written(s.Default.Milliseconds), s.Written(s.Winner.Milliseconds),
		fmt.Sprintf("%.2f× (%s)", s.Evidence.Speedup, page.RatioInterval(s.Evidence.Interval)),
		fmt.Sprint(s.Evidence.Rounds)})
	for _, k := range s.Data.Kinds {
		rows = append(rows, []string{k.Kind, s.Written(k.Default), s.Written(k.Winner),
			fmt.Sprintf("%.2f× (%s)", k.Speedup, page.RatioInterval(k.Interval)), fmt.Sprint(k.Rounds)})
	}
	return rows
}

// dataGrid is that table.
func dataGrid(s *Summary) *page.Grid {
	return page.NewGrid(dataRows(s), "data", "default", "winner", "speedup", "rounds")
}

// caughtTexts name the points that were faster on the declared data only.
func caughtTexts(s *Summary) (texts []string) {
	if s.Data == nil {
		return nil
	}
	for _, c := range s.Data.Caught {
		texts = append(texts, fmt.Sprintf("Not suggested, because it is fitted to the declared data: %s %s.", c.Point, c.How))
	}
	return slices.Compact(texts)
}
