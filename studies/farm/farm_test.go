package farm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pawl/internal/postgrestest"
	"pawl/objective/devices"
)

// newFarm makes a farm and opens it twice: for who asks, and for a worker.
func newFarm(t testing.TB) (asking, working *Farm) {
	t.Helper()
	o := Options{URL: postgrestest.Database(t), Version: "1"}
	if err := Init(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	return open(t, o), open(t, o)
}

func open(t testing.TB, o Options) *Farm {
	t.Helper()
	f, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

func begin(t testing.TB, f *Farm, study string) *Search {
	t.Helper()
	s, err := f.Begin(t.Context(), Head{Study: study, Title: study})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.End(context.Background(), true); err != nil {
			t.Error(err)
		}
	})
	return s
}

// employ runs a worker until stop is called.
func employ(t testing.TB, f *Farm, id string, do func(context.Context, Job) (Answer, error)) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- f.Work(ctx,
			WorkOptions{
				ID:       id,
				Host:     id,
				Identity: id,
				Offers:   Offers{Lanes: 1},
				Queues:   map[string]int{"q": 1},
				Grace:    50 * time.Millisecond,
				Do:       do,
			})
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("worker %s: %v", id, err)
		}
	})
	t.Cleanup(stop)
	return stop
}

func missing(text string) Answer { return Answer{Missing: text} }

func task(name string) Job { return Job{Task: TaskName(name), Action: Measure, Point: name} }

// A task is answered once: whoever asks again gets the same answer, and nobody works on it.
func TestAnAnswerIsForEver(t *testing.T) {
	t.Parallel()
	asking, working := newFarm(t)
	s := begin(t, asking, "one")
	count := 0
	employ(t, working, "a", func(_ context.Context, job Job) (Answer, error) {
		count++
		return missing(job.Point), nil
	})
	for range 3 {
		answer, err := s.Ask(t.Context(), "q", task("x"), nil)
		if err != nil || answer.Missing != "x" {
			t.Fatalf("%+v, %v", answer, err)
		}
	}
	if count != 1 {
		t.Errorf("done %d times", count)
	}
}

// A worker that is given up for dead loses its job to another, and what it writes when it
// wakes up is dropped, although the task may still be without an answer.
func TestAZombieCannotWrite(t *testing.T) {
	t.Parallel()
	asking, working := newFarm(t)
	s := begin(t, asking, "one")
	taken, wake := make(chan struct{}, 1), make(chan struct{})
	zombie := employ(t, working, "zombie", func(context.Context, Job) (Answer, error) {
		taken <- struct{}{}
		<-wake
		return missing("zombie"), nil
	})
	answered := make(chan Answer, 1)
	go func() {
		answer, err := s.Ask(context.Background(), "q", task("x"), nil)
		if err != nil {
			t.Error(err)
		}
		answered <- answer
	}()
	<-taken
	// Its heart stops: the others hear nothing of it for longer than they wait.
	if _, err := asking.pool.Exec(t.Context(),
		"UPDATE machines SET heartbeat = now() - interval '1 hour' WHERE id = 'zombie'"); err != nil {
		t.Fatal(err)
	}
	if err := asking.reap(t.Context()); err != nil {
		t.Fatal(err)
	}
	second, release := make(chan struct{}), make(chan struct{})
	employ(t, open(t, Options{URL: working.options.URL, Version: "1"}), "living",
		func(context.Context, Job) (Answer, error) {
			close(second)
			<-release
			return missing("living"), nil
		})
	<-second
	close(wake) // while the other has the job in hand, and before it has answered
	time.Sleep(300 * time.Millisecond)
	var told bool
	if err := asking.pool.QueryRow(t.Context(), "SELECT answer IS NOT NULL FROM tasks").Scan(&told); err != nil || told {
		t.Errorf("the zombie has written: %v, %v", told, err)
	}
	zombie() // or it would take the job again
	close(release)
	if answer := <-answered; answer.Missing != "living" {
		t.Errorf("%+v", answer)
	}
}

