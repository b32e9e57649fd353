package simulate

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"pawl/search"
	"pawl/search/replay"
)

// Recorded is a recorded space with what random search is expected to reach in
// it. It is immutable and safe for concurrent use.
type Recorded struct {
	name  string
	space *replay.Space
	// slowToFast are the times of the points that work.
	slowToFast []float64
}

// NewRecorded prepares a space for simulation under a name.
func NewRecorded(name string, s *replay.Space) *Recorded {
	r := &Recorded{name: name, space: s}
	for i := range s.Pool().Len() {
		if e := s.Entry(i); e.OK() {
			r.slowToFast = append(r.slowToFast, e.Milliseconds)
		}
	}
	slices.Sort(r.slowToFast)
	slices.Reverse(r.slowToFast)
	return r
}

func (r *Recorded) optimum() float64 { return r.slowToFast[len(r.slowToFast)-1] }

func (r *Recorded) median() float64 {
	n := len(r.slowToFast)
	return (r.slowToFast[(n-1)/2] + r.slowToFast[n/2]) / 2
}

// run is one search: after each evaluation, the recorded time of the point that
// the search believes to be the best.
type run struct {
	// best is NaN until a point has worked.
	best []float64
	// asking is the time spent inside the sampler, longest the longest ask.
	asking, longest time.Duration
	asks            int
	// regrets are the search's own estimates by budget, where they were asked
	// for.
	regrets map[int]search.Regret
}

// The streams of random numbers of a search: one for each ask, numbered by the
// trial as in a real study, and one for the noise.
const noiseStream = math.MaxUint64

// search runs one search. Where the record knows the kernel's default, the
// first trial is the default, as in a real study.
func (r *Recorded) search(ctx context.Context, name string, seed uint64, options Options) (run, error) {
	sampler, err := search.NewSampler(name, r.space.Space())
	if err != nil {
		return run{}, err
	}
	view := search.NewView(r.space.Pool())
	noise := rand.New(rand.NewPCG(seed, noiseStream))
	result := run{best: make([]float64, options.Trials)}
	seen, truth := math.Inf(1), math.NaN()
	for trial := range options.Trials {
		if err := ctx.Err(); err != nil {
			return run{}, err
		}
		if view.FreeCount() > 0 {
			index, err := r.ask(sampler, view, seed, trial, &result)
			if err != nil {
				return run{}, err
			}
			entry := r.space.Entry(index)
			observed := entry.Milliseconds
			if options.Noise && entry.OK() {
				observed = entry.Samples[noise.IntN(len(entry.Samples))]
			}
			view.Ask(index)
			view.Tell(search.Observation{Index: index, Milliseconds: observed, Failed: !entry.OK()})
			if entry.OK() && observed < seen {
				seen, truth = observed, entry.Milliseconds
			}
		}
		result.best[trial] = truth
		if options.Regret {
			result.estimate(view, trial, budgetsFor(options.Trials), seed)
		}
	}
	return result, nil
}

// ask times the sampler.
func (r *Recorded) ask(sampler search.Sampler, view *search.View, seed uint64, trial int, result *run) (int, error) {
	if trial == 0 && r.space.Record().DefaultKnown {
		if index, err := r.space.Pool().Index(r.space.Space().Default()); err == nil {
			return index, nil
		}
	}
	rng := rand.New(rand.NewPCG(seed, uint64(trial)))
	start := time.Now()
	index := sampler.Next(view, rng)
	spent := time.Since(start)
	result.asking += spent
	result.longest = max(result.longest, spent)
	result.asks++
	return index, nil
}
