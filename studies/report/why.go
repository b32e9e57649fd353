package report

import (
	"fmt"
	"html/template"

	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/internal/plot"
	"pawl/objective/profile"
	"pawl/search/trial"
	"pawl/studies"
	"pawl/studies/lessons"
)

// Why says what the winner's speed comes from, and what could be tried next.
type Why struct {
	// Comparison is of the default with the winner.
	profile.Comparison
	// Next is what the winner could still gain, largest bound first, at most three.
	Next []profile.Advice `json:"next,omitempty"`
	// StallsBefore and StallsAfter are what warps spend their time at; nil where nobody counted.
	StallsBefore []profile.Stall `json:"stalls_before,omitempty"`
	StallsAfter  []profile.Stall `json:"stalls_after,omitempty"`
	// Command profiles both points; empty where they were profiled, or cannot be.
	Command string `json:"command,omitempty"`
}

// mostNext is how much advice a page has.
const mostNext = 3

// whyFaster compares the default with the winner, by the counters that were recorded and by what
// the compiler says. There is none where nothing is known of either.
func whyFaster(s *Summary, trials []trial.Trial, profiles []studies.Profile) *Why {
	if s.Evidence == nil || s.Default == nil || s.Winner == nil || !ranHere(s.Study) {
		return nil
	}
	before, after := factsOf(s, s.Default, profiles), factsOf(s, s.Winner, profiles)
	if before.Resources == nil && before.Metrics == nil {
		return nil
	}
	w := &Why{Comparison: profile.Compare(before, after), StallsBefore: before.Stalls(), StallsAfter: after.Stalls()}
	w.Next = profile.Advise(after)
	w.Next = w.Next[:min(len(w.Next), mostNext)]
	lessons.Support([]lessons.Past{{Study: s.Study, Trials: trials, Profiles: profiles}}, w.Next)
	if !w.Profiled {
		w.Command = escape.Shell("pawl", "profile", s.Study.Origin, "--workload", s.Study.Workload, "--compare", "default",
			s.Winner.Point.String())
	}
	return w
}

// factsOf is what is known about a point: the last profile of the same machine code counts.
func factsOf(s *Summary, t *Timed, profiles []studies.Profile) profile.Facts {
	f := profile.Facts{
		Resources:    t.Resources,
		Milliseconds: t.time(),
		Flops:        s.workOf(t).Flops,
		Bytes:        s.workOf(t).Bytes,
		Roofline:     s.Study.Roofline,
	}
	for _, p := range profiles {
		if p.Point == t.Point && p.Workload == s.Study.Workload {
			f.Metrics = p.Metrics
		}
	}
	return f
}

func (m *markdown) why(s *Summary) {
	if s.Why == nil {
		return
	}
	w := s.Why
	m.fold("Why")
	m.Paragraph("%s", text(w.Why))
	m.Table([]string{"", "what limits it"}, [][]string{{"default", text(w.Before.Text)}, {"winner", text(w.After.Text)}})
	if rows := w.rows(); len(rows) > 0 {
		m.Table([]string{"from the default to the winner", ""}, rows)
	}
	for i, a := range w.Next {
		if i == 0 {
			m.Paragraph("What could be tried next, at the winner; a gain is a bound, not a promise:")
		}
		m.Line("%d. **%s**: %s. %s %s Gain: %s.", i+1, text(a.Name), text(a.Seen), text(a.Meaning), text(a.Try),
			text(a.Gain()))
		for _, evidence := range a.Evidence {
			m.Line("   - %s", text(evidence))
		}
	}
	if len(w.Next) > 0 {
		m.Line("")
	}
	if w.Command != "" {
		m.Paragraph("Only what the compiler and the clock say is compared: no profiler has looked at both. With Nsight "+
			"Compute (%s asks for it after a search):", code("pawl tune --profile"))
		m.Code("sh", w.Command)
	}
}

func (w *Why) rows() (rows [][]string) {
	for _, c := range w.Changes {
		rows = append(rows, []string{text(c.Name), text(c.Text)})
	}
	return rows
}

