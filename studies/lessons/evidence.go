package lessons

import (
	"fmt"
	"math"
	"slices"

	"pawl/objective"
	"pawl/objective/explain"
	"pawl/search"
)

// mostEvidence is how much of it stands with one piece of advice.
const mostEvidence = 3

// figures are what the compiler says about every trial that an advice is about; the lower, the
// better.
var figures = map[string]struct {
	what   string // what a lower figure means
	figure func(*objective.Resources) (float64, bool)
}{
	"spills": {"lowered spills", func(r *objective.Resources) (float64, bool) {
		return float64(1 + r.SpillStores + r.SpillLoads), true // 1, so that none of it can be compared
	}},
	"too few warps": {"made room for more warps", func(r *objective.Resources) (float64, bool) {
		if r.Occupancy == nil || r.Occupancy.Warps == 0 {
			return 0, false
		}
		return 1 / float64(r.Occupancy.Warps), true
	}},
	"tail": {"shortened the tail", func(r *objective.Resources) (float64, bool) {
		if r.Occupancy == nil || r.Occupancy.Waves == 0 {
			return 0, false
		}
		return math.Ceil(r.Occupancy.Waves) / r.Occupancy.Waves, true
	}},
}

// Support adds to advice which parameters the trials have seen to move what it is about: by the
// counters of those that were profiled, and by what the compiler says of all.
func Support(pasts []Past, advice []explain.Advice) {
	losses := lossesOf(pasts)
	for i := range advice {
		name := advice[i].Name
		var lines []string
		for _, m := range Moves(pasts, losses.of(name)) {
			if m.agrees(1) {
				lines = append(lines, fmt.Sprintf("%s %s → %s lowered this loss in %d of %d pairs of profiled trials", m.Param, m.From, m.To, m.Better, m.Pairs))
			}
		}
		if about, known := figures[name]; known {
			for _, m := range Moves(pasts, compiled(about.figure)) {
				if m.agrees(2) {
					lines = append(lines, fmt.Sprintf("%s %s → %s %s in %d of %d pairs of the study's trials", m.Param, m.From, m.To, about.what, m.Better, m.Pairs))
				}
			}
		}
		advice[i].Evidence = lines[:min(len(lines), mostEvidence)]
	}
}

func compiled(figure func(*objective.Resources) (float64, bool)) func(Past, search.Trial) (float64, bool) {
	return func(_ Past, t search.Trial) (float64, bool) {
		if t.Outcome.Resources == nil {
			return 0, false
		}
		return figure(t.Outcome.Resources)
	}
}

// losses are the shares of their time that rules say are lost by the counters of trials, by study,
// number of the trial and rule.
type losses map[int64]map[int]map[string]float64

// noLoss is what a loss is at least: a hundredth of the time is none, and can be compared.
const noLoss = 0.01

func lossesOf(pasts []Past) losses {
	all := losses{}
	for _, p := range pasts {
		all[p.Study.ID] = map[int]map[string]float64{}
		for _, t := range p.Trials {
			if !t.OK() {
				continue
			}
			f := p.facts(t)
			if len(f.Metrics) == 0 {
				continue
			}
			lost := map[string]float64{}
			for _, a := range explain.Advise(f) {
				if a.Lost != nil {
					lost[a.Name] = *a.Lost
				}
			}
			all[p.Study.ID][t.Number] = lost
		}
	}
	return all
}

// of is a figure of profiled trials: what a rule says is lost.
func (l losses) of(rule string) func(Past, search.Trial) (float64, bool) {
	return func(p Past, t search.Trial) (float64, bool) {
		lost, profiled := l[p.Study.ID][t.Number]
		return max(noLoss, lost[rule]), profiled
	}
}

// facts are what is known about a trial that passed: what the compiler said, its time, and the counters of the
// last profile of the same machine code.
func (p Past) facts(t search.Trial) explain.Facts {
	f := explain.Facts{Resources: t.Outcome.Resources, Milliseconds: t.Outcome.Milliseconds(), Flops: p.Study.Work.Flops, Bytes: p.Study.Work.Bytes}
	for _, profile := range slices.Backward(p.Profiles) {
		if profile.Point == t.Point && profile.Binary == t.Outcome.Binary {
			f.Metrics = profile.Metrics
			break
		}
	}
	return f
}
