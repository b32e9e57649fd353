package confirm

import (
	"cmp"
	"math"
	"time"

	"pawl/internal/stats"
	"pawl/objective"
	"pawl/search/trial"
)

// Unlimited is the time that is left where nobody has set a limit.
const Unlimited = time.Duration(math.MaxInt64)

// Cost is what it takes to measure a point once more: a fresh process, and each sample in it.
type Cost struct{ Start, Sample time.Duration }

// Of is the time for so many samples in one process.
func (c Cost) Of(samples int) time.Duration { return c.Start + time.Duration(samples)*c.Sample }

// Needed is the number of rounds that an interval takes with so many finalists.
func Needed(finalists int) int { return stats.MinimumSamples(levelOf(finalists)) }

// Reserve is the time that contenders, the default first, need for an interval: a run in each round, and the full
// check, which takes about a run where nobody knows (0), and is done for the default where it is known.
func Reserve(check time.Duration, contenders ...Cost) time.Duration {
	total := -check
	for _, c := range contenders {
		total += cmp.Or(check, c.Of(1)) + time.Duration(Needed(len(contenders)-1))*c.Of(1)
	}
	return total
}

// learn corrects what measuring a point costs by what it has just taken.
func (c *confirmation) learn(p objective.Prepared, samples int, took time.Duration) {
	cost := c.costs[p.Point]
	if expected := cost.Of(samples); expected > 0 {
		ratio := float64(took) / float64(expected)
		cost.Start = time.Duration(ratio * float64(cost.Start))
		cost.Sample = time.Duration(ratio * float64(cost.Sample))
	} else { // nothing is known yet
		cost = Cost{Start: took / 2, Sample: took / 2 / time.Duration(samples)}
	}
	c.costs[p.Point] = cost
}

// round is the time of one round. A point that was not measured yet may take as long as any.
func (c *confirmation) round(contenders []objective.Prepared, samples int) (total time.Duration) {
	longest := time.Duration(0)
	for _, cost := range c.costs {
		longest = max(longest, cost.Of(samples))
	}
	for _, p := range contenders {
		if cost := c.costs[p.Point]; cost != (Cost{}) {
			total += cost.Of(samples)
		} else {
			total += longest
		}
	}
	return total
}

// pays reports whether there is time for one more finalist: for its check, and for the rounds of an interval of all of
// them. Beyond the second, rounds have all their samples.
func (c *confirmation) pays(chosen []objective.Prepared, more Candidate) bool {
	samples := 1
	if len(chosen) > 2 {
		samples = c.options.Samples
	}
	contenders := append(chosen[:len(chosen):len(chosen)], objective.Prepared{Point: more.Point})
	return c.checking+time.Duration(Needed(len(chosen)))*c.round(contenders, samples) <= c.Left()
}

// samples returns how many samples the next round takes of each contender: one, or as many as take half of the time
// until there is an interval, because a machine may slow down; afterwards as many as leave time for what each change is
// worth. It is 0 where there is no time for the round.
func (c *confirmation) samples(phase trial.Phase, contenders []objective.Prepared, whole, needed int) int {
	left, rounds := c.Left(), max(1, needed-whole)
	if phase == trial.Confirmation && whole >= needed {
		if ablation := c.ablationTime(contenders); ablation <= left {
			left -= ablation
		}
	}
	slack := 1
	if whole < needed {
		slack = 2
	}
	for samples := c.options.Samples; samples > 1; samples-- {
		if time.Duration(slack*rounds)*c.round(contenders, samples) <= left {
			return samples
		}
	}
	if c.round(contenders, 1) <= left {
		return 1 // too few rounds are better than none
	}
	return 0
}

// ablationTime is about how long it takes to compile, check and measure the points between the default and the winner.
func (c *confirmation) ablationTime(contenders []objective.Prepared) (total time.Duration) {
	winner, found := Winner(c.standing())
	initial := c.search.Pool().Space().Default()
	if !found || winner == initial {
		return 0
	}
	compile, changes := time.Duration(0), 0
	for _, candidate := range c.candidates {
		compile = max(compile, candidate.Outcome.Spent.Compile)
	}
	for _, a := range initial.Assignments() {
		if to, _ := winner.Get(a.Name); to != a.Value {
			changes++
		}
	}
	mean := c.round(contenders, 1) / time.Duration(len(contenders))
	between := compile/time.Duration(c.options.Lanes) + mean // the check of a trial
	return time.Duration(changes-1)*between + FewestRounds*time.Duration(changes+1)*mean
}
