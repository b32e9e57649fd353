package farm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"pawl/objective/cache"
)

// Priorities of searches, River's: what has a lower number goes first.
const (
	GatePriority   = 1
	SearchPriority = 3
)

const attempts = 20

// Head describes a search.
type Head struct {
	// Study identifies the study, everywhere and for ever.
	Study string
	// Title is for a person, Label a word for logs: the study's number.
	Title, Label string
	// Priority is 1 to 4. Zero means SearchPriority.
	Priority int
}

// Search is a study that asks the farm. Its methods are safe for concurrent use.
type Search struct {
	farm   *Farm
	head   Head
	cancel context.CancelFunc
	ended  sync.WaitGroup
	// moved is closed when the farm was moved to another version, which mismatch says.
	moved    chan struct{}
	mismatch error

	// filings are tasks to be filed; those that wait together are filed together.
	filings chan *filing
	turning sync.Mutex
	turns   map[string]turn // by queue
	done    <-chan struct{} // closed at the end

	waiting sync.Map // chan []byte by task; each has room for one word, an answer or nil
}

// Begin tells the farm about a search. End it when nothing more is asked.
func (f *Farm) Begin(ctx context.Context, head Head) (*Search, error) {
	head.Priority = cmp.Or(head.Priority, SearchPriority)
	// What another version has answered, or has in hand, is not this one's: they may measure differently.
	head.Study = TaskName(head.Study, strconv.Itoa(Protocol), f.options.Version)
	err := f.durable(ctx, "beginning a search on the farm", func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO searches (study, title, priority) VALUES ($1, $2, $3)
			ON CONFLICT (study) DO UPDATE SET title = $2, priority = $3, heartbeat = now(), ended = NULL`,
			head.Study, head.Title, head.Priority)
		return err
	})
	if err != nil {
		return nil, err
	}
	beside, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s := &Search{
		farm:    f,
		head:    head,
		cancel:  cancel,
		done:    beside.Done(),
		moved:   make(chan struct{}),
		filings: make(chan *filing),
		turns:   map[string]turn{},
	}
	s.ended.Go(func() { s.listen(beside) })
	s.ended.Go(func() { s.fileAll(beside) })
	s.ended.Go(func() {
		beats := 0
		f.beat(beside, func(ctx context.Context) error {
			_, err := f.pool.Exec(ctx, "UPDATE searches SET heartbeat = now() WHERE study = $1", head.Study)
			s.wake("", nil) // in case that a word was lost
			if err == nil {
				s.notice(f.stillAgree(ctx))
			}
			if beats++; err == nil && beats%10 == 1 {
				err = f.evict(ctx, storeLimit)
			}
			return err
		})
	})
	return s, nil
}

// TaskName makes a task's name of what tells it from others of its study.
func TaskName(parts ...string) string {
	key := cache.NewKey()
	for _, part := range parts {
		key.Add("", part)
	}
	return key.String()[:32]
}

// Ask files a task, unless one of that name was filed before, and waits for its answer.
// While check, which may be nil, says that nobody can answer, the error is returned.
func (s *Search) Ask(ctx context.Context, queue string, job Job, check func(context.Context) error) (Answer, error) {
	job.Study, job.Label = s.head.Study, s.head.Label
	job.Protocol, job.Version = Protocol, s.farm.options.Version
	word := make(chan []byte, 1)
	s.waiting.Store(job.Task, word)
	defer s.waiting.Delete(job.Task)
	answer, err := s.submit(ctx, queue, job)
	for checked := time.Now(); err == nil && answer == nil; {
		select {
		case <-ctx.Done():
			return Answer{}, context.Cause(ctx)
		case <-s.moved:
			return Answer{}, s.mismatch
		case encoded := <-word:
			answer, err = s.look(ctx, queue, job, encoded)
		}
		if err == nil && answer == nil && check != nil && time.Since(checked) > beatInterval {
			checked = time.Now()
			if err := check(ctx); err != nil {
				s.withdraw(context.WithoutCancel(ctx), job.Task)
				return Answer{}, err
			}
		}
	}
	if err != nil {
		return Answer{}, err
	}
	if answer.Error != "" {
		return *answer, fmt.Errorf("the farm could not do it: %s", answer.Error)
	}
	return *answer, nil
}

// notice ends all questions when the farm was moved to another version.
func (s *Search) notice(err error) {
	if mismatch, ok := errors.AsType[*MismatchError](err); ok && s.mismatch == nil {
		s.mismatch = mismatch
		close(s.moved)
	}
}

// Mismatch returns a *MismatchError once the farm was moved to another version: nobody will answer.
func (s *Search) Mismatch() error {
	select {
	case <-s.moved:
		return s.mismatch
	default:
		return nil
	}
}

// look returns what a word says, or what is in the database where it says nothing.
func (s *Search) look(ctx context.Context, queue string, job Job, encoded []byte) (answer *Answer, err error) {
	if encoded != nil {
		return answer, json.Unmarshal(encoded, &answer)
	}
	err = s.farm.persist(ctx, "reading an answer", func(ctx context.Context) (err error) {
		err = s.farm.pool.QueryRow(ctx, "SELECT answer FROM tasks WHERE study = $1 AND name = $2", s.head.Study,
			job.Task).Scan(&answer)
		if errors.Is(err, pgx.ErrNoRows) {
			answer, err = s.file(ctx, queue, job) // a crash of the server has undone it
		}
		return err
	})
	return answer, err
}

func (s *Search) withdraw(ctx context.Context, task string) {
	err := pgx.BeginFunc(ctx, s.farm.pool, func(tx pgx.Tx) error {
		var job int64
		if err := tx.QueryRow(ctx, "DELETE FROM tasks WHERE study = $1 AND name = $2 AND answer IS NULL RETURNING job",
			s.head.Study, task).Scan(&job); err != nil {
			return err
		}
		_, err := s.farm.insert.JobCancelTx(ctx, tx, job)
		return err
	})
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		s.farm.log.Warn("a task was not withdrawn", "study", s.head.Study, "task", task, "error", err)
	}
}

// End cancels what is still asked for, and notes what the study took. Forget also removes
// the answers: of a study whose answers are recorded elsewhere.
func (s *Search) End(ctx context.Context, forget bool) error {
	s.cancel()
	s.ended.Wait()
	f := s.farm
	return f.durable(ctx, "ending a search on the farm", func(tx pgx.Tx) error {
		open, err := gather(ctx, tx, pgx.RowTo[int64],
			"SELECT job FROM tasks WHERE study = $1 AND answer IS NULL", s.head.Study)
		if err != nil {
			return err
		}
		for _, job := range open {
			if _, err := f.insert.JobCancelTx(ctx, tx, job); err != nil && !errors.Is(err, river.ErrNotFound) {
				return err
			}
		}
		if forget {
			if err := removeTasks(ctx, tx, s.head.Study); err != nil {
				return err
			}
		}
		_, err = tx.Exec(ctx, "UPDATE searches SET ended = now() WHERE study = $1", s.head.Study)
		return err
	})
}

// removeTasks adds up what a study's tasks took, and removes them with their jobs. Jobs that are
// being cancelled stay until River has done it.
func removeTasks(ctx context.Context, tx pgx.Tx, study string) error {
	for _, statement := range []string{
		`UPDATE searches s SET finished = finished + (SELECT count(*) FROM tasks WHERE study = $1 AND answer IS NOT NULL),
			seconds = ` + spentSQL + ` WHERE study = $1`,
		`DELETE FROM river_job WHERE id IN (SELECT job FROM tasks WHERE study = $1)
		AND state IN ('completed', 'cancelled', 'discarded')`,
		`DELETE FROM tasks WHERE study = $1`,
	} {
		if _, err := tx.Exec(ctx, statement, study); err != nil {
			return err
		}
	}
	return nil
}

// wake tells one task's Ask its answer, or to look for it where that is nil; or all of them.
func (s *Search) wake(task string, answer []byte) {
	s.waiting.Range(func(name, word any) bool {
		if task == "" || name == task {
			select {
			case word.(chan []byte) <- answer:
			default: // it has yet to look
			}
		}
		return true
	})
}

// answersTopic is where words of a study's answers are sent.
func (f *Farm) answersTopic(study string) string { return "pawl_" + TaskName(f.schema, study) }

// listen waits for words of answers, on a connection of its own.
func (s *Search) listen(ctx context.Context) {
	for ctx.Err() == nil {
		err := s.listenOnce(ctx)
		if ctx.Err() != nil {
			return
		}
		s.farm.log.Warn("the connection for answers is lost", "study", s.head.Study, "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
	}
}

func (s *Search) listenOnce(ctx context.Context) error {
	connection, err := pgx.ConnectConfig(ctx, s.farm.pool.Config().ConnConfig)
	if err != nil {
		return err
	}
	defer connection.Close(context.WithoutCancel(ctx))
	if _, err := connection.Exec(ctx, "LISTEN "+pgx.Identifier{s.farm.answersTopic(s.head.Study)}.Sanitize()); err != nil {
		return err
	}
	s.wake("", nil) // what came before
	for {
		word, err := connection.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		if task, answer, answered := strings.Cut(word.Payload, " "); answered {
			s.wake(task, []byte(answer))
		} else {
			s.wake(task, nil)
		}
	}
}
