package sampler

import (
	"math"
	"math/rand"
	randv2 "math/rand/v2"
	"slices"
	"sync"

	"github.com/c-bata/goptuna"
	"github.com/c-bata/goptuna/tpe"

	"pawl/space"
)

// goptunaSampler is goptuna's own Tree-structured Parzen Estimator, which looks at each parameter by
// itself: at an ordered one as an integer, its position among the values, at any other as a category. It knows neither
// constraints nor what failed or is pending. So it is asked again where its answer is no free point of the pool, and
// after Goptuna.Asks times a random free point is taken. Before it has Goptuna.Startup times goptuna draws at random
// as well, but never the largest integer, so that RandomFree does it.
type goptunaSampler struct {
	settings Goptuna
	params   []space.Param
	// study has the observations that are seen.
	study *goptuna.Study
	seen  []Observation
}

// globalRand guards the source of math/rand. goptuna draws from it beside the source that it is given, so that it is
// seeded for every ask: the same view leads to the same point as long as nothing else in the process draws from it
// at the same moment. The setting randseednop=0 in go.mod lets Seed work.
var globalRand sync.Mutex

func (g *goptunaSampler) Next(view *View, rng *randv2.Rand) int {
	if len(times(view.Observations)) < g.settings.Startup {
		return RandomFree(view, rng)
	}
	g.learn(view)
	seed := int64(rng.Uint64() >> 1)
	estimator := tpe.NewSampler(tpe.SamplerOptionSeed(seed), tpe.SamplerOptionNumberOfStartupTrials(g.settings.Startup))
	globalRand.Lock()
	defer globalRand.Unlock()
	seedGlobal(seed)
	defer seedGlobal(int64(randv2.Uint64() >> 1)) // as unpredictable as it was
	for range g.settings.Asks {
		if row, ok := g.suggest(estimator); ok {
			if index, valid := view.Pool.Find(row); valid && view.Free(index) {
				return index
			}
		}
	}
	return RandomFree(view, rng)
}

func seedGlobal(seed int64) {
	//lint:ignore SA1019 goptuna draws from the global source and has no other way to be repeatable
	rand.Seed(seed)
}

// suggest asks for a value of each parameter that has several.
func (g *goptunaSampler) suggest(estimator *tpe.Sampler) (row space.Row, ok bool) {
	row = make(space.Row, len(g.params))
	for i, p := range g.params {
		if len(p.Values) == 1 {
			continue
		}
		value, err := estimator.Sample(g.study, goptuna.FrozenTrial{}, p.Name, distribution(p))
		if err != nil {
			panic("sampler: goptuna: " + err.Error()) // its storage is in memory and has every parameter
		}
		if value < 0 || int(value) >= len(p.Values) {
			return nil, false
		}
		row[i] = uint16(math.Round(value))
	}
	return row, true
}

func distribution(p space.Param) any {
	if p.Ordered {
		return goptuna.IntUniformDistribution{High: len(p.Values) - 1}
	}
	return goptuna.CategoricalDistribution{Choices: make([]string, len(p.Values))}
}

// learn gives goptuna the observations that it has not seen.
func (g *goptunaSampler) learn(view *View) {
	known := len(g.seen)
	if g.study == nil || known > len(view.Observations) || !slices.Equal(g.seen, view.Observations[:known]) {
		known = 0
		g.study = &goptuna.Study{ID: goptuna.InMemoryStorageStudyID, Storage: goptuna.NewInMemoryStorage()}
	}
	for _, o := range view.Observations[known:] {
		trial := goptuna.FrozenTrial{
			State: goptuna.TrialStateComplete, Value: o.Milliseconds, InternalParams: map[string]float64{},
		}
		if o.Failed {
			trial.State = goptuna.TrialStateFail
		}
		row := view.Pool.Row(o.Index)
		for i, p := range g.params {
			trial.InternalParams[p.Name] = float64(row[i])
		}
		if _, err := g.study.Storage.CloneTrial(g.study.ID, trial); err != nil {
			panic("sampler: goptuna: " + err.Error()) // the study is its own
		}
	}
	g.seen = slices.Clone(view.Observations)
}
