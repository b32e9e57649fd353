package gaussian

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"pawl/internal/collect"
)

// fit returns the parameters with the largest posterior density it finds for
// centered observations. It starts from the prior every time, so that it depends on
// its observations alone and a resumed study finds the same. It goes by iRprop− as Blum and Riedmiller (2013)
// recommend for Gaussian processes: signs of gradients only, no line search.
func fit(s Shape, points [][]uint16, y []float64) Parameters {
	at := s.prior()
	if len(y) == 0 || slices.Max(y) == slices.Min(y) {
		return at // nothing to fit to
	}
	best, lowest := slices.Clone(at), math.Inf(1)
	gradient, last := make([]float64, len(at)), make([]float64, len(at))
	steps := slices.Repeat([]float64{0.3}, len(at))
	for range s.settings.FitSteps {
		value, ok := s.negativeLogPosterior(points, y, at, gradient)
		if !ok {
			break
		}
		if value < lowest {
			lowest = value
			copy(best, at)
		}
		for i, slope := range gradient {
			switch turn := slope * last[i]; {
			case turn > 0:
				steps[i] = min(1.2*steps[i], 1)
			case turn < 0:
				steps[i] *= 0.5
				slope = 0
			}
			if slope != 0 {
				at[i] -= math.Copysign(steps[i], slope)
			}
			// Lengths and ratios beyond these change nothing any more.
			at[i] = min(max(at[i], -8), 5)
			last[i] = slope
		}
	}
	return best
}

// negativeLogPosterior returns the negative logarithm of the marginal
// likelihood times the prior, up to a constant, with the signal variance
// profiled out, and fills its gradient. It reports false where the covariance
// has no Cholesky factor.
func (s Shape) negativeLogPosterior(points [][]uint16, y []float64, p Parameters, gradient []float64) (float64, bool) {
	n := len(y)
	c := newCorrelation(s, p)
	covariance := blas64.Symmetric{N: n, Stride: n, Uplo: blas.Lower, Data: make([]float64, n*n)}
	for a := range n {
		c.row(points[a], points[:a], covariance.Data[a*n:])
		covariance.Data[a*n+a] = 1 + s.noise(p)
	}
	factor, ok := lapack64.Potrf(covariance)
	if !ok {
		return 0, false
	}
	weights := append([]float64(nil), y...)
	vector := blas64.Vector{N: n, Inc: 1, Data: weights}
	blas64.Trsv(blas.NoTrans, factor, vector)
	variance := max(blas64.Dot(vector, vector)/float64(n), math.SmallestNonzeroFloat64)
	blas64.Trsv(blas.Trans, factor, vector)
	value := float64(n) / 2 * math.Log(variance)
	for a := range n {
		value += math.Log(factor.Data[a*n+a])
	}
	value += s.logPrior(p, gradient)
	lapack64.Potri(factor) // in place: now the lower half of the inverse
	// The gradient by a correlation is (R⁻¹ − αα'/s²), for pairs twice half of it.
	byCorrelation := factor.Data
	for a := range n {
		row := byCorrelation[a*n : a*n+a+1]
		scale := weights[a] / variance
		for b := range row {
			row[b] -= scale * weights[b]
		}
		gradient[len(s.features)] += 0.5 * s.noise(p) * row[a]
	}
	s.addGradient(c, points, byCorrelation, gradient)
	return value, true
}

// addGradient adds the gradient by the lengths and the share. Pairs with the same
// values on an axis change alike, so the gradient by correlations, the lower half of
// a matrix, is summed up by values first.
func (s Shape) addGradient(c *correlation, points [][]uint16, byCorrelation, gradient []float64) {
	byValues := collect.Each(s.Axes, func(a Axis) [][]float64 {
		return Square(a.Values(), func(int, int) float64 { return 0 })
	})
	k := make([]float64, len(s.Axes))
	one := c.share / float64(len(k))
	towardsOne := 0.0
	tables, sums := make([][]float64, len(k)), make([][]float64, len(k))
	for a, point := range points {
		for j, value := range point {
			tables[j], sums[j] = c.tables[j][value], byValues[j][value]
		}
		for b, other := range points[:a] {
			slope := byCorrelation[a*len(points)+b]
			sum, product := 0.0, 1.0
			for j, value := range other {
				correlation := tables[j][value]
				k[j] = correlation
				sum += correlation
				product *= correlation
			}
			together := slope * (1 - c.share) * product
			for j, value := range other {
				sums[j][value] += slope*one*k[j] + together
			}
			towardsOne += slope * (sum/float64(len(k)) - product)
		}
	}
	gradient[len(s.features)+1] += c.share * (1 - c.share) * towardsOne
	for i, f := range s.features {
		for u, row := range f.between {
			for v, d := range row {
				gradient[i] += byValues[f.axis][u][v] * c.slopes[i][d]
			}
		}
	}
}

// logPrior returns minus the logarithm of the normal priors and sets the gradient to theirs.
func (s Shape) logPrior(p Parameters, gradient []float64) float64 {
	sum := 0.0
	add := func(i int, mean, spread float64) {
		z := (p[i] - mean) / spread
		sum += z * z / 2
		gradient[i] = z / spread
	}
	for i, f := range s.features {
		add(i, f.prior, s.settings.LengthSpread)
	}
	add(len(s.features), s.settings.NoisePrior, s.settings.NoiseSpread)
	add(len(s.features)+1, 0, s.settings.MainEffectSpread)
	return sum
}
