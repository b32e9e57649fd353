package simulate

import (
	"slices"
	"time"

	"pawl/kernels"
	"pawl/search/replay"
	"pawl/space"
)

// Recorded is a recorded space with what random search is expected to reach in
// it. It is immutable and safe for concurrent use.
type Recorded struct {
	name  string
	space *replay.Space
	// slowToFast are the times of the points that work.
	slowToFast []float64
	// meanCost is what a point takes on average, 0 for unknown, and meanCompile the part of it that compiling takes.
	meanCost, meanCompile time.Duration
}

// NewRecorded prepares a space for simulation under a name.
func NewRecorded(name string, s *replay.Space) *Recorded {
	r := &Recorded{name: name, space: s}
	known := time.Duration(0) // of how many points the costs are
	for i := range s.Pool().Len() {
		e := s.Entry(i)
		if e.OK() {
			r.slowToFast = append(r.slowToFast, e.Milliseconds)
		}
		if e.Spent > 0 {
			r.meanCost, r.meanCompile, known = r.meanCost+e.Spent, r.meanCompile+e.Compile, known+1
		}
	}
	r.meanCost, r.meanCompile = r.meanCost/max(known, 1), r.meanCompile/max(known, 1)
	slices.Sort(r.slowToFast)
	slices.Reverse(r.slowToFast)
	return r
}

func (r *Recorded) optimum() float64 { return r.slowToFast[len(r.slowToFast)-1] }

func (r *Recorded) entry(point space.Point) replay.Entry {
	index, err := r.space.Pool().Index(point)
	if err != nil {
		panic("simulate: " + err.Error())
	}
	return r.space.Entry(index)
}

func (r *Recorded) device() string { return r.space.Record().Environment.Device }

// onProcessor reports whether the record is of a processor. Files of other tools do not
// name a backend; what they record are GPUs.
func (r *Recorded) onProcessor() bool {
	backend := kernels.BackendOf(r.space.Record().Environment.Backend)
	return backend.Name != "" && !backend.GPU
}

// costs returns what compiling a point takes, and checking and measuring it. What the
// record does not know takes as long as the average.
func (r *Recorded) costs(entry replay.Entry) (compile, device time.Duration) {
	if entry.Spent <= 0 {
		return r.meanCompile, r.meanCost - r.meanCompile
	}
	return entry.Compile, entry.Spent - entry.Compile
}
