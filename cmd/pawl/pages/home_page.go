package pages

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/singleflight"

	"pawl/internal/collect"
	"pawl/internal/plot"
	"pawl/studies"
	"pawl/studies/report"
)

type homeRow struct {
	Head    studies.Study
	Address string
	// Known says that Entry is there; otherwise it is being read.
	Known   bool
	Entry   report.Entry
	Running bool
	Studies int
	Compare string
	Trend   template.HTML
	// ToDo is what to do about it, empty for nothing, and Command the command that it ends with, which is not in it.
	ToDo, Command string
}

type homePage struct {
	Rows     []homeRow
	Studies  int
	Reading  int
	Database string
	Place    studies.Place
	Damaged  []studies.Study
}

func (s *Server) home(r *http.Request) (page, error) {
	store, all, err := s.all(r)
	if err != nil {
		return page{}, err
	}
	lines, err := s.lines(r.Context(), store, all)
	if err != nil {
		return page{}, err
	}
	markDamaged(all, lines)
	data := homePage{Studies: len(all), Database: store.Path(), Place: store.Place}
	rows, front := map[report.Subject]*homeRow{}, report.FrontStudies(all)
	trends := map[report.Subject][]float64{} // newest first, as the list is
	var order []report.Subject
	for _, study := range all {
		if study.Damaged != "" {
			data.Damaged = append(data.Damaged, study)
			continue
		}
		key := report.SubjectOf(study)
		made, known := lines[study.ID]
		row := rows[key]
		if row == nil {
			running, err := store.Running(study.ID)
			if err != nil {
				return page{}, err
			}
			head := study
			if !running {
				head = front[key]
			}
			line, read := lines[head.ID]
			row = &homeRow{Head: head, Address: studyAddress(head.ID), Known: read, Entry: line.Entry, Running: running,
				Compare: "/compare?"}
			rows[key], order = row, append(order, key)
		}
		if row.Studies++; row.Studies <= 4 {
			row.Compare += url.Values{"study": {fmt.Sprint(study.ID)}}.Encode() + "&"
		}
		if !known {
			data.Reading++
		} else if made.Milliseconds != nil {
			trends[key] = append(trends[key], *made.Milliseconds)
		}
	}
	for _, key := range order {
		row := rows[key]
		times := trends[key]
		slices.Reverse(times)
		row.Trend = plot.Sparkline{Name: fmt.Sprintf("best time over %d studies", len(times)), Values: times}.HTML()
		row.Compare = strings.TrimSuffix(row.Compare, "&")
		if row.Known && !row.Running {
			row.ToDo, row.Command = row.Entry.ToDo()
		}
		data.Rows = append(data.Rows, *row)
	}
	slices.SortStableFunc(data.Rows, func(a, b homeRow) int {
		return cmp.Or(a.rank()-b.rank(),
			slices.Compare([]string{a.Head.Kernel, a.Head.Workload, a.Head.Environment.Device},
				[]string{b.Head.Kernel, b.Head.Workload, b.Head.Environment.Device}))
	})
	return page{Title: "Kernels", Template: "home", Data: data, Notices: store.Notices, Refresh: again(data.Reading)}, nil
}

// rank puts what runs first, then what needs a person.
func (r homeRow) rank() int {
	switch {
	case r.Running:
		return 0
	case r.ToDo+r.Command != "":
		return 1
	}
	return 2
}

// again is when a list refreshes automatically, in seconds: while studies are being read.
func again(reading int) int { return min(2*reading, 2) }

// impatience is how long a list waits for lines that are not read yet.
const impatience = 400 * time.Millisecond

// lines returns what is known about studies. What is not kept in the database is read beside the requests, which
// wait for it a moment: five hundred studies take longer than a person waits.
func (s *Server) lines(ctx context.Context, store *studies.Store, all []studies.Study) (map[int64]report.Line, error) {
	l := s.library
	revision, err := store.Revision(ctx)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	current := revision != "" && revision == l.revision && l.store == store
	l.mu.Unlock()
	if current {
		return l.knownLines(), nil
	}
	kept, err := report.Lines(ctx, store)
	if err != nil {
		return nil, err
	}
	missing := l.takeLines(store, kept, all)
	if len(missing) == 0 {
		l.mu.Lock()
		l.revision = revision
		l.mu.Unlock()
		return l.knownLines(), nil
	}
	select {
	case <-s.read(store, missing):
	case <-time.After(impatience):
	}
	return l.knownLines(), nil
}

