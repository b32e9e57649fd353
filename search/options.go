package search

import (
	"cmp"
	"runtime"

	"pawl/search/sampler"
	"pawl/search/trial"
	"pawl/space"
)

// Options says how a study is run.
type Options struct {
	trial.Goals
	// Sampler is the name of a sampler; see sampler.Names.
	Sampler string
	// Settings are the numbers of the samplers. Nil means sampler.Defaults.
	Settings *sampler.Settings
	// Seed fixes the points that are asked, given the same answers.
	Seed uint64
	// DefaultUnknown says that the space's default means nothing: the first trial is the sampler's.
	DefaultUnknown bool
	// OrderSeed draws the orders in which finalists are measured; 0 means Seed.
	OrderSeed uint64
	// First are points to try right after the default: what earlier studies
	// found good. Those that the pool lacks are passed over. See sampler.Transfer.
	First []space.Point
	// Earlier is what earlier studies of the same kernel have observed, the
	// latest first. The samplers learn from it as far as it agrees with what this
	// study observes. See sampler.Remember.
	Earlier []sampler.Memory
	// Width is the number of points that the evaluator can measure at once. Zero means one.
	Width int
	// Resident is the evaluator's device where that has time to spare; nil where it
	// does not, and starts a process for every point.
	Resident Resident
	// Ahead is the largest number of trials that are asked and not yet finished. Zero
	// means DefaultAhead. Depth says how many of them are worth having: that depends
	// on the answers, and not on the number of compilers.
	Ahead int
	// AsPrepared measures, of the points that are prepared, the one with the largest acquisition,
	// instead of in the order asked: no device waits for one slow compilation. Then the order of the answers, and with
	// it the points that are asked, depends on how long compilers take.
	AsPrepared bool
	// Machine is what the search runs on. Nil means this machine.
	Machine Machine
	// Lanes is the number of points that are prepared at once. Zero means one per core.
	Lanes int
	// Samples is the number of samples per contender and round. Zero means 10.
	Samples int
	// Kinds are the kinds of data on which finalists are measured beside the declared one.
	Kinds []string
	// Stop ends the search early when it is closed: nothing more is asked,
	// what runs is finished or abandoned, and the result is what there is.
	Stop <-chan struct{}
	// Observe is called after every change, by one goroutine at a time. It may be nil.
	Observe func(Progress)
}

func (o Options) withDefaults() Options {
	o.Width = cmp.Or(o.Width, 1)
	o.Ahead = cmp.Or(o.Ahead, DefaultAhead)
	o.Lanes = cmp.Or(o.Lanes, runtime.NumCPU())
	o.Finalists = cmp.Or(o.Finalists, 5)
	o.Rounds = cmp.Or(o.Rounds, 10)
	o.Samples = cmp.Or(o.Samples, 10)
	if o.Settings == nil {
		o.Settings = new(sampler.Defaults())
	}
	if o.Observe == nil {
		o.Observe = func(Progress) {}
	}
	return o
}
