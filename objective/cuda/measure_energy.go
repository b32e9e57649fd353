package cuda

import (
	"fmt"
	"time"
)

const (
	// energyTime is how long the kernel runs without a pause while its energy is counted.
	// The counter moves in steps of some tens of milliseconds, so that a second between
	// two steps leaves out at most a few hundredths of it.
	energyTime = time.Second
	// energyPatience is how long a step of the counter may take to come.
	energyPatience = 5 * time.Second
	// energyGraphs is how many graphs are queued between two looks at the counter.
	energyGraphs = 8
)

// energy returns what a launch uses, in millijoules, by the GPU's own counter: of everything
// on the board, what it uses at rest included. Launches follow each other without a pause, on
// the buffers of the samples; caches that would have to be flushed are left as they are. The
// first step of the counter begins the count and the first after the time ends it.
func (d *Device) energy() (float64, error) {
	if d.watch.monitor == nil {
		return 0, fmt.Errorf("the energy of a launch: the GPU cannot be watched")
	}
	before, err := d.watch.monitor.Energy()
	if err != nil {
		return 0, err
	}
	begun, counting, launches := time.Now(), false, 0
	first := before
	for {
		if _, err := d.launchGraphs(energyGraphs); err != nil {
			return 0, err
		}
		now, err := d.watch.monitor.Energy()
		if err != nil {
			return 0, err
		}
		if counting {
			launches += energyGraphs * d.graph.launches
		}
		stepped := now != before
		before = now
		switch spent := time.Since(begun); {
		case stepped && !counting:
			counting, first, begun, launches = true, now, time.Now(), 0
		case stepped && spent >= energyTime:
			return float64(now-first) / float64(launches), nil
		case spent > energyTime+energyPatience:
			return 0, fmt.Errorf("the energy of a launch: the GPU's counter does not move")
		}
	}
}