// A worker that is stopped gives back what it cannot finish, and it is done at once by the
// next. Cancelling a search cancels its jobs.
func TestAStoppedWorkerGivesBack(t *testing.T) {
	t.Parallel()
	asking, working := newFarm(t)
	s := begin(t, asking, "one")
	taken := make(chan struct{}, 2)
	stop := employ(t, working, "slow", func(ctx context.Context, _ Job) (Answer, error) {
		taken <- struct{}{}
		<-ctx.Done()
		return Answer{}, ctx.Err()
	})
	answered := make(chan Answer, 1)
	go func() {
		answer, err := s.Ask(context.Background(), "q", task("x"), nil)
		if err != nil {
			t.Error(err)
		}
		answered <- answer
	}()
	<-taken
	stop()
	left, err := asking.Machines(t.Context(), time.Hour)
	if err != nil || len(left) != 0 {
		t.Errorf("%d machines after the end of the only one, %v", len(left), err)
	}
	next := employ(t, working, "quick", func(context.Context, Job) (Answer, error) { return missing("done"), nil })
	if answer := <-answered; answer.Missing != "done" {
		t.Errorf("%+v", answer)
	}
	next()
	asked, cancel := context.WithCancel(t.Context())
	go s.Ask(asked, "q", task("never"), nil) //nolint:errcheck // it is cancelled
	await(t, func() bool { return count(t, asking, "SELECT count(*) FROM river_job WHERE state = 'available'") == 1 })
	cancel()
	if err := s.End(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if open := count(t, asking, "SELECT count(*) FROM river_job WHERE state NOT IN ('cancelled', 'completed')"); open !=
		0 {
		t.Errorf("%d jobs are open after the end", open)
	}
}

func count(t testing.TB, f *Farm, query string) (n int) {
	t.Helper()
	if err := f.pool.QueryRow(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func await(t testing.TB, done func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not happen")
		}
	}
}

// A job that a machine whose clock is ahead has put off is done now; one that nobody comes
// back from is answered in the end.
func TestClocksAndLostJobs(t *testing.T) {
	t.Parallel()
	asking, working := newFarm(t)
	s := begin(t, asking, "one")
	answered := make(chan Answer, 2)
	for _, name := range []string{"put off", "lost"} {
		go func() {
			answer, err := s.Ask(context.Background(), "q", task(name), nil)
			if err != nil {
				t.Error(err)
			}
			answered <- answer
		}()
	}
	await(t, func() bool { return count(t, asking, "SELECT count(*) FROM tasks") == 2 })
	_, err := asking.pool.Exec(t.Context(),
		`UPDATE river_job SET scheduled_at = now() + interval '10 minutes' WHERE args->>'task' = '`+task("put off").Task+`';
		UPDATE river_job SET state = 'running', attempt = max_attempts, attempted_by = '{nobody}' WHERE args->>'task' = '`+
			task("lost").Task+`'`)
	if err != nil {
		t.Fatal(err)
	}
	if err := asking.reap(t.Context()); err != nil {
		t.Fatal(err)
	}
	if answer := <-answered; !answer.Lost {
		t.Errorf("%+v", answer)
	}
	employ(t, working, "a", func(context.Context, Job) (Answer, error) { return missing("x"), nil })
	if answer := <-answered; answer.Missing != "x" {
		t.Errorf("%+v", answer)
	}
}

// Broken machinery is tried on other machines before who asks hears of it.
func TestBrokenMachinery(t *testing.T) {
	t.Parallel()
	asking, working := newFarm(t)
	s := begin(t, asking, "one")
	tries := 0
	employ(t, working, "a", func(context.Context, Job) (Answer, error) {
		tries++
		return Answer{}, errors.New("the disk is full")
	})
	_, err := s.Ask(t.Context(), "q", task("x"), nil)
	if err == nil || !strings.Contains(err.Error(), "the disk is full") || tries != failures {
		t.Errorf("%v after %d tries", err, tries)
	}
}

// Files are what was stored, damage is noticed, and the oldest make room.
func TestBlobs(t *testing.T) {
	t.Parallel()
	f, _ := newFarm(t)
	large := bytes.Repeat([]byte("large"), 500_000) // three chunks
	var digests []string
	for _, content := range [][]byte{large, []byte("small"), nil, large} {
		digest, err := f.Put(t.Context(), content)
		if err != nil {
			t.Fatal(err)
		}
		found, err := f.Get(t.Context(), digest)
		if err != nil || !bytes.Equal(found, content) {
			t.Fatalf("%d bytes of %d, %v", len(found), len(content), err)
		}
		digests = append(digests, digest)
	}
	if _, err := f.Get(t.Context(), "nothing"); !errors.As(err, new(*MissingError)) {
		t.Errorf("%v", err)
	}
	if _, err := f.pool.Exec(t.Context(), "UPDATE blobs SET used = now() - interval '1 hour' WHERE digest = $1",
		digests[0]); err != nil {
		t.Fatal(err)
	}
	err := pgx.BeginFunc(t.Context(), f.pool, func(tx pgx.Tx) error { return put(t.Context(), tx, "new", []byte("new")) })
	if err == nil {
		err = f.evict(t.Context(), 100)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Get(t.Context(), digests[0]); !errors.As(err, new(*MissingError)) {
		t.Errorf("what was not used is still there: %v", err)
	}
	if _, err := f.Get(t.Context(), digests[1]); err != nil {
		t.Errorf("what was just used is gone: %v", err)
	}
	if _, err := f.Get(t.Context(), "new"); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("bytes under a wrong digest: %v", err)
	}
}

// Names of queues are River's, and differ where the device does.
func TestQueues(t *testing.T) {
	t.Parallel()
	h200 := devices.Measures{
		Backend:      "cuda",
		Device:       "NVIDIA H200",
		Driver:       "580.65.06",
		Architecture: "sm_90",
		Identity:     "a",
	}
	other, newer := h200, h200
	other.Identity, newer.Driver = "b", "590.10"
	if MeasureQueue(h200) != MeasureQueue(other) || OwnQueue(h200) == OwnQueue(other) ||
		MeasureQueue(h200) == MeasureQueue(newer) {
		t.Error("queues are mixed")
	}
	for _, name := range []string{MeasureQueue(h200), OwnQueue(h200), queue("compile", strings.Repeat("é-x ", 40)),
		queue("compile", "")} {
		if len(name) > 64 || !strings.HasPrefix(MeasureQueue(h200), "measure-nvidia-h200-") {
			t.Errorf("%q", name)
		}
	}
}

// What cannot be used is refused in a sentence, and no sentence or log has the password.
func TestRefusals(t *testing.T) {
	url := postgrestest.Database(t)
	var said bytes.Buffer
	log := slog.New(slog.NewTextHandler(&said, nil))
	o := Options{URL: url, Version: "1", Log: log}
	refuse := func(want string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
			return
		}
		said.WriteString(err.Error())
	}
	with := func(change func(*Options)) error {
		changed := o
		change(&changed)
		f, err := Open(t.Context(), changed)
		if err == nil {
			f.Close()
		}
		return err
	}
	refuse("there is no farm called farm", with(func(*Options) {}))
	if err := Init(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	refuse("there is no farm called other", with(func(o *Options) { o.Name = "other" }))
	refuse("is of pawl 1 and this is pawl 2", with(func(o *Options) { o.Version = "2" }))
	refuse("a farm's name has small letters", with(func(o *Options) { o.Name = "x;drop" }))
	refuse("named by a URL", with(func(o *Options) { o.URL = "mysql://me:" + postgrestest.Password + "@here/x" }))
	refuse("named by a URL", with(func(o *Options) { o.URL = "postgres://me:" + postgrestest.Password + "@here:port/x" }))
	refuse("cannot be reached: 127.0.0.1:1",
		with(func(o *Options) { o.URL = "postgres://me:" + postgrestest.Password + "@127.0.0.1:1/x" }))
	refuse("the host nowhere.invalid is not known",
		with(func(o *Options) { o.URL = "postgres://me:" + postgrestest.Password + "@nowhere.invalid/x" }))
	refuse("refuses the user",
		with(func(o *Options) { o.URL = postgrestest.As(t, url, "nobody", "wrong "+postgrestest.Password) }))
	postgrestest.Exec(t, url, "UPDATE pawl_farm.farm SET protocol = 99")
	refuse("speaks protocol 99", with(func(*Options) {}))
	postgrestest.Exec(t, url, "CREATE SCHEMA pawl_theirs; CREATE TABLE pawl_theirs.thing (x int)")
	refuse("is somebody else's", with(func(o *Options) { o.Name = "theirs" }))
	refuse("is somebody else's", Init(t.Context(), Options{URL: url, Name: "theirs", Version: "1"}))
	if err := Init(t.Context(), Options{URL: url, Name: "second", Version: "2"}); err != nil {
		t.Errorf("a second farm: %v", err)
	}
	if strings.Contains(said.String(), postgrestest.Password) {
		t.Errorf("the password was said: %s", said.String())
	}
}

// An answer survives the way to the database and back.
func TestAnswersTravel(t *testing.T) {
	encoded, err := json.Marshal(Answer{Description: &Description{
		Infeasible: []byte{1, 2},
		Reasons:    map[string]int{"x": 1},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var back Answer
	if err := json.Unmarshal(encoded, &back); err != nil || !bytes.Equal(back.Description.Infeasible, []byte{1, 2}) {
		t.Errorf("%s, %v", encoded, err)
	}
}
