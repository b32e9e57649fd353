package search_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"pawl/objective"
	"pawl/search"
	"pawl/search/replay"
	"pawl/search/trial"
	"pawl/space"
)

// asker measures points from a record.
type asker struct {
	*replay.Evaluator
	t *testing.T
}

func (a asker) outcome(p space.Point) objective.Outcome {
	prepared, err := a.Prepare(a.t.Context(), p)
	if err != nil {
		a.t.Fatal(err)
	}
	outcome, err := a.Measure(a.t.Context(), prepared, 0)
	if err != nil {
		a.t.Fatal(err)
	}
	return objective.Outcome{Failure: outcome.Failure, Samples: outcome.Samples, Batch: 1}
}

func newSession(t *testing.T, s *replay.Space, m *memory, past trial.Past, trials int) *search.Session {
	t.Helper()
	session, err := search.NewSession(s.Pool(), m, past, search.Options{
		Sampler: "random", Seed: 3, Goals: trial.Goals{Trials: trials, Rounds: 3, Finalists: 2},
	})
	if err != nil {
		t.Fatal(err)
	}
	return session
}

// A session that asks and tells in turn searches, confirms and ends, and what it was told is recorded.
func TestSessionSearchesAndConfirms(t *testing.T) {
	s, m := recordedSpace(t), &memory{}
	a, session := asker{replay.NewEvaluator(s, 1), t}, newSession(t, s, m, trial.Past{}, 20)
	phases := map[trial.Phase]int{}
	var ended *search.EndedError
	for {
		q, err := session.Ask(t.Context())
		if errors.As(err, &ended) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if m.trials[q.Trial].Point != q.Point || session.Number(q.Point) != q.Trial {
			t.Fatalf("question %+v is not trial %+v", q, m.trials[q.Trial])
		}
		phases[q.Phase]++
		if err := session.Tell(q.Trial, a.outcome(q.Point)); err != nil {
			t.Fatal(err)
		}
		if q.Phase == search.SearchPhase && !m.trials[q.Trial].Finished {
			t.Fatalf("trial %d is not recorded", q.Trial)
		}
	}
	// Three rounds of the default and two finalists, of which one leaves after the second, and that is recorded.
	if phases[search.SearchPhase] != 20 || phases[trial.Confirmation] != 8 || len(m.rounds) != 9 {
		t.Errorf("asked %v and recorded %d rounds", phases, len(m.rounds))
	}
	if result := session.Close(); result.Ended != trial.TrialsDone || ended.Why != trial.TrialsDone {
		t.Errorf("ended %q, and said %q", result.Ended, ended.Why)
	}
	if m.trials[0].Point != s.Pool().Space().Default() {
		t.Errorf("the first trial is %s", m.trials[0].Point)
	}
}

// Several points may be out, and are told in any order; what is not pending is refused and changes nothing.
func TestSessionHasSeveralPending(t *testing.T) {
	s, m := recordedSpace(t), &memory{}
	a, session := asker{replay.NewEvaluator(s, 1), t}, newSession(t, s, m, trial.Past{}, 4)
	defer session.Close()
	var asked []search.Question
	for range 4 {
		q, err := session.Ask(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		asked = append(asked, q)
	}
	for _, q := range slices.Backward(asked) {
		var wait *search.WaitError
		if _, err := session.Ask(t.Context()); !errors.As(err, &wait) || wait.Pending[len(wait.Pending)-1] != q.Trial {
			t.Fatalf("asked with trial %d pending: %v", q.Trial, err)
		}
		if err := session.Tell(q.Trial, a.outcome(q.Point)); err != nil {
			t.Fatal(err)
		}
		if err := session.Tell(q.Trial, a.outcome(q.Point)); !errors.As(err, new(*search.PendingError)) {
			t.Fatalf("told trial %d twice: %v", q.Trial, err)
		}
	}
	q, err := session.Ask(t.Context())
	if err != nil || q.Phase != trial.Confirmation {
		t.Fatalf("asked %+v, %v", q, err)
	}
	if _, err := session.Ask(t.Context()); !errors.As(err, new(*search.WaitError)) {
		t.Fatalf("a second finalist at once: %v", err)
	}
	if result := session.Close(); len(result.Rounds) != 0 || result.Ended != trial.TrialsDone {
		t.Errorf("%d rounds, ended %q", len(result.Rounds), result.Ended)
	}
}

// A session that comes back hands out what was asked and not told, takes answers of before, and then asks for the
// points that it would have asked for without the break.
func TestSessionComesBack(t *testing.T) {
	s := recordedSpace(t)
	a := asker{replay.NewEvaluator(s, 1), t}
	// Each ask leaves one trial pending: the one before it is told.
	run := func(breakAfter int) (points []string, rounds int) {
		m := &memory{}
		session := newSession(t, s, m, trial.Past{}, 12)
		last := -1
		for n := 0; ; n++ {
			if n == breakAfter {
				session.Close()
				session = newSession(t, s, m, trial.Past{Trials: slices.Clone(m.trials), Rounds: m.rounds}, 12)
				again, err := session.Ask(context.Background())
				if err != nil || again.Trial != last {
					t.Fatalf("came back to %+v, %v; trial %d is pending", again, err, last)
				}
			}
			q, err := session.Ask(t.Context())
			if errors.As(err, new(*search.EndedError)) {
				return m.points(), len(m.rounds)
			}
			waiting := errors.As(err, new(*search.WaitError))
			if err != nil && !waiting {
				t.Fatal(err)
			}
			if last >= 0 {
				if err := session.Tell(last, a.outcome(m.trials[last].Point)); err != nil {
					t.Fatal(err)
				}
			}
			if last = -1; !waiting {
				last = q.Trial
			}
		}
	}
	points, rounds := run(-1)
	for _, breakAfter := range []int{1, 5, 11} {
		if again, more := run(breakAfter); !slices.Equal(points, again) || rounds != more {
			t.Errorf("broken after %d asks: %v and %d rounds, want %v and %d", breakAfter, again, more, points, rounds)
		}
	}
}
