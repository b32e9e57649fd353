package gate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"pawl/internal/collect"
	"pawl/internal/stats"
	"pawl/objective"
	"pawl/objective/experiment"
)

// A comparison is planned before anything is judged: one sample of each arm, a few times over, says
// what a round costs, and from that and the budget follow the number of samples a
// process and the analyses. Only the clock decides here, never the ratios, so the
// plan cannot raise the rate of false alarms.

// pace is what a round costs.
type pace struct {
	// least is the time of a round with one sample a process: mostly starting them.
	least time.Duration
	// sample is what each further sample adds to a round.
	sample time.Duration
}

// round is the time of a round with so many samples a process.
func (p pace) round(samples int) time.Duration {
	return p.least + time.Duration(samples-1)*p.sample
}

// fits is how many samples a process may take, from 1 to most, for a round to last
// no longer than a time.
func (p pace) fits(within time.Duration, most int) int {
	if p.sample <= 0 || p.round(most) <= within {
		return most
	}
	return min(most, max(1, 1+int((within-p.least)/p.sample)))
}

// grace is the share of the budget by which the first analysis may be late: to give up
// shortly before the first answer would waste all of it.
const grace = 0.5

// SamplesFor is how many samples, up to a number, each of so many processes may take
// for all of them to stay within the budget, where one process with one sample took
// a time.
func (p Policy) SamplesFor(most, processes int, one time.Duration) int {
	return pace{least: one, sample: one}.fits(p.Budget/time.Duration(processes), most)
}

// pilots is how many rounds say what one costs: the median of them does, so that one slow sample
// decides nothing.
const pilots = 3

// trying is the rule of the rounds that say what one costs.
type trying struct {
	*run
	end time.Time
}

// Next goes on while there is time.
func (t trying) Next(rounds []experiment.Round) (plan experiment.Plan, err error) {
	if len(rounds) < pilots && !t.options.Now().After(t.end) {
		plan = experiment.Plan{Samples: 1, Round: len(rounds)}
	}
	return plan, nil
}

// plan runs each arm a few times, with one sample that is not judged, and returns the
// analyses that the budget allows. None means that the budget allows nothing that
// could show a regression, and the decision says so.
func (r *run) plan(ctx context.Context) ([]Analysis, *Decision, error) {
	budget := time.Duration(float64(r.policy.Budget) * (1 + grace))
	began := r.options.Now()
	tried, err := r.experiment.Run(ctx, trying{r, began.Add(budget)})
	if err != nil {
		return nil, nil, err
	}
	if len(tried) == 0 {
		return nil, new(Decide(Inconclusive, "%s: no round went through within the budget of %v", objective.Throttled,
			r.policy.Budget)), nil
	}
	rounds := collect.Each(tried, func(r experiment.Round) float64 { return float64(r.Took) })
	pilot := time.Duration(stats.Median(rounds))
	// All of it may be one sample's: the first round will show.
	r.pace = pace{least: pilot, sample: pilot}
	r.each = r.want()
	analyses := r.policy.analyses()
	fewest := fewestRounds(r.policy.Alarm)
	if pilot <= 0 {
		return analyses, nil, nil
	}
	affordable := int((budget - r.options.Now().Sub(began)) / pilot)
	switch {
	case affordable >= analyses[0].Rounds:
		return analyses, nil, nil
	case affordable >= blockRounds: // from fewest on they can prove anything, before that what is gross
		return []Analysis{{Rounds: affordable, Level: r.policy.Alarm}}, nil, nil
	}
	return nil, new(r.tooSmall(time.Duration(fewest)*pilot, fewest)), nil
}

// tooSmall is the decision where the budget is over before anything could be
// proven. A budget that would do at the usual pace was taken by a machine that stalled.
func (r *run) tooSmall(needed time.Duration, rounds int) Decision {
	reason := fmt.Sprintf("the budget of %v is too small to prove anything: %d rounds are the fewest, and take about %v "+
		"with one sample a process; budget: %v would do", r.policy.Budget, rounds, roundUp(needed), roundUp(needed*5/4))
	if needed*5/4 <= r.policy.Budget {
		reason = fmt.Sprintf("the budget of %v was over before %d rounds, which take about %v at the usual pace: the "+
			"machine stalled; run it again", r.policy.Budget, rounds, roundUp(needed))
	}
	return Decision{Verdict: Inconclusive, Reason: reason}
}

// roundUp makes a time that a person would write: whole seconds, or tenths below
// ten.
func roundUp(d time.Duration) time.Duration {
	unit := time.Second
	if d < 10*time.Second {
		unit = 100 * time.Millisecond
	}
	return (d + unit - 1) / unit * unit
}

// want is how many samples a process takes where time does not matter.
func (r *run) want() int { return cmp.Or(r.policy.Samples, r.options.Samples, 50) }

// pacing adapts the number of samples to what the rounds so far have cost, so that
// the first analysis comes within the budget. Later analyses take what time is left.
func (r *run) pacing(round, first int) {
	if round >= first {
		return
	}
	// A tenth is kept back: rounds are not all equally long.
	left := time.Duration(0.9*float64(r.deadline.Sub(r.options.Now()))) / time.Duration(first-round)
	r.each = min(r.each, r.pace.fits(left, r.want()))
	if round <= 1 { // the pilot knew too little to decide for good
		r.each = r.pace.fits(left, r.want())
	}
}

// learn takes the time of a finished round into account. A round cannot take less
// than its samples say.
func (r *run) learn(took time.Duration, launches float64) {
	least := time.Duration(launches * float64(time.Millisecond))
	if r.each > 1 {
		r.pace.sample = max(least, (took-r.pace.least)/time.Duration(r.each-1), 0)
	} else {
		r.pace.sample = max(r.pace.sample, least)
		r.pace.least = (r.pace.least + took) / 2
	}
}

// launches is the time that one sample of each arm takes, in milliseconds.
func (r *run) launches(round int) float64 {
	sum := 0.0
	for _, processes := range r.samples {
		sum += stats.Median(processes[round])
	}
	return sum
}

// reachable are the analyses up to one that was made, and the next one if the budget would
// have allowed it. What is further away than what was measured is not known.
func (r *run) reachable(analyses []Analysis, made Analysis) []Analysis {
	perRound := r.pace.round(r.each)
	var reached []Analysis
	for _, l := range analyses {
		switch {
		case l.Rounds < made.Rounds:
			reached = append(reached, l)
		case !slices.Contains(reached, made): // the analysis itself, or the one that time cut short
			reached = append(reached, made)
		case time.Duration(l.Rounds)*perRound <= r.policy.Budget:
			return append(reached, l)
		}
	}
	return reached
}
