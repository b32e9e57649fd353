package console

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"pawl/internal/collect"
	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/objective"
	"pawl/search"
	"pawl/search/trial"
	"pawl/space"
	"pawl/studies"
)

// The rules of the display: it writes to standard error only. On a terminal it
// is a bar and a few lines that change in place; anywhere else it is one plain
// line per event, without color, so that a log reads well. A line about a
// trial is printed after the trial is recorded, never before.
//
// It holds no lock. The bars are drawn by goroutines of their own, which call back
// for their texts: whoever waits for them while holding what the texts need waits
// for ever.

// Display shows running studies, one after the other. Write may be called at any time; the other methods
// by one goroutine at a time.
type Display struct {
	w io.Writer
	// Begun is called where a study begins; nil for nobody.
	Begun func()
	phase trial.Phase // the last one announced in plain lines
	// measure is what points are compared by.
	measure *page.Objective
	// initial is the default: a line names only what differs from it.
	initial space.Point
	bar     *mpb.Bar
	// last is what the bars show, progress what draws them: nil while there are none.
	last     atomic.Pointer[search.Progress]
	progress atomic.Pointer[mpb.Progress]
}

func NewDisplay(w io.Writer) *Display { return &Display{w: w} }

// Write passes messages on without tearing the bar.
func (d *Display) Write(p []byte) (int, error) {
	if progress := d.progress.Load(); progress != nil {
		if n, err := progress.Write(p); !errors.Is(err, mpb.ErrDone) {
			return n, err
		}
	}
	return d.w.Write(p)
}

func (d *Display) Begin(study studies.Study, past trial.Past, pool *space.Pool) {
	if d.Begun != nil {
		d.Begun()
	}
	d.measure, d.phase, d.bar = study.Environment.Objective, "", nil
	d.initial = pool.Space().Default()
	verb := "study"
	if len(past.Trials) > 0 {
		verb = "resuming study"
	}
	dims := ""
	if study.Dims != "" { // a record may not know them
		dims = " (" + study.Dims + ")"
	}
	fmt.Fprintf(d.w, "%s %d: %s, workload %s%s, %s, sampler %s\non %s with %s\n",
		verb, study.ID, escape.Line(study.Kernel), escape.Line(study.Workload), dims, page.Count(pool.Len(), "point"),
		study.Sampler, escape.Line(study.Environment.Device), escape.Line(study.Environment.Compiler))
	if f := terminal(d.w); f != nil {
		d.startBars(f)
	} else {
		fmt.Fprintln(d.w, "each trial: its time, the best so far (unconfirmed), what differs from the default")
	}
}

func (d *Display) startBars(f *os.File) {
	d.last.Store(&search.Progress{})
	progress := mpb.New(mpb.WithOutput(f), mpb.WithWidth(40), mpb.WithRefreshRate(150*time.Millisecond))
	line := func(text func(search.Progress) string) decor.Decorator {
		return decor.Any(func(decor.Statistics) string { return escape.Line(text(*d.last.Load())) })
	}
	d.bar = progress.New(1000, mpb.BarStyle().Rbound("|").Lbound("|").Filler("█").Tip("█").Padding(" "),
		mpb.PrependDecorators(line(phaseText)), mpb.AppendDecorators(line(leftText)))
	for _, text := range []func(search.Progress) string{d.bestText, d.compilingText, failuresText} {
		progress.New(0, mpb.NopStyle(), mpb.PrependDecorators(line(text)))
	}
	d.progress.Store(progress)
}

func (d *Display) Observe(p search.Progress) {
	if p.Plan != "" {
		fmt.Fprintln(d, p.Plan)
	}
	if d.bar != nil {
		d.last.Store(&p)
		d.bar.SetCurrent(int64(999 * done(p))) // a full bar would be closed, and the next phase needs it
		return
	}
	d.plain(p)
}

// plain prints one line per trial, and one per phase.
func (d *Display) plain(p search.Progress) {
	switch {
	case p.Trial != nil && p.Trial.OK():
		unit, column := d.measure.First().Column(p.Best.Outcome.Milliseconds())
		fmt.Fprintf(d.w, "trial %-4d %9s   best %s%s   %s\n", p.Trial.Number,
			strings.TrimSpace(column(p.Trial.Outcome.Milliseconds())+" "+unit),
			strings.TrimSpace(column(p.Best.Outcome.Milliseconds())+" "+unit), overDefault(p),
			escape.Line(p.Trial.Point.Besides(d.initial)))
	case p.Trial != nil:
		fmt.Fprintf(d.w, "trial %-4d %s   failed: %s\n", p.Trial.Number,
			escape.Line(p.Trial.Point.Besides(d.initial)), oneReason(p.Trial.Outcome.Failure))
	case p.Phase != d.phase:
		d.phase = p.Phase
		if p.Phase != search.SearchPhase {
			fmt.Fprintf(d.w, "%s: up to %d rounds in fresh processes\n", phaseName(p.Phase), p.Rounds)
		}
	}
}

