package report

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"pawl/internal/page"
	"pawl/internal/stats"
	"pawl/search/trial"
	"pawl/studies"
)

// Line is a study in a list of all: what it was, and what came of it.
type Line struct {
	studies.Study
	// Running says that a process runs it now.
	Running bool     `json:"running,omitempty"`
	Trials  int      `json:"trials"`
	Best    *float64 `json:"best_milliseconds,omitempty"`
	// Verdict and what follows are nothing of a study that is damaged. Confirmed is the
	// winner's time, Speedup over the default with its interval; nil where there is none.
	Verdict   Verdict         `json:"verdict,omitempty"`
	Confirmed *float64        `json:"confirmed_milliseconds,omitempty"`
	Speedup   *float64        `json:"speedup,omitempty"`
	Interval  *stats.Interval `json:"speedup_interval,omitempty"`
}

// ReadEntry reads a study for a list: what came of it, and what to do about it.
func ReadEntry(ctx context.Context, store *studies.Store, id int64) (Entry, error) {
	summary, err := read(ctx, store, id, true)
	if err != nil {
		return Entry{}, err
	}
	return newEntry(summary, ""), nil
}

// Lines reads all studies, newest first, as many at once as there are cores: a verdict takes
// a bootstrap.
func Lines(ctx context.Context, store *studies.Store) ([]Line, error) {
	all, err := store.List(ctx)
	if err != nil {
		return nil, err
	}
	lines := make([]Line, len(all))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.NumCPU())
	for i, study := range all {
		if lines[i].Study = study; study.Damaged != "" {
			continue
		}
		group.Go(func() error {
			summary, err := read(ctx, store, study.ID, true)
			if err != nil {
				return err
			}
			l := &lines[i]
			if l.Running, err = store.Running(study.ID); err != nil {
				return err
			}
			l.Trials, l.Verdict = summary.Search.Asked, summary.Advice.Verdict
			if ranked := trial.Ranking(summary.trials); len(ranked) > 0 {
				best := ranked[0].Outcome.Milliseconds()
				l.Best = &best
			}
			if summary.Winner != nil {
				l.Confirmed = &summary.Winner.Milliseconds
			}
			if summary.Evidence != nil {
				l.Speedup, l.Interval = &summary.Evidence.Speedup, &summary.Evidence.Interval
			}
			return nil
		})
	}
	return lines, group.Wait()
}

// LineHeader are the columns of a line.
var LineHeader = []string{"study", "created", "kernel", "workload", "sampler", "trials", "best", "confirmed",
	"speedup", "verdict", "time", "ended"}

// Row are a line's cells for a terminal.
func (l Line) Row() []string {
	if l.Damaged != "" {
		return []string{fmt.Sprint(l.ID), "?", "?", "?", "?", "?", "?", "?", "?", "?", "?", "damaged"}
	}
	milliseconds := func(ms *float64) string {
		if ms == nil {
			return page.Unknown
		}
		return l.Environment.Measure.Text(*ms)
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
