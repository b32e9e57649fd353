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
	// meanCost is what a point takes on average, 0 for unknown, and meanCompile the
	// part of it that compiling takes.
	meanCost, meanCompile time.Duration
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
	r.meanCost, r.meanCompile = r.averageCosts()
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
	// near is when the search came within nearOptimum of the optimum, by the virtual
	// clock; 0 for never.
	near time.Duration
	// inFlight sums up how many trials were in flight after each ask.
	inFlight int
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
func (r *Recorded) search(ctx context.Context, e entrant, seed uint64, learned lessons, options Options) (run, error) {
	chooser, err := sampler.New(e.sampler, r.space.Space(), *options.Settings)
	if err != nil {
		return run{}, err
	}
	view := sampler.NewView(r.space.Pool())
	view.Earlier = learned.memory
	first := r.defaultPoint()
	first = append(first,
		slices.DeleteFunc(slices.Clone(learned.first), func(index int) bool { return slices.Contains(first, index) })...)
	noise := rand.New(rand.NewPCG(seed, noiseStream))
	result := run{best: make([]float64, 0, options.Trials)}
	pipeline := newPipeline(r, options, func(points []int) int { return sampler.Foremost(chooser, view, points) })
	clock := clock{pace: r.pace(options), byCost: options.Clock}
	seen, truth := math.Inf(1), math.NaN()
	depth := options.depthOn(r, chooser)
	for asked, finished := 0, 0; len(result.best) < options.Trials; {
		if err := ctx.Err(); err != nil {
			return run{}, err
		}
		for ; len(pipeline.flights) < depth.At(finished, pipeline.compiling, pipeline.measuring) && view.FreeCount() > 0 &&
			(options.Clock || asked < options.Trials); asked++ {
			if e.costAware {
				view.CostWeight = max(0, 1-clock.elapsed/float64(options.Trials))
			}
			result.inFlight += len(pipeline.flights) + 1
			index := result.ask(chooser, view, first, seed, asked)
			view.Ask(index)
			pipeline.launch(index)
		}
		if len(pipeline.flights) == 0 {
			result.best = append(result.best, truth)
			continue
		}
		index := pipeline.next()
		clock.set(pipeline.now, finished+1)
		// A trial that ends within a tick counts at its end; one that takes
		// several is not there yet at the first of them.
		for float64(len(result.best)+1) < clock.elapsed && len(result.best) < options.Trials {
			result.best = append(result.best, truth)
		}
		o := r.observe(index, noise, options)
		view.Observe(o)
		if !o.Failed && o.Milliseconds < seen {
			seen, truth = o.Milliseconds, r.space.Entry(index).Milliseconds
			pipeline.incumbent = seen
			if result.near == 0 && r.fraction(truth) >= 1-nearOptimum {
				result.near = pipeline.now
			}
		}
		if !options.Clock {
			result.best = append(result.best, truth)
		}
		if options.Regret {
			result.estimate(view, finished, options, seed)
		}
		finished++
	}
	result.observations = view.Observations
	return result, nil
}

// observe answers a trial from the record.
func (r *Recorded) observe(index int, noise *rand.Rand, options Options) sampler.Observation {
	entry := r.space.Entry(index)
	o := sampler.Observation{
		Index:        index,
		Milliseconds: entry.Milliseconds,
		Failed:       !entry.OK(),
		Seconds:      entry.Spent.Seconds(),
	}
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
// they have cost. By cost, a tick is the pipeline's pace, so that budgets mean the
// same in every space.
type clock struct {
	pace    time.Duration
	byCost  bool
	elapsed float64 // in ticks
}

func (c *clock) set(now time.Duration, finished int) {
	c.elapsed = float64(finished)
	if c.byCost {
		c.elapsed = float64(now) / float64(c.pace)
	}
}

// averageCosts returns what the points of a space take on average, and to compile; 0
// where the record knows no costs.
func (r *Recorded) averageCosts() (all, compile time.Duration) {
	count := time.Duration(0)
	for i := range r.space.Pool().Len() {
		if e := r.space.Entry(i); e.Spent > 0 {
			all += e.Spent
			compile += e.Compile
			count++
		}
	}
	return all / max(count, 1), compile / max(count, 1)
}

// costsKnown fails for a space that cannot be raced by the clock.
func (r *Recorded) costsKnown() error {
	if r.meanCost == 0 {
		return fmt.Errorf("%s records no compile or run times: leave out --clock", r.name)
	}
	return nil
}
