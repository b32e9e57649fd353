package gate

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"pawl/internal/collect"
	"pawl/internal/page"
	"pawl/internal/stats"
)

// insideDrift finds processes that became slower or faster while they ran, by
// more than a third of the difference between the sides and most of them in the
// same way: then the level of a process is not one number. The halves of a process
// are compared, because the first samples of many programs are slow.
func (s *apart) insideDrift() *Decision {
	for i, processes := range s.sides {
		var drifts []float64
		for _, samples := range processes {
			if half := len(samples) / 2; half >= 2 {
				drifts = append(drifts, math.Log(stats.Median(samples[len(samples)-half:])/stats.Median(samples[:half])))
			}
		}
		if len(drifts) < stats.FewestForInterval {
			continue
		}
		typical := stats.Median(drifts)
		if size := math.Abs(typical); size > max(s.policy.Regression, s.difference()/3) && oneWay(drifts) <= driftLevel {
			return new(Decide(Inconclusive, "drift: the processes of the %s became %s from their first half to their second",
				sideNames[i], slowerOrFaster(typical)))
		}
	}
	return nil
}

// oneWay is the chance that so many of the drifts, or more, have the same sign.
func oneWay(drifts []float64) float64 {
	slower := float64(len(collect.Where(drifts, func(drift float64) bool { return drift > 0 })))
	n := float64(len(drifts))
	return min(1, 2*distuv.Binomial{N: n, P: 0.5}.CDF(min(slower, n-slower)))
}

// driftLevel is the p-value at which a drift is no accident: so many good
// comparisons are given up for it.
const driftLevel = 0.05

// orderedProcesses is how many processes a side needs for their order to show
// whether the machine moved: of ten processes, two before a step and eight after it
// are as unlikely as one order in twenty, of six they are nothing unusual.
const orderedProcesses = 10

// orderDrift finds a side whose processes, in the order measured, moved from one
// level to another. Up to 20 processes can show little, so the bar is low; it costs
// comparisons that are not clear anyway.
func (s *apart) orderDrift() *Decision {
	for i, all := range s.levels {
		levels, each := condensed(all)
		chance := stats.OrderMatters(levels)
		if few := len(levels) < 2*orderedProcesses; chance > 0.1 || !few && chance > 0.02 {
			continue
		}
		if cut, moved := largestMove(levels); math.Abs(moved) > s.difference()/3 {
			return new(Decide(Inconclusive, "drift: the processes of the %s became %s after the first %d of %d", sideNames[i],
				slowerOrFaster(moved), cut*each, len(all)))
		}
	}
	return nil
}

// condensed returns the levels, or the medians of so many neighbors each where there
// are more than a few hundred: a move shows in them as well, and time is bounded.
func condensed(levels []float64) (medians []float64, each int) {
	const most = 200
	each = (len(levels) + most - 1) / most
	return collect.Each(slices.Collect(slices.Chunk(levels, each)), stats.Median), each
}

// largestMove returns where the median level before and after differ most, with at
// least two processes on either side of the cut, and the log of their ratio.
func largestMove(levels []float64) (cut int, moved float64) {
	for i := 2; i <= len(levels)-2; i++ {
		if by := math.Log(stats.Median(levels[i:]) / stats.Median(levels[:i])); math.Abs(by) > math.Abs(moved) {
			cut, moved = i, by
		}
	}
	return cut, moved
}

// difference is the log ratio between the sides.
func (s *apart) difference() float64 { return math.Abs(math.Log1p(-s.evidence.Change)) }

// slowerOrFaster writes the log of a later time over an earlier one.
func slowerOrFaster(moved float64) string {
	if moved > 0 {
		return page.Percent(math.Expm1(moved)) + " slower"
	}
	return page.Percent(-math.Expm1(moved)) + " faster"
}

// unsteady says how far the samples of one process stepped or drifted, as a log
// ratio, and how; 0 for a steady one.
func (p Policy) unsteady(samples []float64) (size float64, how string) {
	if steps := stats.ChangePoints(samples, stats.ChangePointOptions{MinimumStep: p.Regression / 2}); len(steps) > 0 {
		var levels []float64
		first := 0
		for _, next := range append(steps, len(samples)) {
			levels = append(levels, stats.Median(samples[first:next]))
			first = next
		}
		size = math.Log(slices.Max(levels) / slices.Min(levels))
		return size,
			fmt.Sprintf("stepped by %s, first after %d of %d samples", page.Percent(math.Expm1(size)), steps[0], len(samples))
	}
	var quarters []float64
	parts := min(4, len(samples))
	for i := range parts {
		quarters = append(quarters, stats.Median(samples[i*len(samples)/parts:(i+1)*len(samples)/parts]))
	}
	// This catches also the step that noise hides from every test.
	if size = math.Log(slices.Max(quarters) / slices.Min(quarters)); size <= math.Log1p(p.Regression) {
		return 0, ""
	}
	return size, fmt.Sprintf("differs from itself by %s between the quarters of its run", page.Percent(math.Expm1(size)))
}
