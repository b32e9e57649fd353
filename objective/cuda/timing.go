package cuda

import (
	"fmt"
	"math"
	"time"

	"pawl/objective/cuda/monitor"
	"pawl/objective/worker"
)

const (
	// warmUp is how long the kernel runs before the first sample, and
	// longestWarmUp how long when the clock is still rising.
	warmUp        = 10 * time.Millisecond
	longestWarmUp = 100 * time.Millisecond
	// risen is the share of the highest clock seen that counts as warmed up.
	risen = 0.98
	// holdTime is how long the stream is held back for one sample while it is
	// queued, in nanoseconds, and per launch in its graph.
	holdTime       = 30_000
	holdTimeLaunch = 500
	// rest is how long a GPU rests before a sample that shall not depend on the
	// ones before: four times as long as a sample takes. A kernel that keeps an
	// H200's tensor cores busy reaches the power limit after 0.15 s without a
	// pause, and is 0.5 to 2 % slower from then on.
	rest = 4 * time.Millisecond
)

// Time takes samples. With no batch given it warms up first and chooses one.
// What was computed while the clock ran is compared as well: a kernel that is
// right once and then rests does not pass.
func (d *Device) Time(t worker.Time) (worker.Timing, error) {
	if d.kernel == 0 {
		return worker.Timing{}, fmt.Errorf("time before load")
	}
	if err := d.prepare(t); err != nil {
		return worker.Timing{}, err
	}
	timing := worker.Timing{Batch: d.graph.launches}
	d.poison = 0xff // what is not written is no number
	for _, set := range d.graph.sets {
		if err := d.poisonOutputs(set); err != nil {
			return timing, err
		}
	}
	states := d.look(nil)
	for range t.Samples {
		if t.Rested {
			time.Sleep(rest)
		}
		milliseconds, err := d.sample()
		if err != nil {
			return timing, err
		}
		timing.Samples = append(timing.Samples, milliseconds)
		states = d.look(states)
	}
	d.discard(&timing, states)
	var err error
	timing.Damage, err = d.verifyTimed()
	return timing, err
}

// prepare records the graph for a batch, and warms up for a new one.
func (d *Device) prepare(t worker.Time) (err error) {
	if t.Caches == "" {
		t.Caches = worker.Cold
	}
	if d.graph != nil && d.graph.launches == t.Batch && d.graph.caches == t.Caches {
		return nil
	}
	d.dropGraph()
	launches := t.Batch
	if launches == 0 {
		if launches, err = d.calibrate(); err != nil {
			return err
		}
	}
	if d.graph, err = d.record(launches, t.Caches); err != nil {
		return err
	}
	return d.warmUp()
}

// calibrate returns how many launches make a sample long enough.
func (d *Device) calibrate() (int, error) {
	single, err := d.record(1, worker.Warm)
	if err != nil {
		return 0, err
	}
	d.graph = single
	defer d.dropGraph()
	shortest := math.Inf(1)
	for range 3 {
		milliseconds, err := d.sample()
		if err != nil {
			return 0, err
		}
		shortest = min(shortest, milliseconds)
	}
	return min(max(int(math.Ceil(sampleTime/max(shortest, 1e-6))), 1), mostLaunches), nil
}

// warmUp runs the kernel until the clock has risen.
func (d *Device) warmUp() error {
	start := time.Now()
	highest := 0
	for {
		if _, err := d.sample(); err != nil {
			return err
		}
		spent := time.Since(start)
		if spent < warmUp {
			continue
		}
		states := d.look(nil)
		if len(states) == 0 || spent > longestWarmUp {
			return nil
		}
		highest = max(highest, states[0].SMClock, d.highestClock)
		if float64(states[0].SMClock) >= risen*float64(highest) {
			d.highestClock = highest
			return nil
		}
	}
}

// sample runs the graph once and returns the milliseconds per launch. The
// stream is held back until everything is queued, so that the time of queueing
// stays out of the figure.
func (d *Device) sample() (float64, error) {
	g := d.graph
	if g.flush {
		if err := d.flushCaches(); err != nil {
			return 0, err
		}
	}
	if err := d.support.hold(uint64(holdTime + holdTimeLaunch*g.launches)); err != nil {
		return 0, err
	}
	if err := d.context.Record(d.events[0], d.stream); err != nil {
		return 0, fault(err)
	}
	if err := d.context.LaunchGraph(g.executable, d.stream); err != nil {
		return 0, fault(err)
	}
	if err := d.context.Record(d.events[1], d.stream); err != nil {
		return 0, fault(err)
	}
	milliseconds, err := d.context.Between(d.events[0], d.events[1])
	return milliseconds / float64(g.launches), fault(err)
}

// flushCaches writes over twice the size of the last-level cache.
func (d *Device) flushCaches() error {
	size := 2 * d.attributes.L2
	if d.sweep == 0 {
		var err error
		if d.sweep, err = d.context.Allocate(size); err != nil {
			return err
		}
	}
	return d.context.Set(d.stream, d.sweep, 0, size)
}

// look appends the state of the GPU, where somebody watches it.
func (d *Device) look(states []monitor.State) []monitor.State {
	if d.monitor == nil {
		return nil
	}
	state, err := d.monitor.Read()
	if err != nil {
		d.monitor.Close()
		d.monitor = nil // a GPU that does not answer now will not answer later
		return nil
	}
	return append(states, state)
}

// discard drops the samples that were taken while the clock was throttled.
func (d *Device) discard(timing *worker.Timing, states []monitor.State) {
	if len(states) != len(timing.Samples)+1 {
		return
	}
	keep, summary := monitor.Judge(states)
	var kept []float64
	for i, sample := range timing.Samples {
		if keep[i] {
			kept = append(kept, sample)
		}
	}
	timing.Samples = kept
	timing.Conditions = &worker.Conditions{
		Device:   d.attributes.UUID,
		ClockLow: summary.ClockLow, ClockMedian: summary.ClockMedian, ClockHigh: summary.ClockHigh,
		Temperature: summary.Temperature, Power: summary.Power,
		Discarded: summary.Throttled + summary.LowClock, Reasons: summary.Reasons.String(),
	}
}

// verifyTimed checks what the timed launches have left behind, in the first
// and in the last of the buffers that they went round.
func (d *Device) verifyTimed() (*worker.Fault, error) {
	seen := &inspection{device: d}
	ends := d.graph.sets[:1]
	if last := len(d.graph.sets) - 1; last > 0 {
		ends = [][]*buffer{d.graph.sets[0], d.graph.sets[last]}
	}
	for _, set := range ends {
		if err := seen.queue(set); err != nil {
			return nil, fault(err)
		}
	}
	if err := seen.collect(); err != nil {
		return nil, fault(err)
	}
	if wrong := seen.wrong(); wrong != "" && seen.damage == nil {
		return &worker.Fault{Kind: worker.WrongWhenTimed, Detail: wrong}, nil
	}
	return seen.damage, nil
}