// stallBars draws what warps spend their time at, for both points side by side.
func stallBars(w *Why) template.HTML {
	if w == nil || w.StallsBefore == nil || w.StallsAfter == nil {
		return ""
	}
	bars := plot.Bars{
		Name: "what warps spend their time at",
		Text: "For each reason the default's share of the time, and below it the winner's.",
	}
	shares := []float64{0}
	for _, s := range w.StallsBefore[:min(len(w.StallsBefore), 8)] {
		after := profile.StallShare(w.StallsAfter, s.Reason)
		shares = append(shares, s.Share, after)
		bars.Rows = append(bars.Rows,
			plot.Bar{
				Label:  "default: " + s.Meaning,
				Value:  page.WholePercent(s.Share),
				To:     s.Share,
				Colour: plot.Colours[1],
				Title:  s.Reason,
			},
			plot.Bar{
				Label:  "winner: " + s.Meaning,
				Value:  page.WholePercent(after),
				To:     after,
				Colour: plot.Colours[0],
				Title:  s.Reason,
			})
	}
	bars.X = plot.Linear("share of the warps' time", page.WholePercent, shares...)
	return bars.HTML()
}

// roofline draws the study's points against the best that the device can do. All of them do the
// same work, so that they stand above each other at the manifest's flops a byte; where a profiler
// has counted the bytes that were moved, a second dot shows that.
func roofline(s *Summary) template.HTML {
	work, roof := s.Study.Work, s.Study.Roofline
	if s.Study.Environment.Measure != nil || work.Flops <= 0 || work.Bytes <= 0 || roof.Flops <= 0 || roof.Bytes <= 0 ||
		len(s.Curve) == 0 {
		return ""
	}
	intensity, ridge := work.Flops/work.Bytes, roof.Flops/roof.Bytes
	low, high := min(intensity, ridge)/8, max(intensity, ridge)*8
	reach := func(x float64) float64 { return min(roof.Flops, x*roof.Bytes) / 1e9 }
	speed := func(ms float64) float64 { return work.Flops / ms / 1e6 }
	lowest := reach(low)
	series := []plot.Series{{
		Name:   "what the device can do",
		Colour: "currentColor",
		Line:   []plot.XY{{X: low, Y: reach(low)}, {X: ridge, Y: reach(ridge)}, {X: high, Y: reach(high)}},
	}}
	trials := plot.Series{Name: "trials", Colour: plot.Other}
	for _, p := range s.Curve {
		lowest = min(lowest, speed(p.Milliseconds))
		trials.Dots = append(trials.Dots,
			plot.Dot{
				XY:     plot.XY{X: intensity, Y: speed(p.Milliseconds)},
				Colour: plot.Other,
				Radius: 2.5,
				Title:  fmt.Sprintf("trial %d: %s", p.Trial, page.Milliseconds(p.Milliseconds)),
			})
	}
	plain := func(v float64) string { return fmt.Sprintf("%.4g", v) }
	unit, scale := "GFLOP/s", 1.0
	if reach(high) >= 1e4 {
		unit, scale = "TFLOP/s", 1e3
	}
	scaled := func(v float64) string { return plain(v / scale) }
	panel := plot.Panel{X: plot.Log("flop a byte", plain, low, high), Y: plot.Log(unit, scaled, lowest, reach(high))}
	trials.Dots = plot.Thin(trials.Dots, panel.X, panel.Y, 200) // they stand above each other
	series = append(series, trials)
	mark := func(name, colour string, t *Timed, limiter string) {
		if t == nil {
			return
		}
		title := fmt.Sprintf("%s: %s, %s", name, page.Milliseconds(t.Milliseconds), Throughput(t))
		if limiter != "" {
			title += ". " + limiter
		}
		series = append(series,
			plot.Series{
				Name:   name,
				Colour: colour,
				Dots:   []plot.Dot{{XY: plot.XY{X: intensity, Y: speed(t.Milliseconds)}, Colour: colour, Radius: 5, Title: title}},
			})
	}
	var before, after string
	if s.Why != nil {
		before, after = s.Why.Before.Text, s.Why.After.Text
	}
	mark("default", plot.Colours[1], s.Default, before)
	if s.Evidence != nil {
		mark("winner", plot.Colours[0], s.Winner, after)
	}
	panel.Series = series
	return plot.Plot{
		Name:   "the roofline",
		Text:   "The study's points against the speed of memory and arithmetic.",
		Width:  420,
		Height: 240,
		Panels: []plot.Panel{panel},
	}.HTML()
}
