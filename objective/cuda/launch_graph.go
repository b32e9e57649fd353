package cuda

import (
	"pawl/objective/cuda/driver"
	"pawl/objective/worker"
)

const (
	// sampleTime is how long one sample should be, in milliseconds: long against
	// the resolution of events, half a microsecond, and the start of a graph.
	sampleTime = 1.0
	// mostLaunches bounds the launches in one graph.
	mostLaunches = 100
	// rotationShare is the part of the device's memory that they may take.
	rotationShare = 0.05
)

// graph is a recorded sequence of launches of the kernel under test, which one
// sample runs through. Each launch has a set of buffers of its own.
type graph struct {
	executable driver.Executable
	launches   int // as many as sets
	caches     worker.Caches
	sets       []set
}

// record makes the graph of n launches, or fewer: as many as there is memory for, and where
// caches are to be warm as many as they hold: where they do not even hold one, nothing can be warm. Inputs are written
// right before a sample: so they are in the caches then, unless these are written over.
func (d *Device) record(n int, caches worker.Caches) (*graph, error) {
	footprint := max(d.on.footprint(), 1)
	room := int(rotationShare * float64(d.attributes.Memory) / float64(footprint))
	switch held := d.attributes.L2 / 2 / footprint; {
	case caches == worker.Flushed:
		room = 1
	case caches == worker.Warm && held > 0:
		room = held
	}
	n = max(min(n, room), 1)
	g := &graph{launches: n, caches: caches}
	var err error
	if g.sets, err = d.on.sets(n); err != nil {
		return nil, err
	}
	g.executable, err = d.context.Capture(d.stream, func() error {
		for _, set := range g.sets {
			if err := d.launchOn(set); err != nil {
				return err
			}
		}
		return nil
	})
	return g, fault(err)
}

func (d *Device) dropGraph() {
	if d.graph != nil {
		_ = d.context.DestroyGraph(d.graph.executable)
		d.graph = nil
	}
}
