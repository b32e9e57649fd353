package farm

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"pawl/internal/postgrestest"
)

// A farm that is moved to another version sends its workers away.
func TestAnOldWorkerLeaves(t *testing.T) {
	t.Parallel()
	asking, working := newFarm(t)
	ended := make(chan error, 1)
	go func() {
		ended <- working.Work(context.Background(),
			WorkOptions{ID: "old", Host: "old", Identity: "old", Offers: Offers{Lanes: 1}, Queues: map[string]int{"q": 1}})
	}()
	await(t, func() bool { machines, _ := asking.Machines(t.Context(), Silence); return len(machines) == 1 })
	if err := Init(t.Context(), Options{URL: asking.options.URL, Version: "2"}); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil || !strings.Contains(err.Error(),
		"was moved to pawl 2 (protocol 5) while this pawl 1 (protocol 5) used it") {
		t.Errorf("%v", err)
	}
}

// Who asks when the farm is moved to another version is told, and the new workers do not answer.
// When the farm is moved back, the same question is answered.
func TestAnOldAskerIsTold(t *testing.T) {
	t.Parallel()
	asking, _ := newFarm(t)
	asked, err := asking.Begin(t.Context(), Head{Study: "one", Title: "one"})
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan error, 1)
	go func() {
		_, err := asked.Ask(context.Background(), "q", task("x"), nil)
		told <- err
	}()
	await(t, func() bool { return count(t, asking, "SELECT count(*) FROM tasks") == 1 })
	newer, older := asking.options, asking.options
	newer.Version = "2"
	if err := Init(t.Context(), newer); err != nil {
		t.Fatal(err)
	}
	var done atomic.Int32
	stop := employ(t, open(t, newer), "new", func(_ context.Context, job Job) (Answer, error) {
		done.Add(1)
		return missing(job.Point), nil
	})
	if err := <-told; !errors.As(err, new(*MismatchError)) ||
		!strings.Contains(err.Error(), "farm farm was moved to pawl 2 (protocol 5) while this pawl 1 (protocol 5) used it") {
		t.Errorf("%v", err)
	}
	await(t, func() bool { return count(t, asking, "SELECT count(*) FROM river_job WHERE state = 'cancelled'") == 1 })
	if err := asked.End(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	stop()
	if n := done.Load(); n != 0 {
		t.Errorf("a worker of another version did %d jobs", n)
	}
	if err := Init(t.Context(), older); err != nil {
		t.Fatal(err)
	}
	employ(t, open(t, older), "old", func(_ context.Context, job Job) (Answer, error) { return missing(job.Point), nil })
	if answer, err := begin(t, open(t, older), "one").Ask(t.Context(), "q", task("x"), nil); err != nil ||
		answer.Missing != "x" {
		t.Errorf("%+v, %v", answer, err)
	}
}

// An answer of one version is never taken by another that asks for the same study.
func TestAnswersAreOfOneVersion(t *testing.T) {
	t.Parallel()
	asking, _ := newFarm(t)
	for _, version := range []string{"1", "2"} {
		o := asking.options
		o.Version = version
		if err := Init(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		stop := employ(t, open(t, o), version, func(context.Context, Job) (Answer, error) { return missing(version), nil })
		s, err := open(t, o).Begin(t.Context(), Head{Study: "one", Title: "one"})
		if err != nil {
			t.Fatal(err)
		}
		if answer, err := s.Ask(t.Context(), "q", task("x"), nil); err != nil || answer.Missing != version {
			t.Errorf("%+v, %v", answer, err)
		}
		stop()
		if err := s.End(t.Context(), false); err != nil { // which leaves the answer
			t.Fatal(err)
		}
	}
}

// A worker gives a job of another version back where it is itself the wrong one, and tells an
// asker that is too old to look for itself.
func TestAWorkerLooksAtTheVersion(t *testing.T) {
	t.Parallel()
	asking, working := newFarm(t)
	s := begin(t, asking, "one")
	var done atomic.Int32
	stop := employ(t, working, "a", func(context.Context, Job) (Answer, error) {
		done.Add(1)
		return Answer{}, nil
	})
	old := task("old")
	old.Study = s.head.Study
	filed, err := newTicket(old)
	if err != nil {
		t.Fatal(err)
	}
	if err := pgx.BeginFunc(t.Context(), asking.pool, func(tx pgx.Tx) error {
		inserted, err := asking.insert.InsertTx(t.Context(), tx, filed, s.insertion("q", firstTag))
		if err == nil {
			_, err = tx.Exec(t.Context(), "INSERT INTO tasks (study, name, job) VALUES ($1, $2, $3)", old.Study, old.Task,
				inserted.Job.ID)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	var answer Answer
	await(t, func() bool {
		return asking.pool.QueryRow(t.Context(), "SELECT answer FROM tasks WHERE name = $1 AND answer IS NOT NULL",
			old.Task).Scan(&answer) == nil
	})
	if answer.Error != "the farm is of pawl 1, which may measure differently: ask it with the same one" ||
		done.Load() != 0 {
		t.Errorf("%+v after %d jobs", answer, done.Load())
	}
	stop()
	late := &work{farm: open(t, working.options), mismatch: make(chan error, 1)}
	newer := working.options
	newer.Version = "2"
	if err := Init(t.Context(), newer); err != nil {
		t.Fatal(err)
	}
	refused, err := late.refuse(t.Context(), Job{Protocol: Protocol, Version: "2"})
	if refused != nil || !errors.As(err, new(*river.JobSnoozeError)) || len(late.mismatch) != 1 {
		t.Errorf("%+v, %v, %d reasons to leave", refused, err, len(late.mismatch))
	}
}

// A network that falls silent while somebody waits for an answer is said, and the answer comes
// when it carries again.
func TestAnAskerHearsOfSilence(t *testing.T) {
	t.Parallel()
	direct := postgrestest.Database(t)
	o := Options{URL: direct, Version: "1"}
	if err := Init(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	taken, release := make(chan struct{}), make(chan struct{})
	employ(t, open(t, o), "a", func(_ context.Context, job Job) (Answer, error) {
		close(taken)
		<-release
		return missing(job.Point), nil
	})
	hole, through := postgrestest.BlackHole(t, direct+"&connect_timeout=1")
	said := make(chan string, 100)
	o.URL, o.silence, o.Notice = through, 200*time.Millisecond, func(text string) { said <- text }
	s := begin(t, open(t, o), "one")
	answered := make(chan error, 1)
	go func() {
		answer, err := s.Ask(context.Background(), "q", task("x"), nil)
		if err == nil && answer.Missing != "x" {
			err = errors.New("another answer")
		}
		answered <- err
	}()
	<-taken
	hole.Fall()
	if text := <-said; !strings.Contains(text, "has not answered for 200ms: waiting for it") {
		t.Error(text)
	}
	close(release)
	hole.Rise()
	if err := <-answered; err != nil {
		t.Error(err)
	}
	if text := <-said; !strings.Contains(text, "answers again, after") {
		t.Error(text)
	}
}
