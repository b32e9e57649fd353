package lessons

import (
	"cmp"
	"fmt"
	"slices"

	"pawl/space"
)

// mostFailures is how many kinds are shown.
const mostFailures = 5

func moved(p space.Point, a space.Assignment, text string) (space.Point, bool) {
	if a.Value.String() == text {
		return p, false
	}
	parsed, err := space.ParsePoint(a.Name + "=" + text)
	if err != nil {
		return p, false
	}
	value, _ := parsed.Get(a.Name)
	next, err := p.With(a.Name, value)
	return next, err == nil
}

// failures counts what failed, and finds the value that most of it goes with.
func failures(pasts []Past) []Failure {
	var found []Failure
	tried := map[string]int{}
	with := map[string]map[string]int{} // reason, assignment
	for _, p := range pasts {
		for _, t := range p.Trials {
			if !t.Finished {
				continue
			}
			reason := ""
			if f := t.Outcome.Failure; f != nil {
				reason = f.Reason
				i := slices.IndexFunc(found, func(x Failure) bool { return x.Reason == reason })
				if i < 0 {
					found, i = append(found, Failure{Reason: reason, Detail: f.Detail}), len(found)
					with[reason] = map[string]int{}
				}
				found[i].Count++
			}
			for _, a := range t.Point.Assignments() {
				text := a.Name + "=" + a.Value.String()
				tried[text]++
				if reason != "" {
					with[reason][text]++
				}
			}
		}
	}
	for i := range found {
		f := &found[i]
		total := 0
		for _, p := range pasts {
			total += len(p.Trials)
		}
		best := 1.5 * float64(f.Count) / float64(total) // what stands out is half as often again
		for text, failed := range with[f.Reason] {
			rate := float64(failed) / float64(tried[text])
			if failed >= 2 && (rate > best || rate == best && text < f.With) {
				best, f.With, f.Failed, f.Tried = rate, text, failed, tried[text]
			}
		}
	}
	slices.SortStableFunc(found, func(a, b Failure) int { return cmp.Compare(b.Count, a.Count) })
	return found[:min(len(found), mostFailures)]
}

func next(l Lesson, pasts []Past) (sentences []string) {
	tried := map[space.Point]bool{}
	for _, p := range pasts {
		for _, t := range p.Trials {
			tried[t.Point] = true
		}
	}
	// The best point with each of the changes that helped others, where nobody has tried that.
	if l.Milliseconds > 0 {
		for _, m := range l.Moves {
			value, there := l.Best.Get(m.Param)
			if !there || value.String() != m.From {
				continue
			}
			if point, ok := moved(l.Best, space.Assignment{Name: m.Param, Value: value}, m.To); ok && !tried[point] {
				sentences = append(sentences,
					fmt.Sprintf("%s: the best point with %s=%s, which helped others in %d of %d pairs", point, m.Param, m.To,
						m.Better, m.Pairs))
			}
		}
	}
	sentences = sentences[:min(len(sentences), 3)]
	for _, f := range l.Followed {
		if f.At == nil {
			sentences = append(sentences, fmt.Sprintf("against %s, which no trial has lowered: %s", f.Advice, f.Try))
		}
	}
	for _, values := range l.Untried {
		sentences = append(sentences, "values that nobody has tried: "+values)
	}
	for _, f := range l.Failures {
		if f.With != "" && f.Failed == f.Tried && f.Tried >= 3 {
			sentences = append(sentences,
				fmt.Sprintf("no %s: all %d trials failed (%s); a constraint in the manifest saves them", f.With, f.Tried, f.Reason))
		}
	}
	if len(l.Dead) > 0 {
		sentences = append(sentences, fmt.Sprintf("without %v: they never changed the machine code", l.Dead))
	}
	return sentences
}
