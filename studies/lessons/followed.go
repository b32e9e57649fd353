package lessons

import (
	"fmt"
	"slices"

	"pawl/internal/page"
	"pawl/objective/profile"
	"pawl/search/trial"
	"pawl/space"
)

// mostAdvice is how much of the default's advice is followed up, lessFrom the share of a loss that
// must be gone for the advice to count as followed.
const (
	mostAdvice = 3
	lessFrom   = 0.1
)

// Followed is advice that the default gives, and what came of it.
type Followed struct {
	Advice string `json:"advice"`
	// Try is what the advice says, Lost the share of the default's time that it is about; nil where nobody knows.
	Try  string   `json:"try"`
	Lost *float64 `json:"lost,omitempty"`
	// At is the fastest trial that loses less to it, Left what that one loses, and Speedup the default's
	// time over its own. At is nil where no trial does.
	At      *space.Point `json:"at,omitempty"`
	Left    float64      `json:"left,omitempty"`
	Speedup float64      `json:"speedup,omitempty"`
}

// Text says it in words.
func (f Followed) Text() string {
	text := f.Advice + " at the default"
	if f.Lost != nil {
		text = fmt.Sprintf("%s: %s of the time at the default", f.Advice, page.WholePercent(*f.Lost))
	}
	if f.At == nil {
		return text + ", and no trial has less"
	}
	speed := fmt.Sprintf("%s times as fast", page.Figure(f.Speedup))
	if f.Speedup < 1 {
		speed = fmt.Sprintf("%s times as slow", page.Figure(1/f.Speedup))
	}
	if f.Left == 0 {
		return fmt.Sprintf("%s, gone at %s, which is %s", text, *f.At, speed)
	}
	return fmt.Sprintf("%s, %s at %s, which is %s", text, page.WholePercent(f.Left), *f.At, speed)
}

// followed returns the advice for the default, by counters where it was profiled and by what the
// compiler said where not, with the fastest trial that was looked at in the same way and loses less.
func followed(pasts []Past) (list []Followed) {
	p, base, ok := defaultTrial(pasts)
	if !ok {
		return nil
	}
	facts := p.facts(base)
	advice := profile.Advise(facts)
	for _, a := range advice[:min(len(advice), mostAdvice)] {
		list = append(list, Followed{Advice: a.Name, Try: a.Try, Lost: a.Lost})
	}
	fastest := make([]float64, len(list))
	for _, p := range pasts {
		for _, t := range p.Trials {
			if !t.OK() {
				continue
			}
			other := p.facts(t)
			if alike := len(facts.Metrics) > 0 && len(other.Metrics) > 0 ||
				len(facts.Metrics) == 0 && other.Resources != nil; !alike {
				continue
			}
			ms, advice := t.Outcome.Milliseconds(), profile.Advise(other)
			for i := range list {
				f := &list[i]
				left, known := lossOf(advice, f.Advice)
				if known && (f.Lost == nil || left <= (1-lessFrom)**f.Lost) && (fastest[i] == 0 || ms < fastest[i]) {
					point := t.Point
					fastest[i], f.At, f.Left, f.Speedup = ms, &point, left, base.Outcome.Milliseconds()/ms
				}
			}
		}
	}
	return list
}

// lossOf is what advice says is lost to something: nothing where it is not mentioned. It is not ok where nobody knows.
func lossOf(advice []profile.Advice, name string) (lost float64, ok bool) {
	for _, a := range advice {
		if a.Name == name && a.Lost == nil {
			return 0, false
		} else if a.Name == name {
			return *a.Lost, true
		}
	}
	return 0, true
}

// defaultTrial returns the newest trial of the default that passed, one that was profiled if there is any.
func defaultTrial(pasts []Past) (in Past, trial trial.Trial, found bool) {
	for _, p := range pasts {
		for _, t := range p.Trials {
			if !t.OK() || !p.isDefault(t.Point) {
				continue
			}
			if profiled := len(p.facts(t).Metrics) > 0; !found || profiled {
				in, trial, found = p, t, true
				if profiled {
					return in, trial, true
				}
			}
		}
	}
	return in, trial, found
}

func (p Past) isDefault(point space.Point) bool {
	return len(p.Study.Space.Params) > 0 && !slices.ContainsFunc(point.Assignments(), func(a space.Assignment) bool {
		for _, param := range p.Study.Space.Params {
			if param.Name == a.Name {
				return param.Default != a.Value.String()
			}
		}
		return true
	})
}
