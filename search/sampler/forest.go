package sampler

import (
	"math"
	"math/rand/v2"
	"slices"

	"pawl/search/sampler/gaussian"
	"pawl/space"
)

// forestSampler asks a forest of extremely randomised trees (Geurts et al. 2006)
// for the point with the largest expected improvement, times the probability
// that it works, as SMAC does (Hutter et al. 2011). Trees need no lengths and do
// not mind cliffs; what they know between observations is coarse.
//
// Times are scaled as for the Gaussian process, failures included. Pending
// points stand at the median too: a median point is worth no second try.
type forestSampler struct {
	common
	cuts []cut
}

var _ Sampler = (*forestSampler)(nil)

// cut is one way to split an axis: by a threshold on the places of its values.
type cut struct {
	axis   int
	places []float64
	// identity splits one place off instead of cutting between two.
	identity bool
}

func newForest(c common, s *space.Space) *forestSampler {
	f := &forestSampler{common: c}
	for j, a := range f.axes {
		f.cuts = append(f.cuts, cut{axis: j, places: a.Coordinates, identity: !a.Ordered})
		if a.Ordered && a.Values() > 2 {
			if places := gaussian.Alignments(s.Params()[a.Position]); places != nil {
				f.cuts = append(f.cuts, cut{axis: j, places: places})
			}
		}
	}
	return f
}

func (f *forestSampler) Next(view *View, rng *rand.Rand) int {
	settings := f.settings.Forest
	data := f.training(view, view.Observations, settings.Most)
	works := f.classifier(view, rng)
	if len(view.Observations)+len(view.Pending) < settings.Startup ||
		len(working(data.Values)) < f.settings.Search.Fewest || len(f.axes) == 0 {
		return f.start(view, rng, works.logProbability)
	}
	y := scaledTimes(data.Values)
	best := slices.Min(y)
	points := data.Points
	for _, index := range view.Pending {
		points = append(points, gaussian.ValuesOf(f.axes, view.Pool.Row(index)))
		y = append(y, 0) // the median
	}
	times := f.grow(settings.Trees, points, y, rng)
	costs := f.costs(view)
	return f.climb(view, rng, settings.Candidates, func(candidates []int, _ float64) []float64 {
		scores := make([]float64, len(candidates))
		for i, values := range gaussian.ValuesOfAll(f.axes, view.Pool, candidates) {
			mean, deviation := f.predict(times, values)
			scores[i] = gaussian.LogExpectedImprovement(best, mean, deviation) + works.logProbability(values) -
				view.CostWeight*costs.log(values)
		}
		return scores
	})
}

func (f *forestSampler) grow(count int, points [][]uint16, y []float64, rng *rand.Rand) []*tree {
	g := observed{cuts: f.cuts, leaf: f.settings.Forest.Leaf, y: y}
	for _, c := range f.cuts {
		column := make([]float64, len(points))
		for i, point := range points {
			column[i] = c.places[point[c.axis]]
		}
		g.places = append(g.places, column)
	}
	trees := make([]*tree, count)
	members := make([]int, len(points))
	for t := range trees {
		for i := range members {
			members[i] = i
		}
		trees[t] = &tree{nodes: make([]node, 1, 2*len(points)+1)}
		trees[t].split(0, &g, members, rng)
	}
	return trees
}

// observed is what the trees of a forest are grown from.
type observed struct {
	cuts []cut
	leaf int
	// places[c][i] is the place of observation i on cut c: looked up once, not at every split of every tree.
	places [][]float64
	y      []float64
}

// forestClassifier is a forest whose mean is the share of points that work.
type forestClassifier struct {
	forest *forestSampler
	trees  []*tree
	prior  float64
}

// classifier returns nil while nothing has failed.
func (f *forestSampler) classifier(view *View, rng *rand.Rand) *forestClassifier {
	share := view.workingShare()
	if share == 1 {
		return nil
	}
	data := f.labels(view, view.Observations, f.settings.Forest.Most/2, 1, 0)
	return &forestClassifier{
		forest: f,
		trees:  f.grow(f.settings.Forest.LabelTrees, data.Points, data.Values, rng),
		prior:  share,
	}
}

