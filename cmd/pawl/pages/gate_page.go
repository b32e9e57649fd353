package pages

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"slices"

	"pawl/gate/baseline"
	gates "pawl/gate/reporting"
	"pawl/internal/collect"
	pages "pawl/internal/page"
	"pawl/studies"
	"pawl/studies/report"
)

type gatePage struct {
	Place studies.Place
	// Problem says why the baseline or the report cannot be shown; empty for nothing.
	Problems []string
	Entries  []gateEntry
	Trends   []gateTrend
	Run      *gates.Report
	Headline string
	Results  []gates.Result
	Cost     string
	Damaged  int
}

// gateEntry is what a configuration is compared with.
type gateEntry struct {
	baseline.Entry
	// Erosion is against the best that was ever accepted; empty where that is this.
	Erosion string
}

type gateTrend struct {
	Name   string
	Figure report.Figure
	Events []baseline.Event // newest first
	More   int
}

// mostEvents is how much of a history is listed; the picture has all of it.
const mostEvents = 30

func (s *Server) gate(r *http.Request) (page, error) {
	path := s.options.Place.Baseline
	data := gatePage{Place: s.options.Place}
	file, err := baseline.Read(path)
	if err != nil {
		data.Problems = append(data.Problems, sentence(err))
		file = baseline.New()
	}
	for _, e := range file.Entries {
		entry := gateEntry{Entry: e.Entry}
		if e.Best != nil {
			entry.Erosion = fmt.Sprintf("%s against the best that was accepted, %s", pages.Change(1-e.Median/e.Best.Median),
				e.Objective.Text(e.Best.Median))
		}
		data.Entries = append(data.Entries, entry)
	}
	events, damaged, err := baseline.ReadHistory(baseline.HistoryPath(path))
	if err != nil {
		data.Problems = append(data.Problems, sentence(err))
	}
	data.Damaged, data.Trends = damaged, collect.Each(gates.Trends(events), newGateTrend)
	data.run(filepath.Join(filepath.Dir(path), gates.JSONName))
	return page{Title: "Gate", Template: "gate", Data: data}, nil
}

func newGateTrend(t gates.Trend) gateTrend {
	made := gateTrend{
		Name: t.Key.String(),
		Figure: report.Figure{
			Title: "Time over runs",
			Caption: "A dot is a run of the gate: green passed, orange failed, pink was accepted by a person, gray is " +
				"undecided. A dashed line is a change that stayed.",
			Picture: t.Picture(),
		},
	}
	made.More = max(0, len(t.Events)-mostEvents)
	made.Events = slices.Clone(t.Events[made.More:])
	slices.Reverse(made.Events)
	return made
}

func (d *gatePage) run(path string) {
	last, err := gates.Read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err != nil:
		d.Problems = append(d.Problems, sentence(err))
		return
	}
	d.Run, d.Headline = last, gates.PlainHeadline(last)
	if last.Cost != nil {
		d.Cost = last.Cost.String()
	}
	d.Results = last.FailuresFirst()
}
