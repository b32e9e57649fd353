package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"pawl/internal/collect"
)

// ChangePointOptions sets what counts as a step for [ChangePoints].
type ChangePointOptions struct {
	// MinimumLength is how many samples a level must last, in samples; what is shorter is an outlier. Zero means 5.
	MinimumLength int

	// MinimumStep is the smallest step of interest, relative to the level before
	// it. Zero means 0.01, a third of the change that decides a verdict. It should
	// not be below one tick of the timer: a coarse timer steps by ticks.
	MinimumStep float64
}

// threshold is how many standard deviations of the run's ordinary changes of level a step must measure: on noise of
// any autocorrelation up to 0.9, 6 raises false alarms in about one run of a hundred, and in two or three above that
// or in runs of fewer than fifty samples.
const threshold = 6

func (o ChangePointOptions) withDefaults() ChangePointOptions {
	o.MinimumLength = cmp.Or(o.MinimumLength, 5)
	o.MinimumStep = cmp.Or(o.MinimumStep, 0.01)
	if o.MinimumLength < 1 || !(o.MinimumStep > 0) {
		panic(fmt.Sprintf("stats: ChangePoints with %+v", o))
	}
	return o
}

// ChangePoints returns the indices at which the level of the samples, in measured
// order, steps: each is the first sample of a new level, ascending. A steady run has
// none, and neither has one that drifts smoothly: see [Drift].
//
// The question is not whether two levels differ, since in a run that wanders they
// always do, but whether they differ more abruptly than the run usually does. So the
// median of a window is compared with that of the window before it, at every
// position, and a step is a change many times the typical one of the same run
// (moving sums, Eichinger and Kirch 2018, with medians against outliers, and
// normalized by the run itself in place of an estimate of its long-run variance,
// which a few steps spoil). Autocorrelation widens the typical change and the bar
// rises with it. Windows of MinimumLength, twice that and so on, up to an eighth of
// the run or 16 times MinimumLength, find large steps soon after each other and
// small ones far apart (Messer et al. 2014).
//
// A run shorter than about five times MinimumLength has too few ordinary changes to
// compare with, and no steps are found in it. 10 000 samples take about a tenth of a
// second.
func ChangePoints(samples []float64, options ChangePointOptions) []int {
	requirePositive("ChangePoints", samples)
	options = options.withDefaults()
	s := stepSearch{options: options, logs: make([]float64, len(samples))}
	for i, sample := range samples {
		s.logs[i] = math.Log(sample)
	}
	shortest := options.MinimumLength
	s.search(shortest)
	for width := 2 * shortest; width <= min(len(samples)/8, 16*shortest); width *= 2 {
		s.search(width)
	}
	slices.Sort(s.starts)
	return s.starts
}

// A stepSearch collects the starts of new levels in a run. It works on logarithms,
// so that a step is the same at every level.
type stepSearch struct {
	options ChangePointOptions
	logs    []float64
	starts  []int
}

// search adds the steps that windows of the width show, the largest first, until
// one is no larger than the run's ordinary changes explain.
func (s *stepSearch) search(width int) {
	if len(s.logs) < 2*width {
		return
	}
	// Steps are measured between medians, which ignore outliers and stay sharp. The
	// typical change is measured between interquartile means: with a coarse timer
	// most medians are equal, and would make every tick extraordinary.
	steps := adjacentChanges(s.logs, width, medianSorted)
	ordinary := adjacentChanges(s.logs, width, interquartileMean)
	// Changes whose windows overlap those at a step are taken by it.
	const taken = -1
	take := func(position int) {
		for i := max(0, position-width+1); i < min(len(steps), position+width); i++ {
			steps[i], ordinary[i] = taken, taken
		}
	}
	for _, start := range s.starts {
		take(start - width)
	}
	for {
		largest := floats.MaxIdx(steps)
		size := steps[largest]
		take(largest)
		rest := collect.Where(ordinary, func(change float64) bool { return change != taken })
		if size == taken || len(rest) < width {
			return
		}
		// The spread of the others is taken from their median, as if they were normal.
		const normalMedian = 0.6745 // median distance to the mean, in standard deviations
		if size <= max(threshold*(Median(rest)/normalMedian), math.Log1p(s.options.MinimumStep)) {
			return
		}
		s.accept(largest+width, width, size)
	}
}

// accept adds the step found around position unless it is too close to another or
// to an end, or does not last: between windows twice as wide most of it must remain.
func (s *stepSearch) accept(position, width int, size float64) {
	start := s.locate(position, width)
	for _, other := range append([]int{0, len(s.logs)}, s.starts...) {
		if max(start-other, other-start) < s.options.MinimumLength {
			return
		}
	}
	before := Median(s.logs[max(0, start-2*width):start])
	if after := Median(s.logs[start:min(len(s.logs), start+2*width)]); math.Abs(after-before) < 0.7*size {
		return
	}
	s.starts = append(s.starts, start)
}

// locate returns the cut near position that leaves the fewest samples of the two
// windows on the wrong side of the middle between their medians.
func (s *stepSearch) locate(position, width int) int {
	first, end := position-width, position+width
	before, after := Median(s.logs[first:position]), Median(s.logs[position:end])
	wrong := 0 // with the cut at first: every sample belongs after it
	isAfter := func(i int) bool {
		return (s.logs[i] > midpoint(before, after)) == (after > before)
	}
	for i := first; i < end; i++ {
		if !isAfter(i) {
			wrong++
		}
	}
	best, fewest := position, end-first+1
	for cut := first + 1; cut < end; cut++ {
		if isAfter(cut - 1) {
			wrong++
		} else {
			wrong--
		}
		if wrong < fewest {
			best, fewest = cut, wrong
		}
	}
	return best
}

// adjacentChanges returns at i the distance between the level of the width values
// from i and that of the width values after those.
func adjacentChanges(series []float64, width int, level func(ascending []float64) float64) []float64 {
	levels := make([]float64, len(series)-width+1)
	window := make([]float64, width)
	for i := range levels {
		copy(window, series[i:])
		slices.Sort(window)
		levels[i] = level(window)
	}
	changes := make([]float64, len(levels)-width)
	for i := range changes {
		changes[i] = math.Abs(levels[i+width] - levels[i])
	}
	return changes
}

// interquartileMean returns the mean of values without the lowest and the highest quarter of them.
func interquartileMean(ascending []float64) float64 {
	quarter := len(ascending) / 4
	mean, _ := meanAndSquares(ascending[quarter : len(ascending)-quarter])
	return mean
}
