package search

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestMaternByHand(t *testing.T) {
	// (1 + √5 + 5/3) e^-√5 = 0.523994 at a distance of one length.
	value, slope := logMatern(0.7, 0.7)
	near(t, "the correlation", math.Exp(value), 0.5239941088, 1e-9)
	const step = 1e-6
	up, _ := logMatern(0.7, 0.7*math.Exp(step))
	down, _ := logMatern(0.7, 0.7*math.Exp(-step))
	near(t, "the slope", slope, (up-down)/(2*step), 1e-6)
}

func TestLogExpectedImprovement(t *testing.T) {
	// At the best itself it is φ(0) = 0.398942 deviations. The others are
	// log(φ(u) + uΦ(u)) in double precision, which is good to six digits there.
	near(t, "at u = 0", logExpectedImprovement(1, 1, 2), math.Log(2*0.3989422804), 1e-9)
	near(t, "at u = -4.9", logExpectedImprovement(0, 4.9, 1), -16.2128164, 1e-6)
	near(t, "at u = -6, by the series", logExpectedImprovement(0, 6, 1), -22.5788794, 0.02)
	if a, b := logExpectedImprovement(0, 4.999999, 1), logExpectedImprovement(0, 5.000001, 1); math.Abs(a-b) > 0.03 {
		t.Errorf("the series jumps from %v to %v", a, b)
	}
	if got := logExpectedImprovement(0, 1e6, 1e-3); math.IsInf(got, 0) || math.IsNaN(got) {
		t.Errorf("far away it is %v", got)
	}
}

// modelData is a random sample of the kernel pool.
func modelData(t *testing.T, shape kernelShape, n int) (points [][]uint16, y []float64) {
	pool := kernelPool(t)
	rng := rand.New(rand.NewPCG(4, 4))
	for _, i := range rng.Perm(pool.Len())[:n] {
		points = append(points, valuesOf(shape.axes, pool.Row(i)))
		y = append(y, math.Log(kernelTime(pool, i)))
	}
	return points, y
}

func TestGradientByDifferences(t *testing.T) {
	for _, mainEffects := range []bool{false, true} {
		shape := newKernelShape(kernelPool(t).Space(), mainEffects, true)
		points, y := modelData(t, shape, 20)
		y = centred(y)
		p := shape.prior()
		for i := range p {
			p[i] += 0.3 * math.Sin(float64(i))
		}
		gradient, scratch := make([]float64, len(p)), make([]float64, len(p))
		if _, ok := shape.negativeLogPosterior(points, y, p, gradient); !ok {
			t.Fatal("no Cholesky factor")
		}
		for i := range p {
			const step = 1e-5
			p[i] += step
			up, _ := shape.negativeLogPosterior(points, y, p, scratch)
			p[i] -= 2 * step
			down, _ := shape.negativeLogPosterior(points, y, p, scratch)
			p[i] += step
			near(t, "a component of the gradient", gradient[i], (up-down)/(2*step), 1e-5)
		}
	}
}

func TestFitFindsTheParameterThatMatters(t *testing.T) {
	shape := newKernelShape(kernelPool(t).Space(), false, false)
	points, _ := modelData(t, shape, 60)
	y := make([]float64, len(points))
	for i, p := range points {
		y[i] = math.Sin(2 * float64(p[1])) // TILE alone
	}
	fitted := fitParameters(shape, points, centred(y))
	for i, f := range shape.features {
		if f.axis != 1 && fitted[i] < fitted[1]+1 && shape.features[1].axis == 1 {
			t.Errorf("feature %d of axis %d has the log length %.2f, TILE %.2f", i, f.axis, fitted[i], fitted[1])
		}
	}
	if noise := shape.noise(fitted); noise > 0.01 {
		t.Errorf("noise ratio %v of exact observations", noise)
	}
}

func TestExtendingIsFactorising(t *testing.T) {
	shape := newKernelShape(kernelPool(t).Space(), true, true)
	points, y := modelData(t, shape, 40)
	c := newCorrelation(shape, shape.prior())
	whole := newGaussianProcess(c, 0.01, points)
	grown := newGaussianProcess(c, 0.01, points[:5])
	for _, p := range points[5:] {
		grown.extend(p)
	}
	whole.condition(y)
	grown.condition(y)
	for i := range points {
		near(t, "a weight", grown.weights[i], whole.weights[i], 1e-9)
	}
	// And back.
	grown.shrink(10)
	for _, p := range points[10:] {
		grown.extend(p)
	}
	grown.condition(y)
	near(t, "the last weight", grown.weights[39], whole.weights[39], 1e-9)
}

