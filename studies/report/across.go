package report

import (
	"fmt"
	"slices"
	"strings"

	"pawl/internal/collect"
	"pawl/internal/page"
	"pawl/internal/stats"
	"pawl/search/confirm"
	"pawl/search/trial"
	"pawl/studies"
)

// Across says what the winner is worth on the kernel's other workloads. A default holds
// for all of them, and so does a default that is changed.
type Across struct {
	// Workloads are all others, in the manifest's order.
	Workloads []AcrossWorkload `json:"workloads"`
	// Advice is what to do about it.
	Advice string `json:"advice"`
}

// AcrossWorkload compares the winner with the default on one workload.
type AcrossWorkload struct {
	Workload string       `json:"workload"`
	Dims     string       `json:"dims"`
	Result   AcrossResult `json:"result"`
	// Default and Winner are times in milliseconds, 0 where not measured.
	Default float64 `json:"default_milliseconds,omitempty"`
	Winner  float64 `json:"winner_milliseconds,omitempty"`
	// Speedup of the winner and its 95 % interval; nil where not measured.
	Speedup  *float64        `json:"speedup,omitempty"`
	Interval *stats.Interval `json:"interval,omitempty"`
	Rounds   int             `json:"rounds,omitempty"`
	// Failure says what failed, and how; empty where nothing did.
	Failure string `json:"failure,omitempty"`
	// Cases counts what the winner's results were checked on before it was measured.
	Cases int `json:"cases,omitempty"`
}

// AcrossResult is what came of measuring on another workload.
type AcrossResult string

const (
	AcrossFaster AcrossResult = "faster"
	AcrossSlower AcrossResult = "slower"
	// AcrossSame: no difference was shown.
	AcrossSame AcrossResult = "no difference shown"
	// AcrossFails: the winner is wrong there, or does not work. AcrossDefaultFails says
	// that of the default, so that there is nothing to compare with.
	AcrossFails        AcrossResult = "the winner fails"
	AcrossDefaultFails AcrossResult = "the default fails"
	// AcrossUnmeasured: not measured, or not to the end.
	AcrossUnmeasured AcrossResult = "not measured"
)

// across compares the winner with the default on the other workloads. It is nil where
// there is nothing to compare, or no other workload.
func across(s *Summary, rounds map[string][]trial.Round) *Across {
	others := s.Study.Others()
	if s.Evidence == nil || len(others) == 0 {
		return nil
	}
	a := &Across{Workloads: collect.Each(others, func(w studies.WorkloadFacts) AcrossWorkload {
		return s.acrossOne(w, trial.Latest(rounds[w.Name]))
	})}
	a.Advice = a.advise(s)
	return a
}

// acrossOne reads what the latest rounds on a workload say.
func (s *Summary) acrossOne(w studies.WorkloadFacts, rounds []trial.Round) AcrossWorkload {
	row := AcrossWorkload{Workload: w.Name, Dims: w.Dims, Result: AcrossUnmeasured}
	for _, r := range rounds {
		switch {
		case r.Point != s.Winner.Point && r.Point != s.Default.Point:
			return AcrossWorkload{Workload: w.Name, Dims: w.Dims, Result: AcrossUnmeasured} // of another winner
		case r.Outcome.Failure == nil:
		case r.Point == s.Winner.Point:
			row.Result, row.Failure = AcrossFails, r.Outcome.Failure.String()
		case row.Result != AcrossFails:
			row.Result, row.Failure = AcrossDefaultFails, r.Outcome.Failure.String()
		}
		if r.Point == s.Winner.Point && r.Outcome.Evidence != nil {
			row.Cases += len(r.Outcome.Evidence.Cases)
		}
	}
	contenders := confirm.Contenders(rounds, trial.Across)
	if row.Failure != "" || len(contenders) != 2 || len(contenders[0].Rounds) < confirm.FewestRounds {
		return row
	}
	base := slices.IndexFunc(contenders, func(c confirm.Contender) bool { return c.Point == s.Default.Point })
	row.compare(contenders[base], contenders[1-base])
	return row
}

