package pages

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"pawl/internal/collect"
	pages "pawl/internal/page"
	"pawl/internal/plot"
	"pawl/search"
	"pawl/search/trial"
	"pawl/space"
	"pawl/studies"
	"pawl/studies/report"
)

// watched is a study that another process runs, as far as it was read. Only what is new
// is read again, so that an update of ten thousand trials takes no longer than one of ten.
type watched struct {
	viewers int // guarded by the library
	mu      sync.Mutex
	store   *studies.Store
	head    studies.Study
	initial space.Point // the default; the empty one where a study does not say
	pulse   studies.Pulse
	trials  []trial.Trial
	rounds  []trial.Round
	// after counts the rounds that came after the search. Searched says that what was recorded last is one of them:
	// trials that are still pending were abandoned.
	after    int
	searched bool
}

type progress struct {
	Phase string
	// Done is between 0 and 1; Known says that there is an end to compare with.
	Done    float64
	Known   bool
	Elapsed time.Duration
	Budget  time.Duration // 0 for none
	// Best and Speedup are words: the fastest so far with its interval, and how it compares with the default's trial.
	Best, Speedup string
	BestPoint     space.Point
	BestTrial     int
	// Pending are the points that are compiled or measured now.
	Pending  []space.Point
	Finished int
	Failures report.Figure
	Failed   int
	Curve    report.Figure
	Study    int64
}

// refresh reads what is new, and reports whether anything is.
func (w *watched) refresh(ctx context.Context, store *studies.Store, id int64) (bool, error) {
	pulse, err := store.Pulse(ctx, id)
	if err != nil || pulse == w.pulse && store == w.store {
		return false, err
	}
	from := len(w.trials)
	// Trials finish in the order asked. One that was disqualified since makes a failure
	// more than the new ones have, and then all are read.
	for from > 0 && !w.trials[from-1].Finished {
		from--
	}
	if store != w.store {
		from = 0
		if w.head, err = store.Study(ctx, id); err != nil {
			return false, err
		}
		if open, err := w.head.Space.Open(); err == nil {
			w.initial = open.Default()
		}
	}
	fresh, err := store.TrialsFrom(ctx, id, from)
	if err != nil {
		return false, err
	}
	trials := append(slices.Clip(w.trials[:from]), fresh...)
	failed := collect.Where(trials, func(t trial.Trial) bool { return t.Outcome.Failure != nil })
	if len(failed) != pulse.Failed && from > 0 {
		if trials, err = store.TrialsFrom(ctx, id, 0); err != nil {
			return false, err
		}
	}
	before := w.after
	if pulse.Rounds != w.pulse.Rounds {
		if w.rounds, err = store.Rounds(ctx, id); err != nil {
			return false, err
		}
		w.after = len(slices.DeleteFunc(slices.Clone(w.rounds),
			func(r trial.Round) bool { return r.Phase == trial.SecondLook }))
	}
	asked := pulse.Trials > w.pulse.Trials || pulse.Finished > w.pulse.Finished
	w.searched = w.after > before || w.searched && !asked
	w.store, w.pulse, w.trials = store, pulse, trials
	return true, nil
}

func (w *watched) progress() progress {
	p := progress{Study: w.head.ID, Elapsed: time.Duration(w.pulse.Elapsed), Budget: time.Duration(w.head.Options.Budget)}
	reasons := map[string]int{}
	var best, initial *trial.Trial
	fastest := 0.0
	for i, t := range w.trials {
		switch {
		case !t.Finished && w.searched:
			continue
		case !t.Finished:
			p.Pending = append(p.Pending, t.Point)
			continue
		case t.Outcome.Failure != nil:
			reasons[t.Outcome.Failure.Reason]++
			p.Failed++
		default:
			if ms := t.Outcome.Milliseconds(); best == nil || ms < fastest {
				best, fastest = &w.trials[i], ms
			}
		}
		p.Finished++
		p.Elapsed = max(p.Elapsed, t.Elapsed)
		if t.OK() && t.Point == w.initial {
			initial = &w.trials[i]
		}
	}
	if best != nil {
		p.BestPoint, p.BestTrial, p.Best = best.Point, best.Number,
			w.head.Environment.Objective.Samples(best.Outcome.Samples)
		if initial != nil && initial != best {
			p.Speedup = fmt.Sprintf("%.2f× the speed of the default, unconfirmed",
				initial.Outcome.Milliseconds()/best.Outcome.Milliseconds())
		}
	}
	p.phase(w)
	parts := collect.Each(slices.Sorted(maps.Keys(reasons)), func(reason string) report.Part {
		return report.Part{Name: reason, Value: fmt.Sprint(reasons[reason]), Size: float64(reasons[reason])}
	})
	p.Failures = report.Parts("What failed", "", plot.Bad, func(x float64) string { return fmt.Sprintf("%.3g", x) },
		parts)
	p.Curve = report.NewDrawing(w.head, w.trials, trialLink(w.head.ID)).Convergence()
	return p
}

