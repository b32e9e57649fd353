package simulate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"pawl/search/replay"
	"pawl/search/sampler"
)

// Recorded is a recorded space with what random search is expected to reach in
// it. It is immutable and safe for concurrent use.
type Recorded struct {
	name  string
	space *replay.Space
	// slowToFast are the times of the points that work.
	slowToFast []float64
	// meanCost is what a point takes on average in seconds, 0 for unknown.
	meanCost float64
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
	r.meanCost = r.averageCost()
	return r
}

func (r *Recorded) optimum() float64 { return r.slowToFast[len(r.slowToFast)-1] }

func (r *Recorded) median() float64 {
	n := len(r.slowToFast)
	return (r.slowToFast[(n-1)/2] + r.slowToFast[n/2]) / 2
}

// run is one search: after each tick of its clock, the recorded time of the point
// that the search takes to be the best.
type run struct {
	// best is NaN until a point has worked.
	best []float64
	// observations are what the search has seen.
	observations []sampler.Observation
	// asking is the time spent inside the sampler, longest the longest ask.
	asking, longest time.Duration
	asks            int
	// regrets are the search's own estimates by budget, where they were asked
	// for.
	regrets map[int]sampler.Regret
}

// The streams of random numbers of a search: one for each ask, numbered by the
// trial as in a real study, and one for the noise.
const noiseStream = math.MaxUint64

// search runs one search. Where the record knows the kernel's default, the
// first trial is the default, as in a real study; then come the points that an
// earlier search recommends, if there was one.
func (r *Recorded) search(ctx context.Context, e entrant, seed uint64, options Options) (run, error) {
	chooser, err := sampler.New(e.sampler, r.space.Space(), sampler.Defaults())
	if err != nil {
		return run{}, err
	}
	view := sampler.NewView(r.space.Pool())
	first := r.defaultPoint()
	if e.warm {
		learned, err := r.learn(ctx, e, seed, options)
		if err != nil {
			return run{}, err
		}
		view.Earlier = learned.memory
		first = append(first, slices.DeleteFunc(learned.first, func(index int) bool { return slices.Contains(first, index) })...)
	}
	noise := rand.New(rand.NewPCG(seed, noiseStream))
	result := run{best: make([]float64, 0, options.Trials)}
	clock := clock{recorded: r, byCost: options.Clock}
	seen, truth := math.Inf(1), math.NaN()
	for trial := 0; len(result.best) < options.Trials; trial++ {
		if err := ctx.Err(); err != nil {
			return run{}, err
		}
		if view.FreeCount() == 0 {
			result.best = append(result.best, truth)
			continue
		}
		if e.costAware {
			view.CostWeight = max(0, 1-clock.elapsed/float64(options.Trials))
		}
		index := result.ask(chooser, view, first, seed, trial)
		clock.advance(index)
		// A trial that ends within a tick counts at its end; one that takes
		// several is not there yet at the first of them.
		for float64(len(result.best)+1) < clock.elapsed && len(result.best) < options.Trials {
			result.best = append(result.best, truth)
		}
		o := r.observe(index, noise, options)
		view.Ask(index)
		view.Observe(o)
		if !o.Failed && o.Milliseconds < seen {
			seen, truth = o.Milliseconds, r.space.Entry(index).Milliseconds
		}
		if !options.Clock {
			result.best = append(result.best, truth)
		}
		if options.Regret {
			result.estimate(view, trial, budgetsFor(options.Trials), seed)
		}
	}
	result.observations = view.Observations
	return result, nil
}

// observe answers a trial from the record.
func (r *Recorded) observe(index int, noise *rand.Rand, options Options) sampler.Observation {
	entry := r.space.Entry(index)
	o := sampler.Observation{Index: index, Milliseconds: entry.Milliseconds, Failed: !entry.OK(), Seconds: entry.Spent.Seconds()}
	if options.Noise && entry.OK() {
		o.Milliseconds = entry.Samples[noise.IntN(len(entry.Samples))]
	}
	return o
}

// defaultPoint returns the position of the kernel's default, where the record
// knows it.
func (r *Recorded) defaultPoint() []int {
	if !r.space.Record().DefaultKnown {
		return nil
	}
	index, err := r.space.Pool().Index(r.space.Space().Default())
	if err != nil {
		return nil
	}
	return []int{index}
}

// ask returns the first points in their order, then times the sampler.
func (result *run) ask(chooser sampler.Sampler, view *sampler.View, first []int, seed uint64, trial int) int {
	if trial < len(first) {
		return first[trial]
	}
	rng := rand.New(rand.NewPCG(seed, uint64(trial)))
	start := time.Now()
	index := chooser.Next(view, rng)
	spent := time.Since(start)
	result.asking += spent
	result.longest = max(result.longest, spent)
	result.asks++
	return index
}

// clock says how far a search has come: by the number of trials, or by what
// they have cost. By cost, a tick is what the average point of the space takes,
// so that budgets mean the same in every space.
type clock struct {
	recorded *Recorded
	byCost   bool
	elapsed  float64 // in ticks
}

// advance adds a trial.
func (c *clock) advance(index int) {
	if c.byCost {
		c.elapsed += c.recorded.cost(index) / c.recorded.meanCost
		return
	}
	c.elapsed++
}

// cost returns what a point takes in seconds, the mean where the record does not
// say.
func (r *Recorded) cost(index int) float64 {
	if spent := r.space.Entry(index).Spent; spent > 0 {
		return spent.Seconds()
	}
	return r.meanCost
}

// averageCost returns what the points of a space take on average, in seconds; 0
// where the record knows no costs.
func (r *Recorded) averageCost() float64 {
	var sum time.Duration
	count := 0
	for i := range r.space.Pool().Len() {
		if spent := r.space.Entry(i).Spent; spent > 0 {
			sum += spent
			count++
		}
	}
	return sum.Seconds() / float64(max(count, 1))
}

// costsKnown fails for a space that cannot be raced by the clock.
func (r *Recorded) costsKnown() error {
	if r.meanCost == 0 {
		return fmt.Errorf("%s records no compile or run times: leave out --clock", r.name)
	}
	return nil
}
