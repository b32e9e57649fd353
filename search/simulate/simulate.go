// Package simulate measures samplers: it searches recorded spaces many times
// and reports how near to the optimum each sampler came, and how soon.
//
//  1. Run loads the recorded spaces and searches each with each sampler from
//     each seed. Runs of one seed share their random numbers, so that samplers
//     are compared on common luck.
//  2. A run is search.Run itself, the engine of tune, on a virtual machine whose
//     clock is moved by the recorded times. A failed point costs an evaluation like
//     any other.
//  3. The report has, per space and over all, the fraction of the optimum with
//     intervals over the seeds, and the share of runs that came within
//     5 % and 1 %. See Report.
//
// Rankings from ten seeds are noise; use a hundred.
package simulate

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"pawl/search"
	"pawl/search/replay"
	"pawl/search/sampler"
)

// Options says what to simulate.
type Options struct {
	// Files are recorded spaces, in any format that replay reads.
	Files []string
	// Samplers are names of samplers. None means all of them.
	Samplers []string
	// Seeds is the number of searches per space and sampler. Zero means 100.
	Seeds int
	// FirstSeed is the seed of the first search; the others follow.
	FirstSeed uint64
	// Trials is the number of evaluations per search. Zero means 200.
	Trials int
	// Regret also compares what each search says that it has left behind with the truth.
	Regret bool
	// Warm is the file of another recorded space. Each sampler then also runs
	// warm: it begins with what a search of that space, by the same sampler with
	// as many trials, has learned.
	Warm string
	// EarlierTrials is the number of trials of the search that a warm one learns from. Zero means as many as Trials.
	EarlierTrials int
	// Clock measures budgets by cost instead of trials: a budget of 50 is what 50
	// average points take to compile, check and measure, as the files record it.
	// Each sampler then also runs cost-aware: with the cost as part of the choice.
	Clock bool
	// Ahead is the largest number of trials that are asked and not yet finished. Zero
	// means what tune has on the kind of device that the file names.
	Ahead int
	// Devices is the number of devices, as on a farm. Zero means one.
	Devices int
	// Settings are the samplers'. Nil means sampler.Defaults.
	Settings *sampler.Settings
	// Progress is called after every search, by one goroutine at a time. Nil means that nobody wants to know.
	Progress func(done, total int)

	other *Recorded // Warm, once it is read
}

func (o Options) withDefaults() Options {
	if len(o.Samplers) == 0 {
		o.Samplers = sampler.Names()
	}
	o.Seeds = cmp.Or(o.Seeds, 100)
	o.Trials = cmp.Or(o.Trials, 200)
	o.Devices = cmp.Or(o.Devices, 1)
	if o.Settings == nil {
		o.Settings = new(sampler.Defaults())
	}
	return o
}

// aheadOn returns the largest number of trials in flight on the device of a record.
func (o Options) aheadOn(r *Recorded) int {
	most := search.AcceleratorAhead
	if r.onProcessor() {
		most = search.DefaultAhead
	}
	switch {
	case o.Ahead > 0:
		return o.Ahead
	case o.Devices > 1:
		return search.FarmAhead
	}
	return most
}

// Run simulates and reports. The report depends on the options alone, but for the times that the samplers took.
func Run(ctx context.Context, options Options) (*Report, error) {
	var spaces []*Recorded
	for _, file := range options.Files {
		s, err := readRecorded(file)
		if err != nil {
			return nil, err
		}
		spaces = append(spaces, s)
	}
	if options.Warm != "" {
		other, err := readRecorded(options.Warm)
		if err != nil {
			return nil, err
		}
		options.other = other
	}
	return RunSpaces(ctx, spaces, options)
}

func readRecorded(file string) (*Recorded, error) {
	record, err := replay.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("simulate: %w", err)
	}
	s, err := replay.New(record)
	if err != nil {
		return nil, fmt.Errorf("simulate: %s: %w", file, err)
	}
	return NewRecorded(nameOf(file), s), nil
}

// nameOf makes convolution_A100 of a/convolution_A100.json.gz.
func nameOf(file string) string {
	name := strings.TrimSuffix(filepath.Base(file), ".gz")
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// RunSpaces is Run over spaces that are loaded already; it ignores options.Files.
func RunSpaces(ctx context.Context, spaces []*Recorded, options Options) (*Report, error) {
	options = options.withDefaults()
	entrants := options.entrants()
	for _, e := range entrants {
		if _, err := sampler.New(e.sampler, spaces[0].space.Space(), sampler.Defaults()); err != nil {
			return nil, fmt.Errorf("simulate: %w", err)
		}
	}
	for _, s := range spaces {
		if options.Clock && s.meanCost == 0 {
			return nil, fmt.Errorf("simulate: %s records no compile or run times: leave out --clock", s.name)
		}
	}
	// runs[space][entrant][seed]
	runs := make([][][]run, len(spaces))
	total := len(spaces) * len(entrants) * options.Seeds
	var mu sync.Mutex
	done := 0
	finish := func() {
		mu.Lock()
		defer mu.Unlock()
		if done++; options.Progress != nil {
			options.Progress(done, total)
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, s := range spaces {
		runs[i] = make([][]run, len(entrants))
		for j, e := range entrants {
			runs[i][j] = make([]run, options.Seeds)
			for k := range options.Seeds {
				group.Go(func() error {
					defer finish()
					var err error
					runs[i][j][k], err = s.race(ctx, e, options.FirstSeed+uint64(k), options)
					return err
				})
			}
		}
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("simulate: %w", err)
	}
	return newReport(spaces, entrants, runs, options), nil
}

// race runs one search of an entrant, after the one that it learns from if it is warm.
func (r *Recorded) race(ctx context.Context, e entrant, seed uint64, options Options) (run, error) {
	var learned lessons
	if e.warm {
		earlier := options
		earlier.Trials = cmp.Or(options.EarlierTrials, options.Trials)
		other, err := options.other.search(ctx, entrant{sampler: e.sampler}, seed+earlierSeed, lessons{}, earlier)
		if err != nil {
			return run{}, err
		}
		learned = r.learn(options.other, sampler.TimedOf(other.finished))
	}
	return r.search(ctx, e, seed, learned, options)
}

// entrant is one row of a race: a sampler, and what it is given.
type entrant struct {
	// label names it in the report.
	label   string
	sampler string
	// warm is given what an earlier search of another space has seen.
	warm bool
	// costAware lets the cost of a point count.
	costAware bool
}

// entrants returns the samplers, each once as it is and, where the options ask what help is worth, once with it.
func (o Options) entrants() []entrant {
	var list []entrant
	for _, name := range o.Samplers {
		list = append(list, entrant{label: name, sampler: name})
		if o.Warm != "" {
			list = append(list, entrant{label: name + " warm", sampler: name, warm: true})
		}
		if o.Clock {
			list = append(list, entrant{label: name + " cost-aware", sampler: name, costAware: true})
		}
	}
	return list
}
