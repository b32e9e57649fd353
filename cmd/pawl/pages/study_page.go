package pages

import (
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strconv"

	"pawl/studies"
	"pawl/studies/report"
)

func studyAddress(id int64) string { return fmt.Sprintf("/studies/%d", id) }

func trialLink(id int64) func(int) string {
	return func(number int) string { return fmt.Sprintf("/studies/%d/trials/%d", id, number) }
}

func studyNumber(text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return 0, badRequest("%q is not the number of a study", text)
	}
	return id, nil
}

// opened is what the pages of a study begin with: the database, and the study that the address names.
func (s *Server) opened(r *http.Request) (*studies.Store, int64, error) {
	id, err := studyNumber(r.PathValue("study"))
	if err != nil {
		return nil, 0, err
	}
	store, err := s.library.open(r.Context())
	return store, id, err
}

// all is what the lists begin with: the database, and all studies.
func (s *Server) all(r *http.Request) (*studies.Store, []studies.Study, error) {
	store, err := s.library.open(r.Context())
	if err != nil {
		return nil, nil, err
	}
	all, err := store.List(r.Context())
	return store, all, err
}

type studyPage struct {
	ID      int64
	Heading string
	Running bool
	// Interrupted says that nobody runs it, and it has not ended; Resume is the command that resumes it.
	Interrupted bool
	Resume      string
	Live        template.HTML
	Body        template.HTML
	Trials      int
	// Others are the studies of the same kernel, workload and device, newest first.
	Others []studies.Study
}

func (s *Server) study(r *http.Request) (page, error) {
	ctx := r.Context()
	store, id, err := s.opened(r)
	if err != nil {
		return page{}, err
	}
	found, err := s.library.known(ctx, store, id)
	if err != nil {
		return page{}, err
	}
	summary := found.summary
	data, state := studyPage{ID: id, Trials: summary.Search.Asked, Body: found.body}, summary.Standing()
	if data.Running, err = store.Running(id); err != nil {
		return page{}, err
	}
	data.Interrupted, data.Resume = !data.Running && summary.Study.Ended == "", summary.Study.Resume()
	if data.Running { // there is no verdict yet
		data.Body, state = "", "running"
		live, _, err := s.update(ctx, id, studies.Pulse{Trials: -1})
		if err != nil {
			return page{}, err
		}
		data.Live = template.HTML(live)
	}
	data.Heading = fmt.Sprintf("Study %d: %s, %s", id, summary.Study.Kernel, summary.Study.Workload)
	all, err := store.List(ctx)
	if err != nil {
		return page{}, err
	}
	data.Others = slices.DeleteFunc(all, func(o studies.Study) bool {
		return o.ID == id || o.Damaged != "" || report.SubjectOf(o) != report.SubjectOf(summary.Study)
	})
	return page{
		Title:    state + " · " + data.Heading,
		Template: "study",
		Data:     data,
		Notices:  store.Notices,
	}, nil
}
