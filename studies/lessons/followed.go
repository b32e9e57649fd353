package lessons

import (
	"fmt"
	"slices"

	"pawl/internal/page"
	"pawl/objective/explain"
	"pawl/search"
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
	// Try is what the advice says, Lost the share of the default's time that it is about; nil where nobody
	// knows.
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
	advice := explain.Advise(facts)
	for _, a := range advice[:min(len(advice), mostAdvice)] {
		f := Followed{Advice: a.Name, Try: a.Try, Lost: a.Lost}
		fastest := 0.0
		eachFacts(pasts, len(facts.Metrics) > 0, func(t search.Trial, other explain.Facts) {
			left, known := 0.0, true
			for _, also := range explain.Advise(other) {
				if also.Name == a.Name {
					if known = also.Lost != nil; known {
						left = *also.Lost
					}
				}
			}
			ms := t.Outcome.Milliseconds()
			if !known || a.Lost != nil && left > (1-lessFrom)**a.Lost || fastest > 0 && ms >= fastest {
				return
			}
			point := t.Point
			fastest, f.At, f.Left, f.Speedup = ms, &point, left, base.Outcome.Milliseconds()/ms
		})
		list = append(list, f)
	}
	return list
}

// defaultTrial returns the newest trial of the default that passed, one that was profiled if there is
// any.
func defaultTrial(pasts []Past) (in Past, trial search.Trial, found bool) {
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

// eachFacts calls do with what is known about each trial that passed, of those that were profiled or
// of those that the compiler described.
func eachFacts(pasts []Past, profiled bool, do func(search.Trial, explain.Facts)) {
	for _, p := range pasts {
		for _, t := range p.Trials {
			if !t.OK() {
				continue
			}
			if f := p.facts(t); profiled && len(f.Metrics) > 0 || !profiled && f.Resources != nil {
				do(t, f)
			}
		}
	}
}