// phase says what is going on, by the rounds so far.
func (p *progress) phase(w *watched) {
	goals := w.head.Options
	last, number := trial.Phase(""), 0
	for _, r := range trial.Latest(w.rounds) {
		if r.Phase == trial.Confirmation && last != trial.Ablation || r.Phase == trial.Ablation {
			if r.Phase != last {
				last, number = r.Phase, 0
			}
			number = max(number, r.Number+1)
		}
	}
	if last != "" && w.searched {
		p.Phase = "confirming the finalists in fresh processes"
		if last == trial.Ablation {
			p.Phase = "measuring what each change is worth"
		}
		if goals.Rounds > 0 {
			number = min(number, goals.Rounds)
			p.Phase += fmt.Sprintf(", %d of %d rounds", number, goals.Rounds)
			p.Known, p.Done = true, float64(number)/float64(goals.Rounds)
		}
		return
	}
	p.Phase = "searching, " + pages.Count(p.Finished, "trial")
	if goals.Trials > 0 {
		p.Phase = fmt.Sprintf("searching, %d of %d trials", p.Finished, goals.Trials)
		p.Known, p.Done = true, float64(p.Finished)/float64(goals.Trials)
	}
	if p.Budget > 0 {
		p.Known, p.Done = true, max(p.Done, p.Elapsed.Seconds()/(search.SearchShare*p.Budget.Seconds()))
	}
	p.Done = min(p.Done, 1)
}

// watch returns a study for a viewer, who calls leave at the end. Nothing of it is kept when nobody is left.
func (s *Server) watch(id int64) (w *watched, leave func()) {
	l := s.library
	l.mu.Lock()
	defer l.mu.Unlock()
	w = l.watched[id]
	if w == nil {
		w = &watched{}
		l.watched[id] = w
	}
	w.viewers++
	return w, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if w.viewers--; w.viewers == 0 && l.watched[id] == w {
			delete(l.watched, id)
		}
	}
}

// update returns the live part of a page, and whether anything changed since a pulse.
func (s *Server) update(ctx context.Context, id int64,
	seen studies.Pulse) (fragment string, pulse studies.Pulse, err error) {
	store, err := s.library.open(ctx)
	if err != nil {
		return "", seen, err
	}
	w, leave := s.watch(id)
	defer leave()
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, err := w.refresh(ctx, store, id); err != nil || w.pulse == seen {
		return "", w.pulse, err
	}
	fragment, err = render("live", w.progress())
	return fragment, w.pulse, err
}

// events tells a page what changes while a study runs, as server-sent events: "update" has
// the live part anew, "ended" says that the whole page is worth a reload, "problem" is a
// sentence.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	id, err := studyNumber(r.PathValue("study"))
	if err != nil {
		http.Error(w, sentence(err), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(w)
	send := func(event, data string) bool {
		data = strings.ReplaceAll(strings.TrimSuffix(data, "\n"), "\n", "\ndata: ")
		_, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, data)
		return err == nil && control.Flush() == nil
	}
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		send("problem", "Too many pages are live at once. Reload this one to see what is new.")
		return
	}
	_, leave := s.watch(id) // what was read stays, from one update to the next
	defer leave()
	tick := time.NewTicker(s.options.Poll)
	defer tick.Stop()
	var seen studies.Pulse
	quiet := 0
	for {
		running, err := s.running(r.Context(), id)
		var fragment string
		if err == nil {
			fragment, seen, err = s.update(r.Context(), id, seen)
		}
		quiet++
		switch {
		case r.Context().Err() != nil:
			return
		case err != nil:
			send("problem", sentence(err))
			return
		case fragment != "":
			if quiet = 0; !send("update", fragment) {
				return
			}
		case quiet > 30: // a proxy closes what says nothing
			if quiet = 0; !send("still", "here") {
				return
			}
		}
		if !running {
			send("ended", "reload")
			return
		}
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		case <-s.closing:
			return
		}
	}
}

func (s *Server) running(ctx context.Context, id int64) (bool, error) {
	store, err := s.library.open(ctx)
	if err != nil {
		return false, err
	}
	return store.Running(id)
}
