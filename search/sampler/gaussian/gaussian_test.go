package gaussian

import (
	"math"
	"math/rand/v2"
	"testing"

	"pawl/space"
)

// settings are those of the samplers.
var settings = Settings{
	LengthPrior: -0.35, LengthSpread: 0.7, AlignmentPrior: 0.35, SinglePrior: 1.75,
	NoisePrior: -4.6, NoiseSpread: 1.5, MainEffectSpread: 1, FitSteps: 20, LabelBlur: 0.1,
	TrendFit: 64, TrendMost: 120, TrendSweeps: 30,
	FollowMisses: 3, FollowCut: -0.5, FollowPrecision: 4,
}

func integers(values ...int64) []space.Value {
	var list []space.Value
	for _, v := range values {
		list = append(list, space.IntegerValue(v))
	}
	return list
}

func ordered(name string, values ...int64) space.Param {
	return space.Param{Name: name, Values: integers(values...), Default: space.IntegerValue(values[0]), Ordered: true}
}

func poolOf(t testing.TB, params ...space.Param) *space.Pool {
	t.Helper()
	s, err := space.New(params, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	pool, err := s.Pool(space.PoolOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return pool
}

// kernelPool is a small space with every kind of parameter.
func kernelPool(t testing.TB) *space.Pool {
	layout := space.Param{Name: "LAYOUT", Default: space.TextValue("row")}
	for _, text := range []string{"row", "column", "tiled"} {
		layout.Values = append(layout.Values, space.TextValue(text))
	}
	padded := space.Param{
		Name:    "PADDED",
		Default: space.BooleanValue(false),
		Values:  []space.Value{space.BooleanValue(false), space.BooleanValue(true)},
	}
	return poolOf(t, ordered("BLOCK", 16, 32, 48, 64, 80, 96, 112, 128), ordered("TILE", 1, 2, 4, 8), layout, padded,
		ordered("FIXED", 7))
}

// kernelTime is a smooth objective with an interaction and its optimum of 1 ms
// at BLOCK=96, TILE=4, LAYOUT=column, PADDED=true.
func kernelTime(pool *space.Pool, index int) float64 {
	row := pool.Row(index)
	block, tile := float64(row[0]), float64(row[1])
	time := 1 + 0.08*(block-5)*(block-5) + 0.2*(tile-2)*(tile-2) + 0.05*math.Abs(block-5)*math.Abs(tile-2)
	if row[2] != 1 {
		time += 0.5
	}
	if row[3] != 1 {
		time *= 1.2
	}
	return time
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > tolerance {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

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
	near(t, "at u = 0", LogExpectedImprovement(1, 1, 2), math.Log(2*0.3989422804), 1e-9)
	near(t, "at u = -4.9", LogExpectedImprovement(0, 4.9, 1), -16.2128164, 1e-6)
	near(t, "at u = -6, by the series", LogExpectedImprovement(0, 6, 1), -22.5788794, 0.02)
	if a, b := LogExpectedImprovement(0, 4.999999, 1), LogExpectedImprovement(0, 5.000001, 1); math.Abs(a-b) > 0.03 {
		t.Errorf("the series jumps from %v to %v", a, b)
	}
	if got := LogExpectedImprovement(0, 1e6, 1e-3); math.IsInf(got, 0) || math.IsNaN(got) {
		t.Errorf("far away it is %v", got)
	}
}

// modelData is a random sample of the kernel pool.
func modelData(t *testing.T, shape Shape, n int) (points [][]uint16, y []float64) {
	pool := kernelPool(t)
	rng := rand.New(rand.NewPCG(4, 4))
	for _, i := range rng.Perm(pool.Len())[:n] {
		points = append(points, ValuesOf(shape.Axes, pool.Row(i)))
		y = append(y, math.Log(kernelTime(pool, i)))
	}
	return points, y
}

func TestGradientByDifferences(t *testing.T) {
	shape := NewShape(kernelPool(t).Space(), settings)
	points, y := modelData(t, shape, 20)
	y = centered(y)
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

func TestFitFindsTheParameterThatMatters(t *testing.T) {
	shape := NewShape(kernelPool(t).Space(), settings)
	points, _ := modelData(t, shape, 60)
	y := make([]float64, len(points))
	for i, p := range points {
		y[i] = math.Sin(2 * float64(p[1])) // TILE alone
	}
	fitted := fit(shape, points, centered(y))
	shortest := make([]float64, len(shape.Axes)) // log length of each axis's features, above the prior
	for i, f := range shape.features {
		shortest[f.axis] = min(shortest[f.axis], fitted[i]-f.prior)
	}
	for axis, length := range shortest {
		if axis != 1 && length < shortest[1]+0.5 {
			t.Errorf("axis %d has a log length of %.2f above its prior, TILE of %.2f", axis, length, shortest[1])
		}
	}
	if noise := shape.noise(fitted); noise > 0.01 {
		t.Errorf("noise ratio %v of exact observations", noise)
	}
}

func TestExtendingIsFactorising(t *testing.T) {
	shape := NewShape(kernelPool(t).Space(), settings)
	points, y := modelData(t, shape, 40)
	c := newCorrelation(shape, shape.prior())
	whole := newProcess(c, 0.01, points)
	grown := newProcess(c, 0.01, points[:5])
	for _, p := range points[5:] {
		grown.Extend(p)
	}
	whole.Condition(y)
	grown.Condition(y)
	for i := range points {
		near(t, "a weight", grown.weights[i], whole.weights[i], 1e-9)
	}
	// And back.
	grown.Shrink(10)
	for _, p := range points[10:] {
		grown.Extend(p)
	}
	grown.Condition(y)
	near(t, "the last weight", grown.weights[39], whole.weights[39], 1e-9)
}

func TestPosteriorByHand(t *testing.T) {
	shape := NewShape(poolOf(t, ordered("A", 1, 2, 4)).Space(), settings)
	c := newCorrelation(shape, shape.prior())
	const noise = 0.1
	g := newProcess(c, noise, [][]uint16{{0}, {2}})
	g.Condition([]float64{3, 1})
	// Two observations of mean 2 and residuals ±1. With r their correlation and
	// k that of the candidate to each, (K + ηI)⁻¹ has the eigenvectors (1, 1)
	// and (1, −1): the residuals lie along the second, to which the candidate
	// in the middle is orthogonal. So its mean is 2, the signal variance
	// 1/(1 + η − r), and the share explained 2k²/(1 + η + r).
	r, k := c.at([]uint16{0}, []uint16{2}), c.at([]uint16{0}, []uint16{1})
	near(t, "the variance", g.variance, 1/(1+noise-r), 1e-12)
	// Left out, the first is expected at 2 − r/(1 + η), where it was 3, and the second symmetrically.
	near(t, "the error of the first", g.LeaveOneOut()[0], 1+r/(1+noise), 1e-12)
	near(t, "the error of the second", g.LeaveOneOut()[1], -1-r/(1+noise), 1e-12)
	want := LogExpectedImprovement(1, 2, math.Sqrt(g.variance*(1-2*k*k/(1+noise+r))))
	near(t, "the improvement", g.LogImprovement([][]uint16{{1}}, []float64{0}, []float64{0}, 1, math.Inf(-1))[0], want,
		1e-9)
}

func TestBoundsNeverHideTheBest(t *testing.T) {
	shape := NewShape(kernelPool(t).Space(), settings)
	points, y := modelData(t, shape, 30)
	g := newProcess(newCorrelation(shape, shape.prior()), 0.01, points)
	g.Condition(y)
	candidates := ValuesOfAll(shape.Axes, kernelPool(t), allOf(kernelPool(t).Len()))
	logWeights := make([]float64, len(candidates))
	together := g.LogImprovement(candidates, make([]float64, len(candidates)), logWeights, 0, math.Inf(-1))
	best, alone := math.Inf(-1), math.Inf(-1)
	for i, c := range candidates {
		exact := g.LogImprovement([][]uint16{c}, []float64{0}, logWeights[:1], 0, math.Inf(-1))[0]
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

func TestClassifierByHand(t *testing.T) {
	// One working and one failing point at correlation r: the mean label is 0,
	// the residuals ±1, and at the working point itself, whose correlations
	// are 1 and r, the mean is (1 − r)/(1 + η − r).
	shape := NewShape(poolOf(t, ordered("A", 1, 2, 4)).Space(), settings)
	const noise = 0.1
	process := newProcess(newCorrelation(shape, shape.prior()), noise, [][]uint16{{0}, {2}})
	f := NewClassifier(shape, process, []float64{1, -1})
	r := process.at([]uint16{0}, []uint16{2})
	mean := (1 - r) / (1 + noise - r)
	variance := process.variance * (1 - 1/(1+noise))
	want := math.Log(0.5 * math.Erfc(-mean/math.Sqrt(2*(variance+settings.LabelBlur))))
	near(t, "the log probability", f.LogProbability([]uint16{0}), want, 1e-9)
}

// at is the correlation of two points.
func (c *correlation) at(a, b []uint16) float64 {
	into := []float64{0}
	c.row(a, [][]uint16{b}, into)
	return into[0]
}
