package gate

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"pawl/internal/collect"
	"pawl/internal/stats"
)

// power is the chance with which the smallest visible regression would be seen.
const power = 0.9

// powerSimulation finds the minimum detectable slowdown: it simulates comparisons from
// the rounds that were measured, with a slowdown put in, judged at the planned analyses
// by the rule that judged the real ones. No formula knows what the rule does with this
// machine's noise.
type powerSimulation struct {
	policy   Policy
	analyses []Analysis
	// draws are the noise of each simulated comparison: rounds without a difference.
	draws [][]logTimes
	tick  float64
}

// newPowerSimulation takes the noise from the rounds that were measured: candidate, baseline
// and control, each about its own middle. Where the rounds of one half are noisier than those of
// the other, only these count, and noise that has grown is taken to go on growing. Rounds are drawn in
// pieces of three that followed each other, because what a machine does often lasts longer
// than a round.
func newPowerSimulation(p Policy, analyses []Analysis, w weighed, simulations int) *powerSimulation {
	const piece = 3
	noise := noisierHalf(w.rounds)
	r := &powerSimulation{policy: p, analyses: analyses, tick: w.tick}
	random := rand.New(rand.NewPCG(0, 0x72656865617273))
	for range cmp.Or(simulations, 400) { // a share of 0.9 of 400 is known to 1.5 points
		var draw []logTimes
		for len(draw) < analyses[len(analyses)-1].Rounds {
			for i, first := 0, random.IntN(len(noise)); i < piece; i++ {
				round := noise[(first+i)%len(noise)]
				if random.IntN(2) == 0 { // without a difference, their names mean nothing
					round.baseline, round.candidate = round.candidate, round.baseline
				}
				draw = append(draw, round)
			}
		}
		r.draws = append(r.draws, draw)
	}
	return r
}

// noisierHalf returns the rounds without what is between the arms on the whole: all of them, or
// the noisier half where that says more. They are scaled as few rounds ask for.
func noisierHalf(rounds []logTimes) []logTimes {
	middle := func(arm Arm) float64 {
		return stats.Median(collect.Each(rounds, func(t logTimes) float64 { return *t.of(arm) - t.baseline }))
	}
	candidate, control := middle(Candidate), middle(Control)
	var noise []logTimes
	var sizes []float64
	for _, t := range rounds {
		// About the middle of its round: only differences matter, and these are to be scaled.
		n := logTimes{baseline: t.baseline, candidate: t.candidate - candidate, control: t.control - control}
		mean := (n.baseline + n.candidate + n.control) / 3
		wider := fewRounds(len(rounds))
		n = logTimes{
			baseline:  wider * (n.baseline - mean),
			candidate: wider * (n.candidate - mean),
			control:   wider * (n.control - mean),
		}
		noise = append(noise, n)
		sizes = append(sizes, math.Abs(n.baseline-n.candidate)+math.Abs(n.control-n.candidate))
	}
	half := len(noise) / 2
	early, late := stats.Mean(sizes[:half]), stats.Mean(sizes[len(noise)-half:])
	switch {
	case late > 1.5*early:
		noise = noise[len(noise)-half:]
		for i := range noise {
			n, by := &noise[i], min(2, late/early)
			n.baseline, n.candidate, n.control = by*n.baseline, by*n.candidate, by*n.control
		}
		return noise
	case early > 1.5*late:
		return noise[:half]
	}
	return noise
}

// fewRounds is by how much the spread of some rounds is likely to be larger than
// they show: those that ended a comparison early were, by selection, quiet ones.
// Chosen on simulated machines, so that what is printed is found.
func fewRounds(rounds int) float64 { return 1.12 + 4/float64(rounds) }

// smallest returns the smallest slowdown that is found nine times of ten, as a
// share, or 0 where none up to a doubling is.
func (r *powerSimulation) smallest() float64 {
	low, high := 0.0, math.Ln2
	if !r.found(high) {
		return 0
	}
	for high-low > 0.002 {
		if middle := (low + high) / 2; r.found(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return math.Expm1(high)
}

// found reports whether nine of ten comparisons call a slowdown, a log ratio, a regression. It ends where the rest
// cannot change that.
func (r *powerSimulation) found(slowdown float64) bool {
	needed := int(math.Ceil(power * float64(len(r.draws))))
	for i, draw := range r.draws {
		if r.regression(r.read(draw, slowdown, phaseOf(i))) {
			needed--
		}
		if left := len(r.draws) - i - 1; needed <= 0 || needed > left {
			break
		}
	}
	return needed <= 0
}

// phases is at how many places between two ticks the true time is tried: where it lies, a clock that counts in ticks
// does not say, and it decides which slowdowns the clock shows.
const phases = 8

// phaseOf is where the true time of a simulated comparison lies, in ticks from the nearest one.
func phaseOf(simulation int) float64 { return (float64(simulation%phases)+0.5)/phases - 0.5 }

// finest is the tick, as a share of the time, from which on the clock matters.
const finest = 1e-4

// read returns what the clock shows of simulated rounds with a slowdown.
func (r *powerSimulation) read(noise []logTimes, slowdown, phase float64) []logTimes {
	rounds := slices.Clone(noise)
	for i := range rounds {
		t := &rounds[i]
		t.candidate += slowdown
		if r.tick <= finest || math.IsInf(r.tick, 1) {
			continue
		}
		for _, time := range []*float64{&t.baseline, &t.candidate, &t.control} {
			// The baseline's true time is 1 and a part of a tick.
			ticks := math.Exp(*time) * (1 + phase*r.tick) / r.tick
			*time = math.Log(max(1, math.Round(ticks)) * r.tick)
		}
	}
	return rounds
}

// regression judges one comparison as Policy.judge does.
func (r *powerSimulation) regression(rounds []logTimes) bool {
	for i, analysis := range r.analyses {
		last := i == len(r.analyses)-1
		ratios := make([]float64, analysis.Rounds)
		for j := range ratios {
			ratios[j] = rounds[j].baseline - rounds[j].candidate
		}
		change := changeOf(math.Exp(stats.Median(ratios)))
		interval := changeInterval(ratios, analysis.intervals(r.policy), r.tick)
		beyond := interval.High < 0 && change < -r.policy.Regression &&
			chanceNormal(rounds[:analysis.Rounds]) <= analysis.Level
		within := interval.Low > -r.policy.Regression && interval.High < r.policy.Improvement
		switch {
		case beyond && (last || i > 0 && interval.High < -r.policy.Regression):
			return true
		case !beyond && within:
			return false
		}
	}
	return false
}

// chanceNormal is the p-value of a simulated comparison by the normal approximation of
// [chance], which errs towards not proven: the sum of bounded numbers has lighter tails.
func chanceNormal(rounds []logTimes) float64 {
	cuts := limits(Baseline, rounds)
	smallest := 1.0
	for _, cut := range cuts {
		score := func(difference float64) float64 {
			if share := difference / cut; !math.IsNaN(share) {
				return max(-1, min(1, share))
			}
			return 0
		}
		sum, squares := 0.0, 0.0
		for _, t := range rounds {
			between, above, same := score(t.baseline-t.candidate), score(t.control-t.candidate), score(t.baseline-t.control)
			sum += between
			squares += (between*between + above*above + same*same) / 3 // over the six orders of the three arms
		}
		if squares > 0 {
			smallest = min(smallest, math.Erfc(math.Abs(sum)/math.Sqrt(2*squares)))
		}
	}
	return min(1, smallest*float64(len(cuts)))
}
