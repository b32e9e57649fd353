package search

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// gaussianProcess is a Gaussian process conditioned on observations.
type gaussianProcess struct {
	*correlation
	noise  float64
	points [][]uint16
	// factor is the lower Cholesky factor of the correlations with the noise,
	// with room to grow.
	factor blas64.Triangular
	mean   float64
	// variance is the signal's; weights are what the correlations with the
	// observations are summed up with.
	variance float64
	weights  []float64
	// profiles[j][v][i] is the correlation on axis j of value v with
	// observation i.
	profiles [][][]float64
	// Scratch: what every call of logImprovement needs anew.
	correlations, solved []float64
	columns              *columns
}

// newGaussianProcess factorises the first points at once. Others are added by
// extend, in the same order, whether now or later.
func newGaussianProcess(c *correlation, noise float64, points [][]uint16) *gaussianProcess {
	g := &gaussianProcess{correlation: c, points: slices.Clone(points)}
	n := len(points)
	room := n + n/4 + 8
	for g.noise = noise; ; g.noise *= 10 {
		data := make([]float64, room*room)
		for a := range n {
			for b := range a {
				data[a*room+b] = c.at(points[a], points[b])
			}
			data[a*room+a] = 1 + g.noise
		}
		var ok bool
		g.factor, ok = lapack64.Potrf(blas64.Symmetric{N: n, Stride: room, Uplo: blas.Lower, Data: data})
		if ok {
			break
		}
	}
	return g
}

// extend adds one point to the factor, in n² steps instead of n³.
func (g *gaussianProcess) extend(point []uint16) {
	n := len(g.points)
	if n == g.factor.Stride {
		g.grow()
	}
	row := g.factor.Data[n*g.factor.Stride:][:n+1]
	for i, other := range g.points {
		row[i] = g.at(point, other)
	}
	vector := blas64.Vector{N: n, Inc: 1, Data: row[:n]}
	blas64.Trsv(blas.NoTrans, g.factor, vector)
	row[n] = math.Sqrt(max(1+g.noise-blas64.Dot(vector, vector), 1e-10))
	g.factor.N++
	g.points = append(g.points, point)
}

// grow doubles the room of the factor.
func (g *gaussianProcess) grow() {
	from := g.factor.Stride
	to := 2 * from
	data := make([]float64, to*to)
	for i := range len(g.points) {
		copy(data[i*to:i*to+i+1], g.factor.Data[i*from:i*from+i+1])
	}
	g.factor.Data, g.factor.Stride = data, to
}

// shrink takes the last points out again.
func (g *gaussianProcess) shrink(points int) {
	g.points, g.factor.N = g.points[:points], points
}

// condition sets the observed values of the first len(y) points. Points beyond
// are pending: they are believed to come out as predicted (kriging believer,
// Ginsbourger et al. 2010), which leaves the predictions as they are and takes
// the uncertainty away round them.
func (g *gaussianProcess) condition(y []float64) {
	observed := len(y)
	g.mean = 0
	for _, value := range y {
		g.mean += value / float64(observed)
	}
	part := g.factor
	part.N = observed
	g.weights = make([]float64, len(g.points))
	for i, value := range y {
		g.weights[i] = value - g.mean
	}
	vector := blas64.Vector{N: observed, Inc: 1, Data: g.weights[:observed]}
	blas64.Trsv(blas.NoTrans, part, vector)
	g.variance = max(blas64.Dot(vector, vector)/float64(observed), 1e-12)
	// A belief has the residual 0: its weight is 0 and the others stay.
	blas64.Trsv(blas.Trans, part, vector)
	g.profile()
	g.columns = nil
}

// inflate multiplies the deviations of a conditioned process.
func (g *gaussianProcess) inflate(factor float64) { g.variance *= factor * factor }

// profile lays the correlations out by observation, so that a candidate's are
// products of whole columns.
func (g *gaussianProcess) profile() {
	g.profiles = make([][][]float64, len(g.axes))
	for j, a := range g.axes {
		g.profiles[j] = make([][]float64, a.values())
		for v := range g.profiles[j] {
			column := make([]float64, len(g.points))
			for i, point := range g.points {
				column[i] = g.tables[j][v][point[j]]
			}
			g.profiles[j][v] = column
		}
	}
}

// columns computes candidates' correlations with all observations. Candidates
// of a sorted list share their first values, and with them partial results.
type columns struct {
	g         *gaussianProcess
	last      []uint16
	products  [][]float64 // after axis j
	sums      [][]float64
	available int // the number of axes whose partial results are those of last
}

func newColumns(g *gaussianProcess) *columns {
	c := &columns{g: g, last: make([]uint16, len(g.axes))}
	for range g.axes {
		c.products = append(c.products, make([]float64, len(g.points)))
		c.sums = append(c.sums, make([]float64, len(g.points)))
	}
	return c
}