func TestPosteriorByHand(t *testing.T) {
	shape := newKernelShape(poolOf(t, ordered("A", 1, 2, 4)).Space(), false, false)
	c := newCorrelation(shape, shape.prior())
	const noise = 0.1
	g := newGaussianProcess(c, noise, [][]uint16{{0}, {2}})
	g.condition([]float64{3, 1})
	// Two observations of mean 2 and residuals ±1. With r their correlation and
	// k that of the candidate to each, (K + ηI)⁻¹ has the eigenvectors (1, 1)
	// and (1, −1): the residuals lie along the second, to which the candidate
	// in the middle is orthogonal. So its mean is 2, the signal variance
	// 1/(1 + η − r), and the share explained 2k²/(1 + η + r).
	r, k := c.at([]uint16{0}, []uint16{2}), c.at([]uint16{0}, []uint16{1})
	near(t, "the variance", g.variance, 1/(1+noise-r), 1e-12)
	want := logExpectedImprovement(1, 2, math.Sqrt(g.variance*(1-2*k*k/(1+noise+r))))
	near(t, "the improvement", g.logImprovement([][]uint16{{1}}, []float64{0}, []float64{0}, 1, math.Inf(-1))[0], want, 1e-9)
}

func TestBoundsNeverHideTheBest(t *testing.T) {
	shape := newKernelShape(kernelPool(t).Space(), true, false)
	points, y := modelData(t, shape, 30)
	g := newGaussianProcess(newCorrelation(shape, shape.prior()), 0.01, points)
	g.condition(y)
	candidates := valuesOfAll(shape.axes, kernelPool(t), allOf(kernelPool(t).Len()))
	handicap := make([]float64, len(candidates))
	together := g.logImprovement(candidates, make([]float64, len(candidates)), handicap, 0, math.Inf(-1))
	best, alone := math.Inf(-1), math.Inf(-1)
	for i, c := range candidates {
		exact := g.logImprovement([][]uint16{c}, []float64{0}, handicap[:1], 0, math.Inf(-1))[0]
		best, alone = max(best, together[i]), max(alone, exact)
		if together[i] < exact-1e-9 {
			t.Errorf("candidate %d: %v is no upper bound of %v", i, together[i], exact)
		}
	}
	near(t, "the best improvement", best, alone, 1e-9)
}

func allOf(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

func TestScaledTimes(t *testing.T) {
	// Logarithms 0, 1, 2, 4: the median is that of e², the scale 2; e⁴ is one
	// scale above and compressed to log 2. The failure stands at the median.
	got := scaledTimes([]float64{1, math.E, failedTime, math.Exp(2), math.Exp(4)})
	for i, want := range []float64{-1, -0.5, 0, 0, math.Ln2} {
		near(t, "a scaled time", got[i], want, 1e-12)
	}
}

func TestFeasibilityLearnsFromFailures(t *testing.T) {
	pool := kernelPool(t)
	g := newGP(pool.Space()).(*gpSampler)
	view := NewView(pool)
	if g.feasible(view).logProbability([]uint16{0, 0, 0, 0}) != 0 {
		t.Error("before any failure a point is not certain to work")
	}
	// A corner fails: large blocks with large tiles. One point in three is
	// known.
	fails := func(index int) bool { row := pool.Row(index); return row[0] >= 4 && row[1] >= 2 }
	for i := 0; i < pool.Len(); i += 3 {
		view.Ask(i)
		view.Tell(Observation{Index: i, Failed: fails(i), Milliseconds: 1})
	}
	f := g.feasible(view)
	wrong := 0
	for i := range pool.Len() {
		p := math.Exp(f.logProbability(valuesOf(g.shape.axes, pool.Row(i))))
		if p < 0 || p > 1 {
			t.Fatalf("the probability is %v", p)
		}
		if view.Free(i) && (p < 0.5) != fails(i) {
			wrong++
		}
	}
	if share := float64(wrong) / float64(view.FreeCount()); share > 0.05 {
		t.Errorf("%.0f %% of the unseen points are on the wrong side", 100*share)
	}
}

func TestFeasibilityByHand(t *testing.T) {
	// One working and one failing point at correlation r: the mean label is 0,
	// the residuals ±1, and at the working point itself, whose correlations
	// are 1 and r, the mean is (1 − r)/(1 + η − r).
	shape := newKernelShape(poolOf(t, ordered("A", 1, 2, 4)).Space(), false, false)
	const noise = 0.1
	process := newGaussianProcess(newCorrelation(shape, shape.prior()), noise, [][]uint16{{0}, {2}})
	process.condition([]float64{1, -1})
	r := process.at([]uint16{0}, []uint16{2})
	f := &feasibility{process: process, columns: newColumns(process), scratch: make([]float64, 2)}
	mean := (1 - r) / (1 + noise - r)
	variance := process.variance * (1 - 1/(1+noise))
	want := math.Log(0.5 * math.Erfc(-mean/math.Sqrt(2*(variance+feasibilityBlur))))
	near(t, "the log probability", f.logProbability([]uint16{0}), want, 1e-9)
}
