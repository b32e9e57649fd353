package gaussian

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// Solves that end early rank the best candidates as solves to the end do, and every score is an
// upper bound of the exact one.
func TestSolvesThatEndEarly(t *testing.T) {
	shape := NewShape(kernelPool(t).Space(), settings)
	rng := rand.New(rand.NewPCG(3, 4))
	draw := func(n int) (points [][]uint16) {
		for range n {
			var point []uint16
			for _, a := range shape.Axes {
				point = append(point, uint16(rng.IntN(a.Values())))
			}
			points = append(points, point)
		}
		return points
	}
	var data Data
	for _, point := range draw(100) {
		data.Add(point, rng.NormFloat64())
	}
	fitted := Fitted{Most: 40}
	process := fitted.Over(shape, data, data.Points)
	process.Condition(data.Values)
	process.Inflate(3)
	candidates := draw(300)
	nothing, best := make([]float64, len(candidates)), slices.Min(data.Values)
	got := process.LogImprovement(candidates, nothing, nothing, best, math.Inf(-1))
	means, deviations := process.Predict(candidates)
	exact, early := make([]float64, len(candidates)), 0
	for i := range exact {
		exact[i] = LogExpectedImprovement(best, means[i], deviations[i])
		if got[i] < exact[i]-1e-9 {
			t.Errorf("candidate %d: %v is no upper bound of %v", i, got[i], exact[i])
		}
		if got[i] > exact[i]+1e-6 {
			early++
		}
	}
	if early == 0 {
		t.Error("every solve went to the end")
	}
	// As it would be with solves to the end: all blocks that are begun are exact.
	whole := slices.Clone(got)
	order := ranked(bounds(process, candidates, best), len(candidates))
	for start, floor := 0,
		math.Inf(-1); start < len(order) && bounds(process, candidates, best)[order[start]] > floor; start += solveBlock {
		for _, i := range order[start:min(start+solveBlock, len(order))] {
			whole[i] = exact[i]
			floor = max(floor, exact[i])
		}
	}
	if a, b := ranked(got, Leaders), ranked(whole, Leaders); !slices.Equal(a, b) {
		t.Errorf("%v first, and with whole solves %v", a, b)
	}
}

// bounds are the scores before any solve, by the nearest observation.
func bounds(g *Process, candidates [][]uint16, best float64) (scores []float64) {
	k := make([]float64, len(g.points))
	for _, values := range candidates {
		nearest := g.correlations(values, k)
		scores = append(scores,
			LogExpectedImprovement(best, g.mean+floats.Dot(g.weights, k), g.deviation(nearest*nearest/(1+g.noise))))
	}
	return scores
}

// ranked returns the places of the largest scores.
func ranked(scores []float64, count int) []int {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(scores[b], scores[a]), a-b) })
	return order[:count]
}
