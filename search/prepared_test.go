package search_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"pawl/objective"
	"pawl/search"
	"pawl/search/replay"
	"pawl/search/trial"
	"pawl/space"
)

// tardy holds the preparation of one point back until others were measured.
type tardy struct {
	*replay.Evaluator
	late space.Point
	mu   sync.Mutex
	left int // measurements until the late point may go on
	free chan struct{}
}

func (e *tardy) Prepare(ctx context.Context, p space.Point) (objective.Prepared, error) {
	if p == e.late {
		select {
		case <-e.free:
		case <-ctx.Done():
		}
	}
	return e.Evaluator.Prepare(ctx, p)
}

func (e *tardy) Measure(ctx context.Context, p objective.Prepared, incumbent float64) (objective.Outcome, error) {
	e.mu.Lock()
	if e.left--; e.left == 0 {
		close(e.free)
	}
	e.mu.Unlock()
	return e.Evaluator.Measure(ctx, p, incumbent)
}

// finishes is a memory that also keeps the order of the answers.
type finishes struct {
	memory
	order []int
}

func (f *finishes) Finished(t trial.Trial) error {
	f.order = append(f.order, t.Number)
	return f.memory.Finished(t)
}

// A point that takes long to compile holds nobody up: the default, asked first, is
// compiled only when twelve others were measured. In the order asked this would never
// end.
func TestMeasuredAsPrepared(t *testing.T) {
	s := recordedSpace(t)
	e := &tardy{Evaluator: replay.NewEvaluator(s, 1), late: s.Space().Default(), left: 12, free: make(chan struct{})}
	options := search.Options{
		Sampler:    "gp",
		Seed:       3,
		Lanes:      4,
		AsPrepared: true,
		Goals:      trial.Goals{Trials: 30, Rounds: 1},
	}
	m := &finishes{}
	if _, err := search.Run(t.Context(), s.Pool(), e, m, trial.Past{}, options); err != nil {
		t.Fatal(err)
	}
	if at := slices.Index(m.order, 0); at < 12 || len(m.order) != 30 {
		t.Errorf("the default finished as number %d of %d", at, len(m.order))
	}
	asked := map[space.Point]bool{}
	for _, trial := range m.trials {
		asked[trial.Point] = true
	}
	if len(asked) != 30 {
		t.Errorf("%d points in 30 trials", len(asked))
	}
}
