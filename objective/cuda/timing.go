package cuda

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"pawl/kernels"
	"pawl/kernels/inputs"
	"pawl/objective/worker"
)

const (
	// warmUp is how long the kernel runs before the first sample, and
	// longestWarmUp how long when the clock is still rising.
	warmUp        = 10 * time.Millisecond
	longestWarmUp = 100 * time.Millisecond
	// briefWarmUp is how long it runs for a brief look on a device whose last sample is
	// less than rested ago.
	briefWarmUp = 2 * time.Millisecond
	rested      = 100 * time.Millisecond
	// holdTime is how long the stream is held back for one sample while it is
	// queued, in nanoseconds, and per launch in its graph.
	holdTime       = 30_000
	holdTimeLaunch = 500
	// idleTime is the pause before a sample that shall not depend on the ones before:
	// four times as long as a sample takes. A kernel that keeps an H200's tensor cores
	// busy reaches the power limit after 0.15 s without pauses, and is 0.5 to 2 %
	// slower from then on.
	idleTime = 4 * time.Millisecond
	// launchSlack is what the start of a graph may add to a single launch, in milliseconds.
	launchSlack = 0.002
)

// Time takes samples. With no batch given it warms up first and chooses one.
//
// Each launch has inputs that no launch has had: see fresh_inputs.go. The results of two
// samples, chosen at random, are checked.
func (d *Device) Time(t worker.Time) (worker.Timing, error) {
	if d.steps == nil {
		return worker.Timing{}, fmt.Errorf("time before load")
	}
	ended, err := d.prepare(t)
	switch {
	case err != nil:
		return worker.Timing{}, err
	case ended != nil:
		return *ended, nil
	}
	defer func() { d.timed = time.Now() }()
	timing := worker.Timing{Batch: d.graph.launches}
	states := d.watch.read(nil)
	checked := d.random.Perm(t.Samples)[:min(checkedSamples, t.Samples)]
	for i := range t.Samples {
		if t.IdleFirst {
			time.Sleep(idleTime)
		}
		var milliseconds float64
		if slices.Contains(checked, i) {
			milliseconds, timing.Damage, err = d.checkedSample()
		} else {
			milliseconds, err = d.sample()
		}
		if timing.Damage != nil || err != nil {
			return timing, err
		}
		timing.Samples = append(timing.Samples, milliseconds)
		states = d.watch.read(states)
	}
	d.watch.discard(&timing, states)
	if len(timing.Samples) == 0 || !t.Energy {
		return timing, nil
	}
	used, err := d.energy()
	if err == nil {
		timing.Measured = map[string][]float64{kernels.Energy: {used}}
	}
	return timing, err
}

// prepare records the graph for a batch, and warms up for a new one. It returns a timing
// where that ends it: the first launches were too slow to go on.
func (d *Device) prepare(t worker.Time) (ended *worker.Timing, err error) {
	t.Caches = cmp.Or(t.Caches, worker.Cold)
	if d.graph != nil && d.graph.launches == t.Batch && d.graph.caches == t.Caches {
		return nil, nil
	}
	d.dropGraph()
	launches := t.Batch
	if launches == 0 {
		var single float64
		if single, ended, err = d.firstLook(t); ended != nil || err != nil {
			return ended, err
		}
		launches = min(max(int(math.Ceil(sampleTime/max(single, 1e-6))), 1), mostLaunches)
	}
	if d.graph, err = d.record(launches, t.Caches); err != nil {
		return nil, err
	}
	least := warmUp
	if t.Brief && time.Since(d.timed) < rested {
		least = briefWarmUp
	}
	return nil, d.warmUp(least)
}

// firstLook makes single launches and returns the shortest time, by which a batch is chosen. Where all
// are beyond the limit, and would be at the highest clock seen, it also returns them as samples.
// Inputs are in the caches for them, and no launch hides behind another: softmax looked .9 to 1.3
// times as slow as it is.
func (d *Device) firstLook(t worker.Time) (shortest float64, look *worker.Timing, err error) {
	if d.graph, err = d.record(1, worker.Warm); err != nil {
		return 0, nil, err
	}
	defer d.dropGraph()
	timing := worker.Timing{Batch: 1}
	states := d.watch.read(nil)
	for range 3 {
		milliseconds, err := d.sample()
		if err != nil {
			return 0, nil, err
		}
		timing.Samples = append(timing.Samples, milliseconds)
		states = d.watch.read(states)
	}
	shortest = slices.Min(timing.Samples)
	if t.Limit == 0 || t.Energy || shortest*d.watch.clockShare(states) <= t.Limit+launchSlack {
		return shortest, nil, nil
	}
	if d.watch.discard(&timing, states); len(timing.Samples) < 3 {
		return shortest, nil, nil // they say nothing about the kernel
	}
	return shortest, &timing, nil
}

