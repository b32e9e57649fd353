package pages

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"pawl/internal/collect"
	"pawl/internal/escape"
	pages "pawl/internal/page"
	"pawl/internal/stats"
	"pawl/search/trial"
	"pawl/studies"
	"pawl/studies/report"
)

type trialPage struct {
	Study  studies.Study
	Trial  trial.Trial
	Row    trialRow
	Detail string
	Facts  []report.Fact
	// Samples are the raw times in milliseconds, in the order taken.
	Samples string
	Rounds  []roundRow
	Command string
	Before  int // the trials around it, -1 for none
	After   int
}

type roundRow struct {
	Phase, Time, Samples string
	Number               int
}

func (s *Server) trial(r *http.Request) (page, error) {
	store, id, err := s.opened(r)
	if err != nil {
		return page{}, err
	}
	number, err := strconv.Atoi(r.PathValue("trial"))
	if err != nil || number < 0 {
		return page{}, badRequest("%q is not the number of a trial", r.PathValue("trial"))
	}
	study, err := store.Study(r.Context(), id)
	if err != nil {
		return page{}, err
	}
	around, err := store.TrialsFrom(r.Context(), id, max(number-1, 0))
	if err != nil {
		return page{}, err
	}
	data := trialPage{Study: study, Before: -1, After: -1}
	found := false
	for _, t := range around {
		switch t.Number {
		case number - 1:
			data.Before = t.Number
		case number:
			data.Trial, found = t, true
		case number + 1:
			data.After = t.Number
		}
	}
	if !found {
		return page{}, notFound("study %d has no trial %d", id, number)
	}
	rounds, err := store.Rounds(r.Context(), id)
	if err != nil {
		return page{}, err
	}
	data.describe(rounds)
	return page{
		Title:    fmt.Sprintf("Trial %d of study %d", number, id),
		Template: "trial",
		Data:     data,
		Notices:  store.Notices,
	}, nil
}

func (d *trialPage) describe(rounds []trial.Round) {
	o, measure := d.Trial.Outcome, d.Study.Environment.Objective
	d.Row = newTrialRow(d.Study, d.Trial)
	if o.Failure != nil {
		d.Detail = o.Failure.Detail
	}
	fact := func(what, text, code string) {
		if text+code != "" {
			d.Facts = append(d.Facts, report.Fact{What: what, Text: text, Code: code})
		}
	}
	if d.Trial.OK() {
		fact("median",
			fmt.Sprintf("%s, robust CV %s", measure.Samples(o.Samples),
				pages.RobustCV(pages.Percent(stats.RobustCV(o.Samples)), len(o.Samples))), "")
		text := fmt.Sprintf("%d, each the mean of %s", len(o.Samples), pages.Count(o.Batch, "launch", "launches"))
		if o.Stop != "" {
			text += fmt.Sprintf("; then it stopped: %s", o.Stop)
		}
		fact("samples", text, "")
	}
	fact("measured on", o.Device, "")
	fact("digest of the machine code", "", o.Binary)
	fact("same machine code as", "", o.SameAs)
	fact("needs", (&report.Timed{Resources: o.Resources}).Needs(), "")
	if o.Conditions != nil {
		fact("the device meanwhile", o.Conditions.String(), "")
	}
	if checked := report.NewChecked(o.Evidence); checked != nil {
		fact("checked in full on", checked.Text(), "")
	}
	if d.Trial.Finished {
		cached := ""
		if o.Spent.CacheHit {
			cached = " (from the cache)"
		}
		fact("time spent",
			fmt.Sprintf("compiling %s%s, checking %s, measuring %s", pages.Seconds(o.Spent.Compile.Seconds()), cached,
				pages.Seconds(o.Spent.Check.Seconds()), pages.Seconds(o.Spent.Measure.Seconds())), "")
	}
	d.Samples = samplesText(o.Samples)
	for _, r := range rounds {
		if r.Point != d.Trial.Point {
			continue
		}
		row := roundRow{
			Phase:   string(r.Phase),
			Number:  r.Number,
			Time:    pages.Unknown,
			Samples: samplesText(r.Outcome.Samples),
		}
		if r.Outcome.Failure != nil {
			row.Samples = r.Outcome.Failure.String()
		} else if len(r.Outcome.Samples) > 0 {
			row.Time = measure.Text(stats.Median(r.Outcome.Samples))
		}
		d.Rounds = append(d.Rounds, row)
	}
	if d.Study.Backend != studies.Replay && d.Study.Backend != studies.Ask {
		d.Command = escape.Shell("pawl", "bench", d.Study.Origin, "--workload", d.Study.Workload, "--backend",
			d.Study.Backend, "--at", d.Trial.Point.String())
	}
}

func samplesText(samples []float64) string {
	texts := collect.Each(samples, func(ms float64) string { return strconv.FormatFloat(ms, 'g', 6, 64) })
	return strings.Join(texts, " ")
}
