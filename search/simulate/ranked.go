package simulate

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"pawl/search/sampler"
)

// Together is one space and all others of its kernel.
type Together struct {
	To     string `json:"to"`
	Others int    `json:"others"`
	// Ranked is as Pair.Ranked, by the mean of the others.
	Ranked []float64 `json:"ranked"`
}

// ranked returns the fractions of the optimum after numbers of trials that take the points which all
// of some other spaces know, from those on that are fastest there: by the mean logarithm of how many times as
// long as the fastest each takes.
func (r *Recorded) ranked(others []*Recorded, budgets []int) []float64 {
	sums, known := map[int]float64{}, map[int]int{}
	for _, other := range others {
		for index, slower := range r.translated(other) {
			sums[index] += slower
			known[index]++
		}
	}
	maps.DeleteFunc(sums, func(index int, _ float64) bool { return known[index] < len(others) })
	order := slices.SortedFunc(maps.Keys(sums), func(a, b int) int { return cmp.Or(cmp.Compare(sums[a], sums[b]), a-b) })
	fractions := make([]float64, len(budgets))
	for i, budget := range budgets {
		for _, index := range order[:min(budget, len(order))] {
			if e := r.space.Entry(index); e.OK() {
				fractions[i] = max(fractions[i], r.fraction(e.Milliseconds))
			}
		}
	}
	return fractions
}

// translated returns the points of another space as points of this one, with the logarithm of how many times as
// long as the fastest they take there. Some are no points of this space, and some become one point of it.
func (r *Recorded) translated(other *Recorded) map[int]float64 {
	var measured []sampler.Timed
	for i := range other.space.Pool().Len() {
		if e := other.space.Entry(i); e.OK() {
			measured = append(measured, sampler.Timed{Point: e.Point, Milliseconds: e.Milliseconds})
		}
	}
	slower := map[int]float64{}
	for _, m := range sampler.Remember(r.space.Space(), "", "", measured).Points {
		index, valid := r.space.Pool().Find(m.Row)
		if !valid {
			continue
		}
		log := math.Log(m.Milliseconds / other.optimum())
		if before, met := slower[index]; !met || log < before {
			slower[index] = log
		}
	}
	return slower
}
