package simulate

import (
	"time"

	"pawl/kernels"
)

// pipeline is the virtual machine that a search runs on: compilers in lanes, one
// device, and a clock that only recorded times move. It holds the trials that are
// asked and not finished, as search's pipeline does.
//
// Compilers take points in the order asked. A GPU takes, of the points that are
// compiled, the one that promises most, and waits for the next where there is none:
// so answers arrive out of order. A processor takes them in the order asked.
type pipeline struct {
	recorded *Recorded
	// inOrder makes the device wait for the point that was asked first.
	inOrder bool
	// deviceTime says how long a point takes the device, incumbent is the time to beat by then.
	deviceTime DeviceTime
	incumbent  float64
	sampled    time.Duration // when the last sample was taken
	// foremost returns which of some compiled points is measured first.
	foremost func(points []int) int
	lanes    []time.Duration // when each compiler is free
	now      time.Duration
	flights  []flight // in the order asked
	// compiling and measuring sum up what the finished points took.
	compiling, measuring time.Duration
}

// flight is a point on its way.
type flight struct {
	index int
	ready time.Duration // when it is compiled
}

func newPipeline(r *Recorded, options Options, foremost func(points []int) int) *pipeline {
	p := &pipeline{
		recorded: r,
		inOrder:  options.inOrderOn(r),
		foremost: foremost,
		lanes:    make([]time.Duration, options.lanesOn(r)),
	}
	if !r.onProcessor() {
		p.deviceTime = options.DeviceTime
	}
	return p
}

// launch gives a point to the compiler that is free first.
func (p *pipeline) launch(index int) {
	first := 0
	for i, free := range p.lanes {
		if free < p.lanes[first] {
			first = i
		}
	}
	compile, _ := p.recorded.costs(index)
	ready := max(p.now, p.lanes[first]) + compile
	p.lanes[first] = ready
	p.flights = append(p.flights, flight{index, ready})
}

// next measures a point, moves the clock to the end of that, and returns the point.
func (p *pipeline) next() int {
	chosen := p.choose()
	f := p.flights[chosen]
	p.flights = append(p.flights[:chosen:chosen], p.flights[chosen+1:]...)
	compile, device := p.recorded.costs(f.index)
	start, e := max(p.now, f.ready), p.recorded.space.Entry(f.index)
	if e.OK() {
		device = p.deviceTime.of(device, e.Milliseconds, p.incumbent, start-p.sampled)
	}
	p.compiling += compile
	p.measuring += device
	if p.now = start + device; e.OK() && !p.deviceTime.looks(e.Milliseconds, p.incumbent) {
		p.sampled = p.now
	}
	return f.index
}

// choose returns the place of the flight that is measured next: the first that is compiled,
// and of several that are compiled by now the one that promises most.
func (p *pipeline) choose() int {
	if p.inOrder {
		return 0
	}
	chosen := 0
	var compiled, points []int
	for i, f := range p.flights {
		if max(f.ready, p.now) < max(p.flights[chosen].ready, p.now) {
			chosen = i
		}
		if f.ready <= p.now {
			compiled, points = append(compiled, i), append(points, f.index)
		}
	}
	if len(compiled) == 0 {
		return chosen
	}
	return compiled[p.foremost(points)]
}

// onProcessor reports whether the record is of a processor. Files of other tools do not
// name a backend; what they record are GPUs.
func (r *Recorded) onProcessor() bool {
	backend := kernels.BackendOf(r.space.Record().Environment.Backend)
	return backend.Name != "" && !backend.GPU
}

// costs returns what compiling a point takes, and checking and measuring it. What the
// record does not know takes as long as the average.
func (r *Recorded) costs(index int) (compile, device time.Duration) {
	entry := r.space.Entry(index)
	if entry.Spent <= 0 {
		return r.meanCompile, r.meanCost - r.meanCompile
	}
	return entry.Compile, entry.Spent - entry.Compile
}

// pace returns how long the pipeline takes for an average point when it is full:
// whichever is scarcest, compilers, the device, or trials in flight.
func (r *Recorded) pace(options Options) time.Duration {
	return max(r.meanCompile/time.Duration(options.lanesOn(r)), r.meanCost-r.meanCompile,
		r.meanCost/time.Duration(options.aheadOn(r)))
}
