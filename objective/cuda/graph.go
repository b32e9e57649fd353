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
	// executables differ in which content goes where. They take turns where an
	// output is written an odd number of times in each, so that it never holds the
	// right answer of the launch that writes it next; else there is one.
	executables []driver.Executable
	turn        int // the one that runs next
	launches    int
	outputs     int // sets whose outputs are written
	caches      worker.Caches
	sets        []set
	// flush says that the caches must be written over before each sample: the
	// buffers of one round do not do that by themselves.
	flush bool
	// unseen is the time of a launch on inputs that the kernel had not seen, in
	// milliseconds; 0 where it was not taken.
	unseen float64
}

// record makes the graph of n launches, or a few more.
func (d *Device) record(n int, caches worker.Caches) (*graph, error) {
	if caches == worker.Flushed {
		n = 1
	}
	if d.on.restores() {
		n = d.launchesRestored(n, caches)
	}
	g := &graph{caches: caches, flush: caches == worker.Flushed, outputs: 1}
	if n > 1 {
		n += n % 2
	}
	if caches == worker.Cold {
		enough := max(int(math.Ceil(coverage*float64(d.attributes.L2)/float64(max(d.on.footprint(), 1)))), 2)
		// Where buffers lie in memory is worth half a per cent, and no process
		// lays them out like another: the more of them, the nearer to the mean.
		count := min(n, max(enough, int(rotationShare*float64(d.attributes.Memory)/float64(max(d.on.footprint(), 1)))))
		g.flush = count < enough
		if count += count % 2; count > n || d.on.restores() {
			count = n
		}
		g.flush = g.flush || d.on.restores() // copies leave what they wrote in the caches
		g.outputs = count
	}
	g.launches = (n + g.outputs - 1) / g.outputs * g.outputs
	var err error
	if g.sets, err = d.on.sets(g.outputs); err != nil {
		return nil, err
	}
	for turn := range 1 + g.visits()%2 {
		executable, err := d.capture(g.launches, func(i int) (inputs, outputs set) {
			output := i % g.outputs
			return g.sets[(output+i/g.outputs+turn)%len(g.sets)], g.sets[output]
		})
		if err != nil {
			g.free(d.context)
			return nil, err
		}
		g.executables = append(g.executables, executable)
	}
	return g, nil
}

// visits is how many launches write each output. The inputs go on by one set, and
// so to the other content, at every visit.
func (g *graph) visits() int { return g.launches / g.outputs }

// next returns the executable for a sample.
func (g *graph) next() driver.Executable {
	executable := g.executables[g.turn]
	g.turn = (g.turn + 1) % len(g.executables)
	return executable
}

// wrote is the content whose answer the outputs of a set should hold after the
// sample that was taken last.
func (g *graph) wrote(set int) int {
	last := (g.turn + len(g.executables) - 1) % len(g.executables)
	return (set + g.visits() - 1 + last) % timedContents
}

func (g *graph) free(c *driver.Context) {
	for _, executable := range g.executables {
		_ = c.DestroyGraph(executable)
	}
}

func (d *Device) dropGraph() {
	if d.graph != nil {
		d.graph.free(d.context)
		d.graph = nil
	}
}

// capture records launches, each with the inputs of one set and the outputs of
// another.
func (d *Device) capture(n int, buffers func(launch int) (inputs, outputs set)) (driver.Executable, error) {
	executable, err := d.context.Capture(d.stream, func() error {
		for i := range n {
			p, err := d.on.parameters(buffers(i))
			if err != nil {
				return err
			}
			if err := d.launch(p); err != nil {
				return err
			}
		}
		return nil
	})
	return executable, fault(err)
}