func (c *forestClassifier) logProbability(values []uint16) float64 {
	if c == nil {
		return 0
	}
	share, _ := c.forest.predict(c.trees, values)
	// Trees are surer than their few observations allow.
	return math.Log(0.95*share + 0.05*max(c.prior, 0.01))
}

// tree is a regression tree in one slice; the root is node 0.
type tree struct{ nodes []node }

type node struct {
	cut       int // -1 for a leaf
	threshold float64
	left      int // the right child follows
	mean      float64
	variance  float64
}

// split grows the tree below a node over some members, which it reorders.
func (t *tree) split(at int, g *observed, members []int, rng *rand.Rand) {
	mean, variance := moments(g.y, members)
	t.nodes[at] = node{cut: -1, mean: mean, variance: variance}
	if len(members) <= g.leaf || variance == 0 {
		return
	}
	chosen, threshold, lowest := -1, 0.0, math.Inf(1)
	for c := range g.cuts {
		candidate, ok := g.cuts[c].draw(g.places[c], members, rng)
		if !ok {
			continue
		}
		if spread := g.cuts[c].spread(g.places[c], g.y, members, candidate); spread < lowest {
			chosen, threshold, lowest = c, candidate, spread
		}
	}
	if chosen < 0 {
		return
	}
	middle := g.cuts[chosen].partition(g.places[chosen], members, threshold)
	left := len(t.nodes)
	t.nodes = append(t.nodes, node{}, node{})
	t.nodes[at].cut, t.nodes[at].threshold, t.nodes[at].left = chosen, threshold, left
	t.split(left, g, members[:middle], rng)
	t.split(left+1, g, members[middle:], rng)
}

func moments(y []float64, members []int) (mean, variance float64) {
	for _, i := range members {
		mean += y[i]
	}
	mean /= float64(len(members))
	for _, i := range members {
		variance += (y[i] - mean) * (y[i] - mean)
	}
	return mean, variance / float64(len(members))
}

// draw returns a threshold at random, or false where all members are alike.
func (c *cut) draw(places []float64, members []int, rng *rand.Rand) (float64, bool) {
	low, high := places[members[0]], places[members[0]]
	for _, i := range members[1:] {
		// Comparisons: min and max mind NaN, which takes twice as long.
		if place := places[i]; place < low {
			low = place
		} else if place > high {
			high = place
		}
	}
	if low == high {
		return 0, false
	}
	if c.identity {
		return places[members[rng.IntN(len(members))]], true
	}
	// Never the upper end, so that both sides have members.
	return low + (high-low)*rng.Float64(), true
}

// left reports on which side of the cut a place is.
func (c *cut) left(place, threshold float64) bool {
	if c.identity {
		return place == threshold
	}
	return place <= threshold
}

// spread is the sum of squares that is left within the two sides.
func (c *cut) spread(places, y []float64, members []int, threshold float64) float64 {
	var count, sum, squares [2]float64
	for _, i := range members {
		side := 0
		if c.left(places[i], threshold) {
			side = 1
		}
		count[side]++
		sum[side] += y[i]
		squares[side] += y[i] * y[i]
	}
	return squares[0] - sum[0]*sum[0]/count[0] + squares[1] - sum[1]*sum[1]/count[1]
}

// partition moves the members of the left side to the front and returns their number.
func (c *cut) partition(places []float64, members []int, threshold float64) int {
	middle := 0
	for i, member := range members {
		if c.left(places[member], threshold) {
			members[i], members[middle] = members[middle], member
			middle++
		}
	}
	return middle
}

// predict returns the mean of the trees and the deviation between and within them.
func (f *forestSampler) predict(trees []*tree, values []uint16) (mean, deviation float64) {
	var sum, squares, within float64
	for _, t := range trees {
		at := &t.nodes[0]
		for at.cut >= 0 {
			next := at.left + 1
			if c := &f.cuts[at.cut]; c.left(c.places[values[c.axis]], at.threshold) {
				next = at.left
			}
			at = &t.nodes[next]
		}
		sum += at.mean
		squares += at.mean * at.mean
		within += at.variance
	}
	count := float64(len(trees))
	mean = sum / count
	return mean, math.Sqrt(max((squares+within)/count-mean*mean, 0) + f.settings.Forest.Noise*f.settings.Forest.Noise)
}
