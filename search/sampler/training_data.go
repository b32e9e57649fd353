package sampler

import (
	"math"
	"slices"

	"pawl/search/sampler/gaussian"
)

// failedTime marks a failure among times until they are scaled. It is no number that anything is computed with.
var failedTime = math.Inf(1)

// times returns the times of the observations that work, in their order.
func times(observations []Observation) []float64 {
	var list []float64
	for _, o := range observations {
		if !o.Failed {
			list = append(list, o.Milliseconds)
		}
	}
	return list
}

// training takes the fastest of the working observations, and at most as many
// failures, the latest: where nearly everything fails, the model must not be
// about failures. They are marked by failedTime and stay in the order observed.
func (c common) training(view *View, observations []Observation, most int) gaussian.Data {
	limit, working, ties := fastestOf(observations, most)
	failures := len(observations) - len(times(observations))
	skipped := max(0, failures-min(working, most-working))
	data := gaussian.Data{}
	for _, o := range observations {
		value := o.Milliseconds
		switch {
		case o.Failed && skipped > 0:
			skipped--
			continue
		case o.Failed:
			value = failedTime
		case value == limit && ties > 0:
			ties-- // the first come, so that every faster one has its place
		case value >= limit:
			continue
		}
		data.Add(gaussian.ValuesOf(c.axes, view.Pool.Row(o.Index)), value)
	}
	return data
}

// fastestOf returns the slowest of the most fastest times, how many there are, and how many of them tie with it: more
// may tie than fit.
func fastestOf(observations []Observation, most int) (limit float64, count, ties int) {
	times := times(observations)
	if len(times) == 0 {
		return 0, 0, 0
	}
	slices.Sort(times)
	count = min(most, len(times))
	limit = times[count-1]
	first, _ := slices.BinarySearch(times, limit)
	return limit, count, count - first
}

// working returns the values that are times, sorted.
func working(values []float64) []float64 {
	list := slices.DeleteFunc(slices.Clone(values), func(t float64) bool { return t == failedTime })
	slices.Sort(list)
	return list
}

// labels returns the last observations that work and the last that fail, in the order observed, with the label of
// each: 1 or -1.
func (c common) labels(view *View, observations []Observation, most int) gaussian.Data {
	var kept []Observation
	count := map[bool]int{}
	for _, o := range slices.Backward(observations) {
		if count[o.Failed]++; count[o.Failed] <= most {
			kept = append(kept, o)
		}
	}
	data := gaussian.Data{}
	for _, o := range slices.Backward(kept) {
		label := 1.0
		if o.Failed {
			label = -1
		}
		data.Add(gaussian.ValuesOf(c.axes, view.Pool.Row(o.Index)), label)
	}
	return data
}

// scaledTimes returns logarithms of times, 0 at the median and -1 at the best,
// with the part above the median compressed by another logarithm. Failures come
// out at 0.
func scaledTimes(times []float64) []float64 {
	scaled := make([]float64, len(times))
	sorted := working(times)
	if len(sorted) == 0 {
		return scaled
	}
	best, median := math.Log(sorted[0]), math.Log(sorted[len(sorted)/2])
	scale := max(median-best, 1e-9)
	for i, t := range times {
		if t == failedTime {
			continue
		}
		if scaled[i] = (math.Log(t) - median) / scale; scaled[i] > 0 {
			scaled[i] = math.Log1p(scaled[i])
		}
	}
	return scaled
}

// logUnit returns how much of a logarithm of time one unit of scaledTimes is, at and below the median.
func logUnit(values []float64) float64 {
	sorted := working(values)
	return max(math.Log(sorted[len(sorted)/2]/sorted[0]), 1e-9)
}
