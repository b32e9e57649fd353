package studycmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"pawl/cmd/pawl/console"
	"pawl/internal/collect"
	"pawl/internal/page"
	"pawl/studies"
	"pawl/studies/report"
)

func (o *options) listStudies(ctx context.Context) error {
	store, err := o.OpenStudies(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	all, err := readLines(ctx, store)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return console.NoStudies(store)
	}
	for _, one := range all {
		if one.Damaged != "" {
			o.Notice(one.Damaged)
		}
	}
	return o.Show("pawl studies list", 1, page.List("studies", all), func(w io.Writer) {
		page.Table(w, lineHeader, collect.Each(all, line.row))
	})
}

// line is a study in a list of all: what it was, and what came of it.
type line struct {
	studies.Study
	// Running says that a process runs it now.
	Running bool     `json:"running,omitempty"`
	Trials  int      `json:"trials"`
	Best    *float64 `json:"best_milliseconds,omitempty"`
	// Verdict and what follows are nothing of a study that is damaged. Confirmed is the
	// winner's time, Speedup over the default with its interval; nil where there is none.
	Verdict   report.Verdict `json:"verdict,omitempty"`
	Confirmed *float64       `json:"confirmed_milliseconds,omitempty"`
	Speedup   *float64       `json:"speedup,omitempty"`
	Interval  any            `json:"speedup_interval,omitempty"`
}

// readLines returns all studies, newest first. What is not kept of them is made, as many at once as there are cores: a
// verdict takes a bootstrap. One that is damaged says so in its line.
func readLines(ctx context.Context, store *studies.Store) ([]line, error) {
	all, err := store.List(ctx)
	if err != nil {
		return nil, err
	}
	kept, err := report.Lines(ctx, store)
	if err != nil {
		return nil, err
	}
	lines := make([]line, len(all))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.NumCPU())
	for i, study := range all {
		if lines[i].Study = study; study.Damaged != "" {
			continue
		}
		group.Go(func() error { return lines[i].read(ctx, store, kept[study.ID]) })
	}
	return lines, group.Wait()
}

// read fills in what came of the study, from what is kept of it if that is known.
func (l *line) read(ctx context.Context, store *studies.Store, kept report.Line) (err error) {
	if !kept.Known {
		kept, err = report.ReadLine(ctx, store, l.ID)
	}
	if errors.As(err, new(*studies.DamagedError)) {
		*l = line{Study: studies.Study{ID: l.ID, Reading: studies.Reading{Damaged: err.Error()}}}
		return nil
	}
	if err != nil {
		return err
	}
	l.Trials, l.Best, l.Verdict = kept.Trials, kept.Best, kept.Verdict
	l.Confirmed, l.Speedup = kept.Milliseconds, kept.Speedup
	if kept.Interval != nil {
		l.Interval = kept.Interval
	}
	l.Running, err = store.Running(l.ID)
	return err
}

var lineHeader = []string{"study", "created", "kernel", "workload", "sampler", "trials", "best", "confirmed",
	"speedup", "verdict", "time", "ended"}

func (l line) row() []string {
	if l.Damaged != "" {
		return []string{fmt.Sprint(l.ID), "?", "?", "?", "?", "?", "?", "?", "?", "?", "?", "damaged"}
	}
	milliseconds := func(ms *float64) string {
		if ms == nil {
			return page.Unknown
		}
		return l.Environment.Objective.Text(*ms)
	}
	speedup, ended := page.Unknown, string(l.Ended)
	if l.Speedup != nil {
		speedup = fmt.Sprintf("%.2f×", *l.Speedup)
	}
	switch {
	case l.Running:
		ended = "running"
	case ended == "":
		ended = "interrupted"
	}
	return []string{
		fmt.Sprint(l.ID), l.Created.Local().Format("2006-01-02 15:04"), l.Kernel, l.Workload, l.Sampler, fmt.Sprint(l.Trials),
		milliseconds(l.Best), milliseconds(l.Confirmed), speedup, string(l.Verdict), l.Elapsed.Round(time.Second).String(),
		ended,
	}
}
