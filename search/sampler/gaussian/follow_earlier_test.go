package gaussian

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

func TestWeightsOfATrendByHand(t *testing.T) {
	y := []float64{-1, 0, 1, 0}
	// Without correlations the factor is the identity.
	identity := blas64.Triangular{
		Uplo:   blas.Lower,
		Diag:   blas.NonUnit,
		N:      4,
		Stride: 4,
		Data:   []float64{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1},
	}
	// The weight is (c·y + 4)/(c·c + 4) for centered expectations c and the precision 4
	// round 1: (2+4)/(2+4), (1+4)/(0.5+4), (-2+4)/(2+4), and 4/4 where nothing is expected.
	for name, c := range map[string]struct {
		expected []float64
		want     float64
	}{
		"the same":     {[]float64{9, 10, 11, 10}, 1},
		"half as much": {[]float64{-0.5, 0, 0.5, 0}, 5 / 4.5},
		"the opposite": {[]float64{1, 0, -1, 0}, 1.0 / 3},
		"far opposite": {[]float64{9, 0, -9, 0}, 0},
		"constant":     {[]float64{3, 3, 3, 3}, 1},
	} {
		near(t, name, (&Trend{settings: settings}).weigh([][]float64{c.expected}, y, identity)[0], c.want, 1e-9)
	}
}

func TestAStudyIsFollowedUntilItMisses(t *testing.T) {
	failed := math.Inf(1)
	for name, c := range map[string]struct {
		expected, values []float64
		want             bool
	}{
		"nothing observed":                      {nil, nil, true},
		"two misses":                            {[]float64{-1, -1, -1}, []float64{5, 6, 6}, true},
		"three misses":                          {[]float64{-1, -1, -1, -1}, []float64{5, 6, 6, 6}, false},
		"failures are misses":                   {[]float64{-1, -1, -1}, []float64{failed, failed, failed}, false},
		"no better than before is a miss":       {[]float64{0, -1, -1, -1}, []float64{5, 5, 5, 5}, false},
		"what it expects to be slow is no miss": {[]float64{0, 1, -0.4, 2}, []float64{5, 6, 7, 8}, true},
		"a best takes a miss back":              {[]float64{-1, -1, -1, -1, -1}, []float64{5, 6, 6, 4, 6}, true},
		"and only one":                          {[]float64{-1, -1, -1, -1, -1, -1}, []float64{5, 6, 6, 4, 6, 6}, false},
		"another's best is a miss of the next":  {[]float64{-1, 1, -1, -1, -1}, []float64{5, 2, 4, 4, 4}, false},
	} {
		if got := settings.follows(c.expected, c.values); got != c.want {
			t.Errorf("%s: followed %v", name, got)
		}
	}
}
