package lessons

import (
	"fmt"
	"math"
	"slices"

	"pawl/objective"
	"pawl/objective/profile"
	"pawl/search/trial"
	"pawl/space"
)

const mostEvidence = 3

// figures are what the compiler says about every trial that an advice is about; the lower, the better.
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
func Support(pasts []Past, advice []profile.Advice) {
	profiled, losses := launches(pasts)
	for i := range advice {
		name := advice[i].Name
		var lines []string
		for _, m := range Moves(profiled, losses.of(name)) {
			if m.agrees(1) {
				lines = append(lines,
					fmt.Sprintf("%s %s → %s lowered this loss in %d of %d pairs of profiled points", m.Param, m.From, m.To, m.Better,
						m.Pairs))
			}
		}
		if about, known := figures[name]; known {
			for _, m := range Moves(pasts, compiled(about.figure)) {
				if m.agrees(2) {
					lines = append(lines,
						fmt.Sprintf("%s %s → %s %s in %d of %d pairs of the study's trials", m.Param, m.From, m.To, about.what,
							m.Better, m.Pairs))
				}
			}
		}
		advice[i].Evidence = lines[:min(len(lines), mostEvidence)]
	}
}

func compiled(figure func(*objective.Resources) (float64, bool)) func(Past, trial.Trial) (float64, bool) {
	return func(_ Past, t trial.Trial) (float64, bool) {
		if t.Outcome.Resources == nil {
			return 0, false
		}
		return figure(t.Outcome.Resources)
	}
}

// noLoss is what a loss is at least: a hundredth of the time is none, and can be compared.
const noLoss = 0.01

// losses are what rules say is lost, by study, number of a launch and rule.
type losses map[int64]map[int]map[string]float64

// launches turns the profiles of studies into trials, one for each point, and returns what their counters
// say is lost. A point may be profiled without a trial: the steps from the default to the winner are.
func launches(pasts []Past) ([]Past, losses) {
	var profiled []Past
	all := losses{}
	for _, p := range pasts {
		of := Past{Study: p.Study}
		lost := map[int]map[string]float64{}
		seen := map[space.Point]bool{}
		for i, counted := range slices.Backward(p.Profiles) { // the last one counts
			if seen[counted.Point] {
				continue
			}
			seen[counted.Point] = true
			of.Trials = append(of.Trials, trial.Trial{Number: i, Point: counted.Point, Finished: true})
			lost[i] = map[string]float64{}
			for _, a := range profile.Advise(profile.Facts{
				Metrics: counted.Metrics,
				Flops:   p.Study.Work.Flops,
				Bytes:   p.Study.Work.Bytes,
			}) {
				if a.Lost != nil {
					lost[i][a.Name] = *a.Lost
				}
			}
		}
		profiled, all[p.Study.ID] = append(profiled, of), lost
	}
	return profiled, all
}

// of is a figure of profiled launches: what a rule says is lost.
func (l losses) of(rule string) func(Past, trial.Trial) (float64, bool) {
	return func(p Past, t trial.Trial) (float64, bool) { return max(noLoss, l[p.Study.ID][t.Number][rule]), true }
}

// facts are what is known about a trial that passed: what the compiler said, its time, and the counters of the
// last profile of the same machine code.
func (p Past) facts(t trial.Trial) profile.Facts {
	f := profile.Facts{
		Resources:    t.Outcome.Resources,
		Milliseconds: t.Outcome.Milliseconds(),
		Flops:        p.Study.Work.Flops,
		Bytes:        p.Study.Work.Bytes,
	}
	for _, counted := range slices.Backward(p.Profiles) {
		if counted.Point == t.Point && counted.Binary == t.Outcome.Binary {
			f.Metrics = counted.Metrics
			break
		}
	}
	return f
}
