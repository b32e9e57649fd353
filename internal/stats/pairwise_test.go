package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestPairwiseSpeedup(t *testing.T) {
	// The textbook's critical U of 6 against 6 at 0.05 is 5: the interval is from the
	// 6th to the 31st of the 36 pairs.
	powers := func(first float64) (values []float64) {
		for i := range 6 {
			values = append(values, first*math.Pow(2, float64(i)))
		}
		return values
	}
	if s, i := PairwiseSpeedup(powers(2), powers(1), 0.95); math.Abs(s-2) > 1e-12 || math.Abs(i.Low-0.25) > 1e-12 ||
		math.Abs(i.High-16) > 1e-12 {
		t.Errorf("%v %v", s, i)
	}
	// Two modes, and more of the slow one by chance on one side: the medians say
	// 3 %, the pairs what is true.
	base, other := []float64{1, 1, 1, 1.25, 1.25, 1.25, 1.25}, []float64{1.29, 1.29, 1.29, 1.29, 1.6125, 1.6125, 1.6125}
	if s, _ := PairwiseSpeedup(base, other, 0.95); math.Abs(s-1/1.29) > 1e-12 {
		t.Errorf("%v", s)
	}
	if s, i := PairwiseSpeedup([]float64{3}, []float64{2}, 0.95); math.Abs(s-1.5) > 1e-12 ||
		math.Abs(i.High-1.5) > 1e-12 || math.Abs(i.Low-1.5) > 1e-12 {
		t.Errorf("%v %v", s, i)
	}
	many := make([]float64, 5000)
	for i := range many {
		many[i] = 1 + float64(i)/5000
	}
	if s, _ := PairwiseSpeedup(many, many, 0.95); math.Abs(s-1) > 1e-6 {
		t.Errorf("%v", s)
	}
}

func TestPairwiseSpeedupCoverage(t *testing.T) {
	random, covered := rand.New(rand.NewPCG(1, 2)), 0
	draw := func(n int, level float64) (values []float64) {
		for range n {
			values = append(values, level*math.Exp(0.1*random.NormFloat64()))
		}
		return values
	}
	for range 1000 {
		if _, i := PairwiseSpeedup(draw(8, 1.2), draw(6, 1), 0.95); i.Contains(1.2) {
			covered++
		}
	}
	if covered < 935 || covered > 975 {
		t.Errorf("covered %d times of 1000, not about 950", covered)
	}
}
