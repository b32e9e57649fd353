package farm

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"pawl/internal/postgrestest"
)

// wrong is a clock that goes wrong by minutes. River asks it wherever it would ask the machine.
type wrong time.Duration

func (w wrong) Now() time.Time { return time.Now().Add(time.Duration(w)) }
func (w wrong) NowOrNil() *time.Time {
	now := w.Now()
	return &now
}

// Who asks is minutes ahead, one worker more of them, one behind, and neither clock matters:
// everything is answered at once, a task that fails on one machine goes to the next without a
// wait, who lives is not given up, who dies is, and what is shown and spent is the database's time.
func TestClocksOfMinutesApart(t *testing.T) {
	t.Parallel()
	o := Options{URL: postgrestest.Database(t), Version: "1"}
	if err := Init(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	off := func(by time.Duration) *Farm {
		o := o
		o.clock = wrong(by)
		return open(t, o)
	}
	asking := off(7 * time.Minute)
	s, err := asking.Begin(t.Context(), Head{Study: "one", Title: "one"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.End(context.Background(), true); err != nil {
			t.Error(err)
		}
	}()
	var mu sync.Mutex
	did := map[string]int{}
	both := make(chan struct{})
	work := func(id string) func(context.Context, Job) (Answer, error) {
		return func(ctx context.Context, job Job) (Answer, error) {
			mu.Lock()
			did[id]++
			if did["ahead"] == 1 && did["behind"] == 1 && did[id] == 1 {
				close(both)
			}
			first := did[id] == 1
			mu.Unlock()
			if first { // each has one in hand
				select {
				case <-both:
				case <-ctx.Done():
				}
				return Answer{}, errors.New("the first one goes wrong")
			}
			return missing(job.Point), nil
		}
	}
	began := time.Now()
	employ(t, off(11*time.Minute), "ahead", work("ahead"))
	stopBehind := employ(t, off(-13*time.Minute), "behind", work("behind"))
	var asked sync.WaitGroup
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		asked.Go(func() {
			if answer, err := s.Ask(t.Context(), "q", task(name), nil); err != nil || answer.Missing != name {
				t.Errorf("%s: %+v, %v", name, answer, err)
			}
		})
	}
	asked.Wait()
	if took := time.Since(began); took > 4*time.Minute {
		t.Errorf("it took %v: somebody waited for a clock", took)
	}
	machines, err := asking.Machines(t.Context(), time.Hour)
	if err != nil || len(machines) != 2 {
		t.Fatalf("%d machines, %v", len(machines), err)
	}
	for _, m := range machines {
		if !m.Alive() || m.Unheard < 0 || m.Up < 0 || m.Up > time.Since(began)+time.Minute {
			t.Errorf("%s is up for %v and unheard for %v", m.ID, m.Up, m.Unheard)
		}
	}
	status, err := asking.Status(t.Context())
	if err != nil || len(status.Searches) != 1 || status.Searches[0].State != "asking" ||
		status.Searches[0].Age > time.Since(began)+time.Minute || status.LastMinute > 6 {
		t.Errorf("%+v, %v", status, err)
	}
	if spent, err := s.Spent(t.Context()); err != nil {
		t.Errorf("spent %v, %v", spent, err)
	}
	// Nobody who lives is given up by one whose clock is far away, and who is silent is.
	for _, f := range []*Farm{asking, off(-time.Hour), off(time.Hour)} {
		if err := f.reap(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	stopBehind()
	if _, err := asking.pool.Exec(t.Context(),
		"INSERT INTO river_job (args, kind, max_attempts, queue, state, attempt, attempted_by) SELECT args, kind, 20, "+
			"'elsewhere', 'running', 1, '{behind}' FROM river_job LIMIT 1"); err != nil {
		t.Fatal(err)
	}
	if err := off(-time.Hour).reap(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := count(t, asking, "SELECT count(*) FROM river_job WHERE queue = 'elsewhere' AND state = 'available'"); n != 1 {
		t.Errorf("the job of a worker that is gone was not given away")
	}
}