// compare fills in the times. A result that is not "no difference" takes an interval on
// one side of 1, or all rounds where they are too few for one.
func (w *AcrossWorkload) compare(base, winner confirm.Contender) {
	speedup, interval := compare(base, winner)
	w.Default, w.Winner, w.Speedup, w.Interval, w.Rounds = base.Milliseconds(), winner.Milliseconds(), &speedup,
		&interval, len(base.Rounds)
	low, high := interval.Low, interval.High
	if !interval.Bounded() {
		low, high = speedup, speedup
		for i := range base.Rounds {
			one := stats.Speedup(base.Rounds[i:i+1], winner.Rounds[i:i+1])
			low, high = min(low, one), max(high, one)
		}
	}
	switch {
	case low > 1:
		w.Result = AcrossFaster
	case high < 1:
		w.Result = AcrossSlower
	default:
		w.Result = AcrossSame
	}
}

// Of returns the names of the workloads with one of the results.
func (a *Across) Of(results ...AcrossResult) []string {
	if a == nil {
		return nil
	}
	found := collect.Where(a.Workloads, func(w AcrossWorkload) bool { return slices.Contains(results, w.Result) })
	return collect.Each(found, func(w AcrossWorkload) string { return w.Workload })
}

func (a *Across) advise(s *Summary) string {
	var losses []string
	for _, w := range a.Workloads {
		if w.Result == AcrossSlower {
			losses = append(losses, fmt.Sprintf("%s gets slower (%.2f×)", w.Workload, *w.Speedup))
		}
	}
	if failing := a.Of(AcrossFails); len(failing) > 0 {
		losses = append(losses, "the winner fails on "+strings.Join(failing, ", "))
	}
	missing, broken := a.Of(AcrossUnmeasured), a.Of(AcrossDefaultFails)
	command := s.Study.Place.Pawl("studies", "across", s.Study.ID) + " measures there"
	var sentences []string
	switch {
	case len(losses) > 0:
		sentences = append(sentences, fmt.Sprintf("Another workload would pay: %s. Leave the manifest's default as it is.",
			strings.Join(losses, ", ")))
		if g := s.Suggestion; g != nil && g.Header != "" {
			sentences = append(sentences, fmt.Sprintf("Use the header where %s runs (%s).", s.Study.Workload,
				s.Study.Place.Pawl("apply", s.Study.ID, "--worst-loss", "100%")))
		}
	case len(missing) == len(a.Workloads):
		return fmt.Sprintf("The winner was measured on no other workload of the kernel (%s), and the manifest's default "+
			"holds for all: %s.", strings.Join(missing, ", "), command)
	case len(broken) == 0 && len(missing) == 0:
		sentences = append(sentences,
			"No workload that was measured is shown to get slower: the winner may become the manifest's default.")
	case len(broken)+len(missing) < len(a.Workloads):
		sentences = append(sentences, "No workload that was measured is shown to get slower.")
	}
	if len(broken) > 0 {
		sentences = append(sentences, fmt.Sprintf("The default itself fails on %s.", strings.Join(broken, ", ")))
	}
	if len(missing) > 0 {
		sentences = append(sentences, fmt.Sprintf("Not measured: %s; %s.", strings.Join(missing, ", "), command))
	}
	return strings.Join(sentences, " ")
}

var acrossHeader = []string{"workload", "winner over default", "95 % interval", "default", "winner", "rounds", "result"}

// acrossRows are the table, none where there is none; mark stands out, and text writes
// what is not ours.
func acrossRows(s *Summary, mark, text func(string) string) (rows [][]string) {
	if s.Across == nil || len(s.Across.Of(AcrossUnmeasured)) == len(s.Across.Workloads) {
		return nil
	}
	for _, w := range s.Across.Workloads {
		row := []string{text(w.Workload), page.Unknown, page.Unknown, page.Unknown, page.Unknown, page.Unknown,
			string(w.Result)}
		if w.Speedup != nil {
			row[1], row[2] = fmt.Sprintf("%.2f×", *w.Speedup), page.RatioInterval(*w.Interval)
			row[3], row[4], row[5] = s.Written(w.Default), s.Written(w.Winner), fmt.Sprint(w.Rounds)
		}
		switch w.Result {
		case AcrossSlower:
			row[1], row[6] = mark(row[1]), mark(row[6])
		case AcrossFails, AcrossDefaultFails:
			row[6] = mark(row[6]) + ": " + text(w.Failure)
		}
		rows = append(rows, row)
	}
	return rows
}
