package report

import (
	"pawl/internal/collect"
	"pawl/internal/plot"
	"pawl/objective/profile"
	"pawl/studies"
)

// Why says what the winner's speed comes from, and what could be tried next.
type Why struct {
	// Comparison is of the default with the winner.
	profile.Comparison
	// Next is what the winner could still gain, largest bound first, at most three.
	Next []profile.Advice `json:"next,omitempty"`
	// Command profiles both points; empty where they were profiled, or cannot be.
	Command string `json:"command,omitempty"`

	before, after profile.Facts // of the default and the winner, for pictures
}

const mostNext = 3

// whyFaster compares the default with the winner, by the counters that were recorded and by what
// the compiler says. There is none where nothing is known of either.
func whyFaster(s *Summary, profiles []studies.Profile) *Why {
	if s.Evidence == nil || s.Default == nil || s.Winner == nil || !ranHere(s.Study) {
		return nil
	}
	before, after := factsOf(s, s.Default, profiles), factsOf(s, s.Winner, profiles)
	if before.Resources == nil && before.Metrics == nil {
		return nil
	}
	w := &Why{Comparison: profile.Compare(before, after), before: before, after: after}
	w.Next = profile.Advise(after)
	w.Next = w.Next[:min(len(w.Next), mostNext)]
	if !w.Profiled {
		w.Command = s.Study.Place.Pawl("profile", s.Study.Origin, "--workload", s.Study.Workload, "--compare", "default",
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

// Pictures shows both points beside each other, as far as anything is known of them.
func (w *Why) Pictures() []Figure {
	pictures := profile.Pictures(profile.Shown{Name: "default", Facts: w.before},
		profile.Shown{Name: "winner", Facts: w.after})
	return collect.Each(pictures, func(p plot.Picture) Figure { return Figure{Title: p.Name, Picture: p} })
}
