package search

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/c-bata/goptuna"

	"pawl/space"
)

// Sampler chooses the next point. It is a function of the view and the random
// source alone, so that the same seed and the same answers lead to the same
// points, also across an interruption; what it keeps between calls may only
// save time.
type Sampler interface {
	// Next returns the position in view.Pool of a free point. It is called
	// only while there is one.
	Next(view *View, rng *rand.Rand) int
}

// samplers is the registry, in the order of the documentation.
var samplers = []struct {
	name  string
	build func(*space.Space) Sampler
}{
	{"random", func(*space.Space) Sampler { return randomSampler{} }},
	{"grid", func(*space.Space) Sampler { return gridSampler{} }},
	{"tpe", newTPE},
	{"gp", newGP},
	{"forest", newForest},
	{"evolve", newEvolve},
	{"auto", newAuto},
}

// SamplerNames returns the names of the samplers.
func SamplerNames() []string {
	var names []string
	for _, s := range samplers {
		names = append(names, s.name)
	}
	return names
}

// NewSampler returns a sampler by name.
func NewSampler(name string, s *space.Space) (Sampler, error) {
	i := slices.Index(SamplerNames(), name)
	if i < 0 {
		return nil, fmt.Errorf("no sampler %q; there are %s", name, strings.Join(SamplerNames(), ", "))
	}
	return samplers[i].build(s), nil
}

// relativeSampler plugs a Sampler into goptuna. goptuna's parameters are all
// categorical, with the position of the value as the internal number: our
// samplers know themselves what is ordered.
type relativeSampler struct {
	sampler Sampler
	view    *View
	seed    uint64
	// forced is the point that the next trial gets without asking the sampler:
	// the default comes first, and trials of an interrupted run again.
	forced *int
	chosen int
}

var _ goptuna.RelativeSampler = (*relativeSampler)(nil)

// SampleRelative answers goptuna with the chosen point, parameter by parameter.
func (r *relativeSampler) SampleRelative(_ *goptuna.Study, trial goptuna.FrozenTrial, _ map[string]any) (map[string]float64, error) {
	if r.forced != nil {
		r.chosen = *r.forced
	} else {
		// A random source of its own per trial: the points of later trials do
		// not depend on how many numbers an earlier one has drawn.
		r.chosen = r.sampler.Next(r.view, rand.New(rand.NewPCG(r.seed, uint64(trial.Number))))
		if !r.view.Free(r.chosen) {
			panic(fmt.Sprintf("search: a sampler proposed %s again", r.view.Pool.Point(r.chosen)))
		}
	}
	internal := map[string]float64{}
	row := r.view.Pool.Row(r.chosen)
	for i, p := range r.view.Pool.Space().Params() {
		internal[p.Name] = float64(row[i])
	}
	return internal, nil
}