func (d *Display) End() {
	if progress := d.progress.Load(); progress != nil {
		progress.Shutdown()
		d.progress.Store(nil)
		fmt.Fprintln(d.w)
	}
}

// Profiling announces one launch under a profiler.
func (d *Display) Profiling(p space.Point) { fmt.Fprintf(d.w, "profiling one launch of %s\n", p) }

// Across announces another workload.
func (d *Display) Across(w studies.WorkloadFacts) {
	fmt.Fprintf(d.w, "measuring the winner and the default on workload %s (%s)\n", escape.Line(w.Name),
		escape.Line(w.Dims))
}

// reasonColumns is how much of a failure's reason a line about a trial has room for.
const reasonColumns = 100

// oneReason is the first line of what a failure says, cut to what one line has room for. The report has all of it.
func oneReason(f *objective.Failure) string {
	text, _, _ := strings.Cut(f.Detail, "\n")
	text, _, _ = strings.Cut(text, ";")
	text = strings.TrimSuffix(f.Reason+": "+text, ": ")
	return escape.Line(cut(text, reasonColumns))
}

// cut shortens a text to so many letters.
func cut(text string, most int) string {
	if letters := []rune(text); len(letters) > most {
		return strings.TrimSpace(string(letters[:most-1])) + "…"
	}
	return text
}

// done returns how much of a phase is over, between 0 and 1.
func done(p search.Progress) float64 {
	share := 0.0
	switch {
	case p.Phase != search.SearchPhase:
		share = float64(p.Round) / float64(max(p.Rounds, 1))
	case p.Limit > 0:
		share = float64(p.Finished) / float64(p.Limit)
	}
	if p.Budget > 0 && p.Phase == search.SearchPhase {
		share = max(share, p.Elapsed.Seconds()/p.SearchTime.Seconds())
	}
	return min(share, 1)
}

func phaseText(p search.Progress) string {
	switch p.Phase {
	case "":
		return "starting "
	case search.SearchPhase:
		if p.Limit > 0 {
			return fmt.Sprintf("searching: %d of %d trials ", p.Finished, p.Limit)
		}
		return fmt.Sprintf("searching: %d trials ", p.Finished)
	}
	return fmt.Sprintf("%s: %d of %d rounds ", phaseName(p.Phase), p.Round, p.Rounds)
}

func phaseName(phase trial.Phase) string {
	if phase == trial.Confirmation {
		return "confirming the finalists"
	}
	return "measuring what each change is worth"
}

func leftText(p search.Progress) string {
	switch {
	case p.Budget > 0:
		return " at most " + max(p.Budget-p.Elapsed, 0).Round(time.Second).String() + " left"
	case p.Limit > 0 && p.Finished > 0 && p.Phase == search.SearchPhase:
		left := p.Elapsed * time.Duration(p.Limit-p.Finished) / time.Duration(p.Finished)
		return " about " + left.Round(time.Second).String() + " left to search"
	}
	return ""
}

func (d *Display) bestText(p search.Progress) string {
	if p.Best == nil {
		return "best: none yet"
	}
	return fmt.Sprintf("best so far, unconfirmed: %s%s  %s", d.measure.Text(p.Best.Outcome.Milliseconds()), overDefault(p),
		p.Best.Point.Besides(d.initial))
}

// overDefault compares the best trial with the default's, before anything is confirmed;
// it is empty before there are two.
func overDefault(p search.Progress) string {
	if p.Best == nil || p.Default == nil || p.Best.Point == p.Default.Point {
		return ""
	}
	return fmt.Sprintf(" (%.2f×)", p.Default.Outcome.Milliseconds()/p.Best.Outcome.Milliseconds())
}

func (d *Display) compilingText(p search.Progress) string {
	if len(p.Compiling) == 0 {
		return "compiling: nothing"
	}
	text := "compiling: " + p.Compiling[0].Besides(d.initial)
	if more := len(p.Compiling) - 1; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func failuresText(p search.Progress) string {
	if len(p.Failures) == 0 {
		return "failed: none"
	}
	return "failed: " + strings.Join(collect.Each(slices.Sorted(maps.Keys(p.Failures)), func(reason string) string {
		return fmt.Sprintf("%d %s", p.Failures[reason], reason)
	}), ", ")
}
