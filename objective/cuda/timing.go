package cuda

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"pawl/kernels"
	"pawl/objective/cuda/driver"
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
)

// Time takes samples. With no batch given it warms up first and chooses one.
//
// The results of timed launches are checked after the last sample and after one
// chosen at random. Their inputs change, and their outputs hold something else
// before. See rotation.go.
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
	if err := d.poisonSets(d.graph.sets); err != nil {
		return timing, err
	}
	states := d.watch.read(nil)
	// Two samples an odd number apart leave different answers behind, so that what
	// has stayed there since before cannot be right after both.
	last := t.Samples - 1
	other := last - 1 - 2*d.random.IntN(max(t.Samples/2, 1))
	for i := range t.Samples {
		inspected := i == last || i == other
		if inspected && d.on.alike() {
			if err := d.poisonSets(d.graph.sets); err != nil {
				return timing, err
			}
		}
		if t.IdleFirst {
			time.Sleep(idleTime)
		}
		milliseconds, err := d.sample()
		if err != nil {
			return timing, err
		}
		timing.Samples = append(timing.Samples, milliseconds)
		states = d.watch.read(states)
		if !inspected {
			continue
		}
		if timing.Damage, err = d.verifyTimed(); timing.Damage != nil || err != nil {
			return timing, err
		}
	}
	d.watch.discard(&timing, states)
	if len(timing.Samples) == 0 {
		return timing, nil
	}
	if timing.Damage, err = d.remembers(timing.Samples); timing.Damage != nil || err != nil || !t.Energy {
		return timing, err
	}
	used, err := d.energy()
	if err == nil {
		timing.Measured = map[string][]float64{kernels.Energy: {used}}
	}
	return timing, err
}

// prepare records the graph for a batch, and warms up for a new one. It returns a timing
// where that ends it: the first launches were too slow to go on, or did damage.
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
	if err := d.warmUp(least); err != nil {
		return nil, err
	}
	damage, err := d.showUnseen()
	if damage != nil {
		ended = &worker.Timing{Damage: damage}
	}
	return ended, err
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
	if t.Limit == 0 || t.Energy || shortest*d.watch.clockShare(states) <= t.Limit+unseenSlack {
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

// sample runs the graph once and returns the milliseconds per launch.
func (d *Device) sample() (float64, error) {
	if err := d.restoreSets(); err != nil {
		return 0, err
	}
	if d.graph.flush {
		if err := d.flushCaches(); err != nil {
			return 0, err
		}
	}
	return d.timeGraph(d.graph.next(), d.graph.launches)
}

// timeGraph runs a graph and returns the milliseconds per launch. The stream is
// held back until everything is queued, so that the time of queueing stays out of
// the figure.
func (d *Device) timeGraph(executable driver.Executable, launches int) (float64, error) {
	if err := d.support.hold(uint64(holdTime + holdTimeLaunch*launches)); err != nil {
		return 0, err
	}
	if err := d.context.Record(d.events[0], d.stream); err != nil {
		return 0, fault(err)
	}
	if err := d.context.LaunchGraph(executable, d.stream); err != nil {
		return 0, fault(err)
	}
	if err := d.context.Record(d.events[1], d.stream); err != nil {
		return 0, fault(err)
	}
	milliseconds, err := d.context.Between(d.events[0], d.events[1])
	return milliseconds / float64(launches), fault(err)
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

// After a sample the outputs of at most mostCompared sets are compared, and
// mostInspected of them are checked for damage as well. They are chosen at random each
// time: to check all would take longer than the sample.
const (
	mostCompared  = 16
	mostInspected = 3
)

// verifyTimed checks what the sample that was taken last has left behind.
func (d *Device) verifyTimed() (*worker.Fault, error) {
	seen := &inspection{device: d}
	for i, set := range d.random.Perm(d.graph.outputs)[:min(mostCompared, d.graph.outputs)] {
		buffers := d.graph.sets[set]
		d.on.expect(buffers, d.on.contents[d.graph.wrote(set)])
		var err error
		if i < mostInspected {
			err = seen.queue(buffers)
		} else {
			err = seen.queueOutputs(buffers, false)
		}
		if err != nil {
			return nil, fault(err)
		}
	}
	if err := seen.collect(); err != nil {
		return nil, fault(err)
	}
	return seen.verdict(), nil
}
