package pages

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"pawl/internal/collect"
	pages "pawl/internal/page"
	"pawl/search/trial"
	"pawl/studies"
)

const perPage = 100

type trialsPage struct {
	Study    studies.Study
	Filter   filter
	States   []string
	Orders   []string
	Rows     []trialRow
	Found    int
	From, To int
	Previous string
	Next     string
}

type trialRow struct {
	Time, State string
	Failed      bool
	Samples     int
	trial.Trial
}

type filter struct {
	State, Order string
	Page         int
	// Params are the values asked for, by parameter.
	Params []paramChoice
}

type paramChoice struct {
	studies.ParamFacts
	Chosen string
}

// The states and orders that can be asked for.
var (
	states = []string{"all", "measured", "failed", "unfinished"}
	orders = []string{"fastest first", "as asked"}
)

func readFilter(query url.Values, space studies.SpaceFacts) (f filter, err error) {
	f.State, f.Order, f.Page = cmp.Or(query.Get("state"), states[0]), cmp.Or(query.Get("order"), orders[0]), 1
	if !slices.Contains(states, f.State) {
		return f, badRequest("no trial has the state %q; there are %s", f.State, strings.Join(states, ", "))
	}
	if !slices.Contains(orders, f.Order) {
		return f, badRequest("there is no order %q; there are %s", f.Order, strings.Join(orders, ", "))
	}
	if text := query.Get("page"); text != "" {
		if f.Page, err = strconv.Atoi(text); err != nil || f.Page < 1 {
			return f, badRequest("%q is not the number of a page", text)
		}
	}
	for _, p := range space.Params {
		choice := paramChoice{p, query.Get("p." + p.Name)}
		if choice.Chosen != "" && !slices.Contains(p.Values, choice.Chosen) {
			return f, badRequest("%s has no value %q; it has %s", p.Name, choice.Chosen, strings.Join(p.Values, ", "))
		}
		f.Params = append(f.Params, choice)
	}
	return f, nil
}

func (f filter) keeps(t trial.Trial) bool {
	switch {
	case f.State == "measured" && !t.OK(), f.State == "failed" && t.Outcome.Failure == nil,
		f.State == "unfinished" && t.Finished:
		return false
	}
	for _, p := range f.Params {
		if p.Chosen == "" {
			continue
		}
		if value, found := t.Point.Get(p.Name); !found || value.String() != p.Chosen {
			return false
		}
	}
	return true
}

// sorted returns the trials in the order asked for; what has no time comes last.
func (f filter) sorted(trials []trial.Trial) []trial.Trial {
	if f.Order != orders[0] {
		return trials
	}
	return append(trial.Ranking(trials), collect.Where(trials, func(t trial.Trial) bool { return !t.OK() })...)
}

// query is the address of a page of the same table.
func (f filter) query(page int) string {
	q := url.Values{"state": {f.State}, "order": {f.Order}, "page": {fmt.Sprint(page)}}
	for _, p := range f.Params {
		if p.Chosen != "" {
			q.Set("p."+p.Name, p.Chosen)
		}
	}
	return "?" + q.Encode()
}

func (s *Server) trials(r *http.Request) (page, error) {
	store, id, err := s.opened(r)
	if err != nil {
		return page{}, err
	}
	study, err := store.Study(r.Context(), id)
	if err != nil {
		return page{}, err
	}
	f, err := readFilter(r.URL.Query(), study.Space)
	if err != nil {
		return page{}, err
	}
	all, err := store.TrialsFrom(r.Context(), id, 0)
	if err != nil {
		return page{}, err
	}
	found := f.sorted(slices.DeleteFunc(all, func(t trial.Trial) bool { return !f.keeps(t) }))
	data := trialsPage{Study: study, Filter: f, States: states, Orders: orders, Found: len(found)}
	f.Page = min(f.Page, len(found)/perPage+1)
	first := min((f.Page-1)*perPage, len(found))
	last := min(first+perPage, len(found))
	data.From, data.To = first+1, last
	data.Rows = collect.Each(found[first:last], func(t trial.Trial) trialRow { return newTrialRow(study, t) })
	if f.Page > 1 {
		data.Previous = f.query(f.Page - 1)
	}
	if last < len(found) {
		data.Next = f.query(f.Page + 1)
	}
	return page{Title: fmt.Sprintf("Trials of study %d", id), Template: "trials", Data: data, Notices: store.Notices}, nil
}

func newTrialRow(study studies.Study, t trial.Trial) trialRow {
	row := trialRow{Trial: t, Time: pages.Unknown, Samples: len(t.Outcome.Samples)}
	switch {
	case !t.Finished:
		row.State = "unfinished"
	case t.Outcome.Failure != nil:
		row.State, row.Failed = t.Outcome.Failure.String(), true
	default:
		row.State, row.Time = "measured", study.Environment.Objective.Text(t.Outcome.Milliseconds())
		if t.Outcome.SameAs != "" {
			row.State += ", same machine code as " + t.Outcome.SameAs
		}
	}
	return row
}