// markDamaged notes which studies cannot be read, as their lines say.
func markDamaged(all []studies.Study, lines map[int64]report.Line) {
	for i, study := range all {
		if line := lines[study.ID]; study.Damaged == "" && line.Verdict == report.Damaged {
			all[i] = studies.Study{ID: study.ID, Reading: studies.Reading{Damaged: line.Sentence}}
		}
	}
}

// takeLines takes up what the database keeps, and returns which of some studies have nothing there that is up to date.
func (l *library) takeLines(store *studies.Store, kept map[int64]report.Line, all []studies.Study) (missing []int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.store != store {
		return nil
	}
	for id, line := range kept {
		if line.Known {
			l.lines[id] = line
		}
	}
	for _, study := range all {
		made, found := l.lines[study.ID]
		if study.Damaged == "" && (!found || made.State != kept[study.ID].State) {
			missing = append(missing, study.ID)
		}
	}
	return missing
}

func (l *library) knownLines() map[int64]report.Line {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.lines)
}

// read makes lines, newest first, in one goroutine for all requests.
func (s *Server) read(store *studies.Store, ids []int64) <-chan singleflight.Result {
	l := s.library
	return l.reading.DoChan("", func() (any, error) {
		for _, id := range ids {
			select {
			case <-s.closing:
				return nil, nil
			default:
			}
			made, err := newLine(store, id)
			l.mu.Lock()
			if err == nil && l.store == store {
				l.lines[id] = made
			}
			l.mu.Unlock()
		}
		return nil, nil
	})
}

// newLine reads a study. One that cannot be read says so in its line.
func newLine(store *studies.Store, id int64) (report.Line, error) {
	line, err := report.ReadLine(context.Background(), store, id)
	if errors.Is(err, studies.ErrNoStudy) {
		return line, err
	}
	if err != nil {
		line.Entry = report.Entry{Study: id, Verdict: report.Damaged, Sentence: sentence(err), Action: "tune again"}
	}
	return line, nil
}

type studiesPage struct {
	Rows            []homeRow
	Kernels         []string
	Kernel          string
	Found, Unlisted int
	Reading         int
}

const mostListed = 500

func (s *Server) studies(r *http.Request) (page, error) {
	store, all, err := s.all(r)
	if err != nil {
		return page{}, err
	}
	data := studiesPage{Kernel: r.URL.Query().Get("kernel")}
	whole := collect.Where(all, func(o studies.Study) bool { return o.Damaged == "" })
	data.Kernels = collect.Distinct(collect.Each(whole, func(o studies.Study) string { return o.Kernel }))
	slices.Sort(data.Kernels)
	if data.Kernel != "" {
		if !slices.Contains(data.Kernels, data.Kernel) {
			return page{}, badRequest("no study is of a kernel %q; there are studies of %s", data.Kernel,
				strings.Join(data.Kernels, ", "))
		}
		all = slices.DeleteFunc(all, func(o studies.Study) bool { return o.Kernel != data.Kernel })
	}
	data.Found = len(all)
	all = all[:min(len(all), mostListed)]
	data.Unlisted = data.Found - len(all)
	lines, err := s.lines(r.Context(), store, all)
	if err != nil {
		return page{}, err
	}
	markDamaged(all, lines)
	for _, study := range all {
		made, known := lines[study.ID]
		row := homeRow{Head: study, Address: studyAddress(study.ID), Known: known, Entry: made.Entry}
		if study.Damaged == "" {
			if row.Running, err = store.Running(study.ID); err != nil {
				return page{}, err
			}
			if !known {
				data.Reading++
			}
		}
		data.Rows = append(data.Rows, row)
	}
	return page{Title: "Studies", Template: "studies", Data: data, Notices: store.Notices, Refresh: again(data.Reading)},
		nil
}
