package cuda

import (
	"math"

	"pawl/objective/cuda/driver"
	"pawl/objective/worker"
)

const (
	// sampleTime is how long one sample should be, in milliseconds: long against
	// the resolution of events, half a microsecond, and the start of a graph.
	sampleTime = 1.0
	// mostLaunches bounds the launches in one graph.
	mostLaunches = 100
	// coverage is how many times the rotating buffers cover the last-level
	// cache, so that none of a launch's data is left in it from the round before.
	coverage = 3
	// rotationShare is the part of the device's memory that they may take.
	rotationShare = 0.05
)

// graph is a recorded sequence of launches of the kernel under test, which one
// sample runs through.
type graph struct {
	executable driver.Executable
	launches   int
	caches     worker.Caches
	sets       [][]*buffer
	// flush says that the caches must be written over before each sample: the
	// buffers of one round do not do that by themselves.
	flush bool
}

// record makes the graph of n launches.
func (d *Device) record(n int, caches worker.Caches) (*graph, error) {
	if caches == worker.Flushed {
		n = 1
	}
	g := &graph{launches: n, caches: caches, flush: caches == worker.Flushed}
	count := 1
	if caches == worker.Cold {
		enough := max(int(math.Ceil(coverage*float64(d.attributes.L2)/float64(max(d.on.footprint(), 1)))), 2)
		// Where buffers lie in memory is worth half a per cent, and no process
		// lays them out like another: the more of them, the nearer to the mean.
		count = min(n, max(enough, int(rotationShare*float64(d.attributes.Memory)/float64(max(d.on.footprint(), 1)))))
		g.flush = count < enough
	}
	var err error
	if g.sets, err = d.on.copies(count); err != nil {
		return nil, err
	}
	g.executable, err = d.context.Capture(d.stream, func() error {
		for i := range n {
			p, err := d.on.parameters(i % count)
			if err != nil {
				return err
			}
			if err := d.start(d.kernel, d.loaded.Launch, p); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		g.free(d.context)
		return nil, fault(err)
	}
	return g, nil
}

func (g *graph) free(c *driver.Context) {
	if g.executable != 0 {
		_ = c.DestroyGraph(g.executable)
	}
}

func (d *Device) dropGraph() {
	if d.graph != nil {
		d.graph.free(d.context)
		d.graph = nil
	}
}
