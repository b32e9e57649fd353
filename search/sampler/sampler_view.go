package sampler

import (
	"cmp"
	"slices"

	"pawl/space"
)

// View is what a sampler may look at: the points that may be tried and what is
// known about those that were. A sampler must not keep it between calls.
type View struct {
	// Pool holds the valid points. A sampler answers with a position in it.
	Pool *space.Pool
	// Observations are the finished trials, in the order in which they finished.
	Observations []Observation
	// Pending are the positions of points that are asked and not yet observed, in the order asked.
	Pending []int
	// Earlier are studies of the same kernel that came before this one, the
	// latest first. They may be wrong about this one. They do not change while
	// a study runs.
	Earlier []Memory
	// CostWeight says how much the cost of a point counts against what it may gain:
	// at 1 a sampler looks for gain per second, at 0 for gain per trial.
	CostWeight float64

	taken []bool
	// beyond are the points asked that lie outside of a sampled pool.
	beyond map[int]bool
	free   int
}

// Observation is one finished trial.
type Observation struct {
	// Index is the point's position in the pool.
	Index int
	// Milliseconds is the median of the samples. It means nothing after a failure.
	Milliseconds float64
	// Failed says that the point has no verified time.
	Failed bool
	// Seconds is what the trial has cost, compiling and checking included; 0 for unknown.
	Seconds float64
}

// NewView returns a view of a pool that nothing was asked from.
func NewView(pool *space.Pool) *View {
	return &View{Pool: pool, taken: make([]bool, pool.Len()), free: pool.Len(), beyond: map[int]bool{}}
}

// Free reports whether a point was never asked.
func (v *View) Free(index int) bool {
	if index >= len(v.taken) {
		return !v.beyond[index]
	}
	return !v.taken[index]
}

// FreeCount returns the number of points that were never asked, those outside of a sampled pool apart.
func (v *View) FreeCount() int { return v.free }

// Ask marks a point as pending.
func (v *View) Ask(index int) {
	switch {
	case index >= len(v.taken):
		v.beyond[index] = true
	case !v.taken[index]:
		v.taken[index] = true
		v.free--
	}
	v.Pending = append(v.Pending, index)
}

// Observe turns a pending point into an observation.
func (v *View) Observe(o Observation) {
	if i := slices.Index(v.Pending, o.Index); i >= 0 {
		v.Pending = append(v.Pending[:i:i], v.Pending[i+1:]...)
	}
	v.Observations = append(v.Observations, o)
}

// Fail turns the observation of a point into a failure: it was found wrong later.
func (v *View) Fail(index int) {
	for i := range v.Observations {
		if v.Observations[i].Index == index {
			v.Observations[i].Failed, v.Observations[i].Milliseconds = true, 0
		}
	}
}

func (v *View) fastest(n int) []Observation {
	working := slices.DeleteFunc(slices.Clone(v.Observations), func(o Observation) bool { return o.Failed })
	slices.SortStableFunc(working, func(a, b Observation) int { return cmp.Compare(a.Milliseconds, b.Milliseconds) })
	return working[:min(n, len(working))]
}

// workingShare returns the share of the observations that work, 1 for none.
func (v *View) workingShare() float64 {
	if len(v.Observations) == 0 {
		return 1
	}
	return float64(len(times(v.Observations))) / float64(len(v.Observations))
}
