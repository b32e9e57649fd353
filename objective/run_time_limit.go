package objective

import (
	"time"

	"pawl/internal/page"
	"pawl/objective/worker"
	"pawl/space"
)

const (
	// A point that takes so many times as long as the default hangs, or is of no use.
	mostTimes = 20
	// trialShare is the part of a budget that one call may take. A point that hangs is tried twice.
	trialShare = 0.05
	// Less than this, or so many times what the default takes, says nothing on a busy machine. A GPU's driver takes
	// seconds to start in a fresh process.
	leastHere, leastOnDevice = 2 * time.Second, 6 * time.Second
	leastTimes               = 3
)

// limit is how long each call of a point may take.
func (r *runner) limit(point space.Point) time.Duration {
	usual := time.Duration(r.usual.Load())
	if point == r.initial || usual == 0 {
		return r.allowed
	}
	most := mostTimes * usual
	if r.budget > 0 {
		most = min(most, time.Duration(trialShare*float64(r.budget)))
	}
	return min(r.allowed, max(most, leastTimes*usual, r.least))
}

// failure is that of a check; one for taking too long says what the default takes.
func (r *runner) failure(fault *worker.Fault) *Failure {
	failure := faultFailure(Fuzz, fault)
	if usual := r.usual.Load(); failure != nil && fault.Kind == worker.Hung && usual > 0 {
		failure.Detail += "; the default answers within " + page.Milliseconds(float64(usual)/1e6)
	}
	return failure
}
