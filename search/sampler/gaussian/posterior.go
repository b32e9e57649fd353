package gaussian

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// Process is a Gaussian process conditioned on observations.
type Process struct {
	*correlation
	noise  float64
	points [][]uint16
	// factor is the lower Cholesky factor of the correlations with the noise, with room to grow.
	factor blas64.Triangular
	mean   float64
	// variance is the signal's; weights are what the correlations with the observations are summed up with.
	variance float64
	weights  []float64
	// products are over the correlations axis by axis, nil until they are needed.
	products *Products
	// Scratch: what every call of LogImprovement needs anew.
	scratch []float64
}

// newProcess factorises the first points at once. Others are added by Extend, in the same order, whether now or later.
func newProcess(c *correlation, noise float64, points [][]uint16) *Process {
	g := &Process{correlation: c, points: slices.Clone(points)}
	n := len(points)
	room := n + n/4 + 8
	for g.noise = noise; ; g.noise *= 10 {
		data := make([]float64, room*room)
		for a := range n {
			c.row(points[a], points[:a], data[a*room:])
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

// Extend adds one point to the factor, in n² steps instead of n³.
func (g *Process) Extend(point []uint16) {
	n := len(g.points)
	if n == g.factor.Stride {
		g.grow()
	}
	row := g.factor.Data[n*g.factor.Stride:][:n+1]
	g.row(point, g.points, row)
	vector := blas64.Vector{N: n, Inc: 1, Data: row[:n]}
	blas64.Trsv(blas.NoTrans, g.factor, vector)
	row[n] = math.Sqrt(max(1+g.noise-blas64.Dot(vector, vector), 1e-10))
	g.factor.N++
	g.points = append(g.points, point)
}

func (g *Process) grow() {
	from := g.factor.Stride
	to := 2 * from
	data := make([]float64, to*to)
	for i := range len(g.points) {
		copy(data[i*to:i*to+i+1], g.factor.Data[i*from:i*from+i+1])
	}
	g.factor.Data, g.factor.Stride = data, to
}

// Shrink takes the last points out again.
func (g *Process) Shrink(points int) {
	g.points, g.factor.N = g.points[:points], points
}

// Condition sets the observed values of the first len(y) points. Points beyond
// are pending: they are taken to come out as predicted (kriging believer,
// Ginsbourger et al. 2010), which leaves the predictions as they are and takes
// the uncertainty away round them.
func (g *Process) Condition(y []float64) {
	observed := len(y)
	g.mean = mean(y)
	part := g.factor
	part.N = observed
	g.weights = make([]float64, len(g.points))
	for i, value := range y {
		g.weights[i] = value - g.mean
	}
	vector := blas64.Vector{N: observed, Inc: 1, Data: g.weights[:observed]}
	blas64.Trsv(blas.NoTrans, part, vector)
	g.variance = max(blas64.Dot(vector, vector)/float64(observed), 1e-12)
	// A pending point has the residual 0: its weight is 0 and the others stay.
	blas64.Trsv(blas.Trans, part, vector)
	g.products = nil
}

// Inflate multiplies the deviations of a conditioned process.
func (g *Process) Inflate(factor float64) { g.variance *= factor * factor }

// correlations fills into with the correlations of a candidate with the observed
// and pending points, and returns the largest.
func (g *Process) correlations(values []uint16, into []float64) (nearest float64) {
	if g.products == nil {
		g.products = NewProducts(g.tables, g.points)
	}
	products, sums := g.products.At(values)
	one, all := g.share/float64(len(values)), 1-g.share
	for i := range into {
		k := one*sums[i] + all*products[i]
		if k > nearest {
			nearest = k
		}
		into[i] = k
	}
	return nearest
}

// solveBlock is the number of candidates that are solved for between two looks at the leaders.
const solveBlock = 32

// LogImprovement returns the logarithm of the expected improvement over best of
// each candidate, plus its log weight. Expected is what is known of the candidates
// from elsewhere; the process models the residual. The exact variance takes a
// triangular solve, and what the nearest observation leaves of it is an upper bound, as is what
// the first part of a solve leaves. So a candidate whose bound is below the floor, or below what
// Leaders others have exactly, gets a bound instead.
func (g *Process) LogImprovement(candidates [][]uint16, expected, logWeights []float64, best, floor float64) []float64 {
	n := len(g.points)
	g.scratch = slices.Grow(g.scratch[:0], n*len(candidates))[:n*len(candidates)]
	means, scores := make([]float64, len(candidates)), make([]float64, len(candidates))
	order := make([]int, len(candidates))
	for i, values := range candidates {
		k := g.scratch[i*n : (i+1)*n]
		nearest := g.correlations(values, k)
		means[i] = expected[i] + g.mean + floats.Dot(g.weights, k)
		scores[i] = LogExpectedImprovement(best, means[i], g.deviation(nearest*nearest/(1+g.noise))) + logWeights[i]
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(scores[b], scores[a]), a-b) })
	leaders := leaders{floor, floor, floor}
	for start := 0; start < len(order) && scores[order[start]] > leaders[0]; start += solveBlock {
		block := order[start:min(start+solveBlock, len(order))]
		for _, i := range block {
			g.solve(g.scratch[i*n:(i+1)*n], func(explained float64) bool {
				scores[i] = LogExpectedImprovement(best, means[i], g.deviation(explained)) + logWeights[i]
				return scores[i] >= leaders[Leaders-1]
			})
		}
		for _, i := range block {
			leaders.add(scores[i])
		}
	}
	return scores
}

// Leaders is how many of the best candidates are ranked as if every solve had gone to the end: as many
// as a search climbs from.
const Leaders = 3

// leaders are the largest scores so far, the largest first.
type leaders [Leaders]float64

func (l *leaders) add(score float64) {
	for i, other := range l {
		if score > other {
			copy(l[i+1:], l[i:])
			l[i] = score
			return
		}
	}
}

// Predict returns the means and deviations of points.
func (g *Process) Predict(points [][]uint16) (means, deviations []float64) {
	k := make([]float64, len(g.points))
	for _, values := range points {
		g.correlations(values, k)
		mean, all := g.mean, 0.0
		for j, weight := range g.weights {
			mean += weight * k[j]
		}
		g.solve(k, func(explained float64) bool {
			all = explained
			return true
		})
		means, deviations = append(means, mean), append(deviations, g.deviation(all))
	}
	return means, deviations
}

// LeaveOneOut returns by how much each observation is off from what the others predict, without fitting them anew
// (Rasmussen and Williams 2006, 5.4.2). The process has no points beyond them.
func (g *Process) LeaveOneOut() []float64 {
	n := g.factor.N
	inverse := blas64.Triangular{N: n, Stride: n, Uplo: blas.Lower, Diag: blas.NonUnit, Data: make([]float64, n*n)}
	for i := range n {
		copy(inverse.Data[i*n:i*n+i+1], g.factor.Data[i*g.factor.Stride:])
	}
	lapack64.Potri(inverse)
	errors := make([]float64, n)
	for i := range errors {
		errors[i] = g.weights[i] / inverse.Data[i*n+i]
	}
	return errors
}

// solveRows is after how many observations solve asks whether to go on.
const solveRows = 32

// solve is a triangular solve for a candidate, in place of its correlations. The squares sum up to the share of the
// variance that the observations take away. On the way it tells what the observations so far have taken, which can
// only grow, and ends where the candidate is not worth going on with. Candidates are solved one by one: few are left
// soon, and a product over the observations is long whatever is left.
func (g *Process) solve(solved []float64, goOn func(explained float64) bool) {
	explained := 0.0
	for i := range solved {
		row := g.factor.Data[i*g.factor.Stride:][:i+1]
		solved[i] = (solved[i] - floats.Dot(row[:i], solved[:i])) / row[i]
		explained += solved[i] * solved[i]
		if ((i+1)%solveRows == 0 || i+1 == len(solved)) && !goOn(explained) {
			break
		}
	}
}

func (g *Process) deviation(explained float64) float64 {
	return math.Sqrt(g.variance * max(1-explained, 1e-10))
}

// LogExpectedImprovement returns the logarithm of E[max(best − Y, 0)] for a
// normal Y. The logarithm keeps apart what would underflow to 0.
func LogExpectedImprovement(best, mean, deviation float64) float64 {
	u := (best - mean) / deviation
	if u < -5 {
		// φ(u) + uΦ(u) is the difference of two nearly equal numbers here; its asymptotic series begins φ(u)/u² · (1 − 3/u²).
		return math.Log(deviation) - u*u/2 - math.Log(2*math.Pi)/2 - 2*math.Log(-u) + math.Log1p(-3/(u*u))
	}
	density := math.Exp(-u*u/2) / math.Sqrt(2*math.Pi)
	return math.Log(deviation) + math.Log(density+u*math.Erfc(-u/math.Sqrt2)/2)
}