// warmUp runs the kernel for so long at least, and until the clock has risen.
func (d *Device) warmUp(least time.Duration) error {
	start, highest := time.Now(), 0
	for {
		if _, err := d.sample(); err != nil {
			return err
		}
		if spent := time.Since(start); spent >= least && (spent > longestWarmUp || d.watch.risen(&highest)) {
			return nil
		}
	}
}

// sample runs the graph once on new inputs and returns the milliseconds per launch.
func (d *Device) sample() (float64, error) {
	if err := d.renew(nil, 0); err != nil {
		return 0, err
	}
	return d.timeGraph()
}

// timeGraph runs the graph and returns the milliseconds per launch. The stream is
// held back until everything is queued, so that the time of queueing stays out of
// the figure.
func (d *Device) timeGraph() (float64, error) {
	if !slices.ContainsFunc(d.loaded.Arguments, inputs.Renewed) { // no launch may find its own answer
		if err := d.poisonSets(d.graph.sets); err != nil {
			return 0, err
		}
	}
	if d.graph.caches != worker.Warm { // which would tell a kernel what was touched last: inputs that are known
		if err := d.flushCaches(); err != nil {
			return 0, err
		}
	}
	if err := d.support.hold(uint64(holdTime + holdTimeLaunch*d.graph.launches)); err != nil {
		return 0, err
	}
	milliseconds, err := d.launchGraphs(1)
	return milliseconds / float64(d.graph.launches), err
}

// launchGraphs runs the graph n times, waits for the last run, and returns the milliseconds of all.
func (d *Device) launchGraphs(n int) (float64, error) {
	if err := d.context.Record(d.events[0], d.stream); err != nil {
		return 0, fault(err)
	}
	for range n {
		if err := d.context.LaunchGraph(d.graph.executable, d.stream); err != nil {
			return 0, fault(err)
		}
	}
	if err := d.context.Record(d.events[1], d.stream); err != nil {
		return 0, fault(err)
	}
	milliseconds, err := d.context.Between(d.events[0], d.events[1])
	return milliseconds, fault(err)
}

// flushCaches writes over twice the size of the last-level cache.
func (d *Device) flushCaches() error {
	size := 2 * d.attributes.L2
	if d.flushBuffer == 0 {
		var err error
		if d.flushBuffer, err = d.context.Allocate(size); err != nil {
			return err
		}
	}
	return d.context.Set(d.stream, d.flushBuffer, 0, size)
}

const (
	// checkedSamples is how many samples of a request are checked.
	checkedSamples = 2
	// mostInspected is how many of their sets of buffers are checked for damage: to check all
	// would take longer than the sample.
	mostInspected = 3
	// spotChecks is how many single launches follow on the content that was checked, where a
	// launch is short. A kernel that leaves some launches out is found sooner.
	spotChecks = 4
)

// checkedSample is a sample in which one launch, chosen at random, has inputs whose answer is
// known. It checks what the launches have left behind.
func (d *Device) checkedSample() (float64, *worker.Fault, error) {
	inspected := d.random.Perm(d.graph.launches)[:min(mostInspected, d.graph.launches)]
	at := inspected[0]
	known, err := d.nextKnown(at)
	if err == nil {
		err = d.renew(known, at)
	}
	if err != nil {
		return 0, nil, err
	}
	for _, number := range inspected {
		if err := d.on.identify(d.graph.sets[number]); err != nil {
			return 0, nil, err
		}
	}
	milliseconds, err := d.timeGraph() // nothing is prepared that tells the checked launch from others
	if err != nil {
		return 0, nil, err
	}
	seen := &inspection{device: d}
	for _, number := range inspected {
		seen.queueDamage(d.graph.sets[number])
	}
	if known != nil {
		if err := d.compareKnown(seen, d.graph.sets[at], *known); err != nil {
			return 0, nil, fault(err)
		}
	}
	if err := seen.collect(); err != nil {
		return 0, nil, fault(err)
	}
	return milliseconds, seen.verdict(), nil
}

// compareKnown compares what a launch has written, and what further ones write on the same inputs.
func (d *Device) compareKnown(seen *inspection, buffers set, known content) error {
	d.on.expect(buffers, known)
	restores := d.on.contents[0].initial != nil
	if seen.queueResults(buffers); d.graph.launches == 1 || restores {
		return nil
	}
	for range spotChecks {
		if err := d.poisonSets([]set{buffers}); err != nil {
			return err
		}
		if err := d.launchOn(buffers); err != nil {
			return err
		}
		seen.queueComparisons(buffers)
	}
	return nil
}
