package pages

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"pawl/internal/collect"
	pages "pawl/internal/page"
	"pawl/studies"
	"pawl/studies/report"
)

const mostCompared = 6

type comparePage struct {
	Chosen  []int64
	Columns []*report.Summary
	Rows    []compareRow
	Curves  report.Figure
	Winners report.Figure
	// Differ are the parameters whose values differ between the winners.
	Differ []compareRow
	// Warnings say what must not be concluded.
	Warnings []string
}

type compareRow struct {
	What  string
	Cells []string
}

func (s *Server) compare(r *http.Request) (page, error) {
	store, err := s.library.open(r.Context())
	if err != nil {
		return page{}, err
	}
	var data comparePage
	for _, text := range r.URL.Query()["study"] {
		id, err := studyNumber(text)
		if err != nil {
			return page{}, err
		}
		if !slices.Contains(data.Chosen, id) {
			data.Chosen = append(data.Chosen, id)
		}
	}
	if len(data.Chosen) > mostCompared {
		return page{}, badRequest("at most %d studies are compared at once", mostCompared)
	}
	var curves []report.Curve
	for _, id := range data.Chosen {
		known, err := s.library.known(r.Context(), store, id)
		if err != nil {
			return page{}, err
		}
		summary := known.summary
		data.Columns = append(data.Columns, summary)
		curves = append(curves,
			report.Curve{
				Name:    fmt.Sprintf("study %d", id),
				Drawing: report.NewDrawing(summary.Study, summary.Trials(), trialLink(id)),
			})
	}
	if len(data.Columns) > 1 {
		data.Curves = report.CompareSearches(curves)
		data.fill()
	}
	return page{Title: "Compare studies", Template: "compare", Data: data, Notices: store.Notices}, nil
}

func (d *comparePage) fill() {
	row := func(what string, cell func(*report.Summary) string) {
		r := compareRow{What: what, Cells: collect.Each(d.Columns, cell)}
		if strings.Join(r.Cells, "") != "" {
			d.Rows = append(d.Rows, r)
		}
	}
	row("kernel and workload", func(s *report.Summary) string { return s.Study.Kernel + ", " + s.Study.Workload })
	row("verdict", (*report.Summary).Standing)
	row("speedup over the default", func(s *report.Summary) string {
		if s.Evidence == nil {
			return pages.Unknown
		}
		return fmt.Sprintf("%.2f× (%s)", s.Evidence.Speedup, pages.RatioInterval(s.Evidence.Interval))
	})
	row("default", func(s *report.Summary) string { return timedText(s, s.Default) })
	row("winner", func(s *report.Summary) string { return timedText(s, s.Winner) })
	row("device", func(s *report.Summary) string { return s.Study.Environment.Device })
	row("when", func(s *report.Summary) string { return s.Study.Created.UTC().Format("2006-01-02 15:04 MST") })
	row("sampler", func(s *report.Summary) string { return s.Study.Sampler })
	row("compiler", func(s *report.Summary) string { return s.Study.Environment.Compiler })
	row("driver", func(s *report.Summary) string { return s.Study.Environment.Driver })
	row("sources", func(s *report.Summary) string { return s.Study.Source })
	row("trials", func(s *report.Summary) string {
		return fmt.Sprintf("%d, %d failed, in %s", s.Search.Asked, s.Search.Failed, pages.Seconds(s.Search.Seconds))
	})
	var winners []report.Measured
	for _, s := range d.Columns {
		if s.Winner != nil {
			winners = append(winners,
				report.Measured{
					Measure:      s.Study.Environment.Objective,
					Name:         fmt.Sprintf("study %d", s.Study.ID),
					Milliseconds: s.Winner.Milliseconds,
					Interval:     s.Winner.Interval,
					Title:        s.Winner.Point.String(),
					Href:         studyAddress(s.Study.ID),
					Best:         true,
				})
		}
	}
	d.Winners = report.Whiskers("The winners",
		"The median over rounds and its 95 % interval, each as it was measured on its day.", winners)
	d.differ()
	d.warn()
}

func timedText(s *report.Summary, t *report.Timed) string {
	if t == nil {
		return pages.Unknown
	}
	return fmt.Sprintf("%s (%s)", s.Written(t.Milliseconds), s.WrittenInterval(t.Interval))
}

func (d *comparePage) differ() {
	var names []string
	for _, s := range d.Columns {
		names = append(names, collect.Each(s.Study.Space.Params, func(p studies.ParamFacts) string { return p.Name })...)
	}
	for _, name := range collect.Distinct(names) {
		r := compareRow{What: name}
		for _, s := range d.Columns {
			cell, best := pages.Unknown, s.Winner
			if best == nil && len(s.Top) > 0 {
				best = &s.Top[0]
			}
			if best != nil {
				if value, found := best.Point.Get(name); found {
					cell = value.String()
				}
			}
			r.Cells = append(r.Cells, cell)
		}
		if len(collect.Distinct(r.Cells)) > 1 {
			d.Differ = append(d.Differ, r)
		}
	}
}

func (d *comparePage) warn() {
	differs := func(of func(studies.Study) string) bool {
		return slices.ContainsFunc(d.Columns, func(s *report.Summary) bool { return of(s.Study) != of(d.Columns[0].Study) })
	}
	switch {
	case differs(func(s studies.Study) string { return s.Kernel + "\x00" + s.Workload + "\x00" + s.Dims }):
		d.Warnings = append(d.Warnings,
			"These studies are of different kernels or workloads: their times say nothing about each other.")
	case differs(func(s studies.Study) string { return s.Source }):
		d.Warnings = append(d.Warnings, "The sources were not the same.")
	}
	if differs(func(s studies.Study) string { return s.Environment.Device }) {
		d.Warnings = append(d.Warnings, "The devices were not the same.")
	}
	d.Warnings = append(d.Warnings,
		"Times of different studies were not measured together. For a decision, measure together: pawl gate compares them, "+
			"interleaved.")
}