// at fills into with the correlations of a candidate, and returns the largest.
func (c *columns) at(values []uint16, into []float64) float64 {
	shared := 0
	for shared < c.available && c.last[shared] == values[shared] {
		shared++
	}
	for j := shared; j < len(values); j++ {
		profile := c.g.profiles[j][values[j]]
		products, sums := c.products[j][:len(profile)], c.sums[j][:len(profile)]
		if j == 0 {
			copy(products, profile)
			copy(sums, profile)
			continue
		}
		before, sumsBefore := c.products[j-1][:len(profile)], c.sums[j-1][:len(profile)]
		for i, k := range profile {
			products[i] = before[i] * k
			sums[i] = sumsBefore[i] + k
		}
	}
	copy(c.last, values)
	c.available = len(values)
	products, sums := c.products[len(values)-1], c.sums[len(values)-1]
	one, all := c.g.share/float64(len(values)), 1-c.g.share
	nearest := 0.0
	for i := range into {
		k := one*sums[i] + all*products[i]
		if k > nearest {
			nearest = k
		}
		into[i] = k
	}
	return nearest
}

// solveBlock is the number of candidates whose variances are solved for at a
// time.
const solveBlock = 32

// logImprovement returns the logarithm of the expected improvement over best of
// each candidate, plus its handicap. Expected is what is known of the candidates
// from elsewhere; the process models the rest. Where that is certain to be below the best
// of all or below the floor it may return an upper bound instead: the variance, which takes a
// triangular solve, is at most what the nearest observation leaves.
func (g *gaussianProcess) logImprovement(candidates [][]uint16, expected, handicap []float64, best, floor float64) []float64 {
	n := len(g.points)
	g.correlations = sized(g.correlations, n*len(candidates))
	correlations := g.correlations
	means, scores := make([]float64, len(candidates)), make([]float64, len(candidates))
	order := make([]int, len(candidates))
	if g.columns == nil {
		g.columns = newColumns(g)
	}
	columns := g.columns
	weights := blas64.Vector{N: n, Inc: 1, Data: g.weights}
	for i, values := range candidates {
		k := correlations[i*n : (i+1)*n]
		nearest := columns.at(values, k)
		means[i] = expected[i] + g.mean + blas64.Dot(weights, blas64.Vector{N: n, Inc: 1, Data: k})
		scores[i] = logExpectedImprovement(best, means[i], g.deviation(nearest*nearest/(1+g.noise))) + handicap[i]
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case scores[a] > scores[b]:
			return -1
		case scores[a] < scores[b]:
			return 1
		}
		return a - b
	})
	for start := 0; start < len(order) && scores[order[start]] > floor; start += solveBlock {
		block := order[start:min(start+solveBlock, len(order))]
		for j, explained := range g.explained(correlations, block) {
			i := block[j]
			scores[i] = logExpectedImprovement(best, means[i], g.deviation(explained)) + handicap[i]
			floor = max(floor, scores[i])
		}
	}
	return scores
}

// sized returns a slice of n numbers, whatever they are, in old's memory where
// that is large enough.
func sized(old []float64, n int) []float64 {
	if cap(old) < n {
		return make([]float64, n)
	}
	return old[:n]
}

// explained returns the share of the variance that the observations take away
// at some candidates.
func (g *gaussianProcess) explained(correlations []float64, block []int) []float64 {
	n, width := len(g.points), len(block)
	g.solved = sized(g.solved, n*width)
	solved := blas64.General{Rows: n, Cols: width, Stride: width, Data: g.solved}
	for j, candidate := range block {
		for i, k := range correlations[candidate*n : (candidate+1)*n] {
			solved.Data[i*width+j] = k
		}
	}
	blas64.Trsm(blas.Left, blas.NoTrans, 1, g.factor, solved)
	sums := make([]float64, width)
	for i := range n {
		for j, value := range solved.Data[i*width : (i+1)*width] {
			sums[j] += value * value
		}
	}
	return sums
}

func (g *gaussianProcess) deviation(explained float64) float64 {
	return math.Sqrt(g.variance * max(1-explained, 1e-10))
}

// logExpectedImprovement returns the logarithm of E[max(best − Y, 0)] for a
// normal Y. The logarithm keeps apart what would underflow to 0.
func logExpectedImprovement(best, mean, deviation float64) float64 {
	u := (best - mean) / deviation
	if u < -5 {
		// φ(u) + uΦ(u) is the difference of two nearly equal numbers here;
		// its asymptotic series begins φ(u)/u² · (1 − 3/u²).
		return math.Log(deviation) - u*u/2 - math.Log(2*math.Pi)/2 - 2*math.Log(-u) + math.Log1p(-3/(u*u))
	}
	density := math.Exp(-u*u/2) / math.Sqrt(2*math.Pi)
	return math.Log(deviation) + math.Log(density+u*math.Erfc(-u/math.Sqrt2)/2)
}
