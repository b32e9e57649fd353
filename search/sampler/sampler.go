// Package sampler chooses the next point of a search.
//
//  1. A View is what a sampler may look at: the pool of valid points, what was
//     observed, what is pending, what earlier studies of the kernel know.
//  2. A Sampler answers a view with a free point. New returns one by name: random
//     and grid are the honest baselines, gp, evolve and goptuna the rivals, and auto, the Default,
//     is what has won by measurement (docs/search.md).
//  3. EstimateRegret says what a search has probably left behind.
//  4. Remember and Transfer translate earlier studies into a space (warm start).
//
// Samplers are pure: the same view and the same random source lead to the same
// point. Every number that was chosen by measurement stands in Settings.
package sampler

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"pawl/search/sampler/gaussian"
	"pawl/space"
)

// Sampler chooses the next point. It is a function of the view and the random
// source alone, so that the same seed and the same answers lead to the same
// points, also across an interruption; what it keeps between calls may only
// save time. One goroutine uses it at a time.
type Sampler interface {
	// Next returns the position in view.Pool of a free point. It is called only while there is one.
	Next(view *View, rng *rand.Rand) int
}

// Ranker is a sampler that also ranks the points that were asked by what is known now. A device
// that has several to choose from takes the first of them.
type Ranker interface {
	Sampler
	// Acquisition returns the value of the acquisition function at some pending points, given the
	// observations: the larger the better. At least the three largest are exact, the others may be bounds that lie below
	// them. It returns nil while too little is known. Like Next it is a function of the view.
	Acquisition(view *View, points []int) []float64
}

// Ranks reports whether a sampler is a Ranker.
func Ranks(s Sampler) bool {
	_, ok := s.(Ranker)
	return ok
}

// NextToMeasure returns the place of the one of some pending points that is to be measured first: of a
// Ranker the one with the largest acquisition, else the first.
func NextToMeasure(s Sampler, view *View, points []int) int {
	ranker, ok := s.(Ranker)
	if !ok || len(points) < 2 {
		return 0
	}
	next, acquisition := 0, ranker.Acquisition(view, points)
	for i := range acquisition {
		if acquisition[i] > acquisition[next] {
			next = i
		}
	}
	return next
}

// Default is the sampler that is used when nobody names one.
const Default = "auto"

// registry is in the order of the documentation.
var registry = []struct {
	name  string
	build func(common, *space.Space) Sampler
}{
	{"random", func(common, *space.Space) Sampler { return randomSampler{} }},
	{"grid", func(common, *space.Space) Sampler { return gridSampler{} }},
	{"gp", func(c common, s *space.Space) Sampler { return newGP(c, s) }},
	{"evolve", func(c common, _ *space.Space) Sampler { return &evolveSampler{c} }},
	{"goptuna", func(c common, s *space.Space) Sampler {
		return &goptunaSampler{settings: c.settings.Goptuna, params: s.Params()}
	}},
	{"auto", func(c common, s *space.Space) Sampler { return newAuto(c, s) }},
}

// Names returns the names of the samplers.
func Names() []string {
	var names []string
	for _, s := range registry {
		names = append(names, s.name)
	}
	return names
}

// New returns a sampler by name.
func New(name string, s *space.Space, settings Settings) (Sampler, error) {
	i := slices.Index(Names(), name)
	if i < 0 {
		return nil, fmt.Errorf("no sampler %q; there are %s", name, strings.Join(Names(), ", "))
	}
	return registry[i].build(newCommon(s, settings), s), nil
}

type common struct {
	settings Settings
	axes     []gaussian.Axis
}

func newCommon(s *space.Space, settings Settings) common {
	return common{settings: settings, axes: gaussian.Axes(s)}
}
