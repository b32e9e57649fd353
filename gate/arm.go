package gate

import (
	"context"

	"pawl/objective"
)

// Arm is a side of a comparison.
type Arm string

// The arms. Control is the baseline measured once more as if it were a candidate;
// Oldest is the oldest accepted release, measured only where it is not the
// baseline.
const (
	Baseline  Arm = "baseline"
	Candidate Arm = "candidate"
	Control   Arm = "control"
	Oldest    Arm = "oldest"
)

// Measurer measures one arm in a fresh process.
type Measurer interface {
	// Measure returns so many samples in milliseconds per launch, in the order taken.
	// What two calls share, a process included, is taken to be no more than what a
	// round does to all its arms: calls of different rounds share nothing. A failure says that the arm itself
	// does not work (it crashes, its result is wrong); an error that the machinery is
	// broken and nothing was learned.
	Measure(ctx context.Context, arm Arm, samples int) ([]float64, *objective.Failure, error)
}

// Samples are the samples of each arm, by round.
type Samples map[Arm][][]float64

// rounds is how many rounds are complete.
func (s Samples) rounds() int { return len(s[Baseline]) }
