package farm

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/riverqueue/river"
)

type filing struct {
	queue string
	job   Job
	// filed has room for one error; answer is what is there already, if anything.
	filed  chan error
	answer *Answer
}

var errFiled = errors.New("the task was filed before")

// errEnded says that a task was asked for too late.
var errEnded = errors.New("the search on the farm has ended")

// submit has a task filed. It returns the answer that is there already, if any.
func (s *Search) submit(ctx context.Context, queue string, job Job) (*Answer, error) {
	f := &filing{queue: queue, job: job, filed: make(chan error, 1)}
	select {
	case s.filings <- f:
	case <-s.done:
		return nil, errEnded
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	select {
	case err := <-f.filed:
		return f.answer, err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

const mostTogether = 64

// fileAll files tasks until the search is over: whatever has come while the last ones were filed, together.
func (s *Search) fileAll(ctx context.Context) {
	for {
		var batch []*filing
		select {
		case <-ctx.Done():
			return
		case first := <-s.filings:
			batch = append(batch, first)
		}
		for more := true; more && len(batch) < mostTogether; {
			select {
			case next := <-s.filings:
				batch = append(batch, next)
			default:
				more = false
			}
		}
		err := s.farm.persist(ctx, "filing a task", func(ctx context.Context) error { return s.fileNew(ctx, batch) })
		for _, f := range batch {
			alone := err
			if errors.Is(err, errFiled) { // one of them at least: each is looked at
				alone = s.farm.persist(ctx, "filing a task", func(ctx context.Context) (err error) {
					f.answer, err = s.file(ctx, f.queue, f.job)
					return err
				})
			}
			f.filed <- alone
		}
	}
}

// fileNew files tasks that nobody has filed before; otherwise the error is errFiled.
func (s *Search) fileNew(ctx context.Context, batch []*filing) error {
	tickets := make([]river.InsertManyParams, len(batch))
	for i, f := range batch {
		args, err := newTicket(f.job)
		if err != nil {
			return err
		}
		tag, err := s.tag(ctx, f.queue)
		if err != nil {
			return err
		}
		tickets[i] = river.InsertManyParams{Args: args, InsertOpts: s.insertion(f.queue, tag)}
	}
	err := s.farm.transact(ctx, "begin", func(tx pgx.Tx) (last *pgx.Batch, err error) {
		inserted, err := s.farm.insert.InsertManyTx(ctx, tx, tickets)
		if err != nil {
			return nil, err
		}
		var names []string
		var jobs []int64
		for _, result := range inserted { // in whatever order
			var t ticket
			if err := json.Unmarshal(result.Job.EncodedArgs, &t); err != nil {
				return nil, err
			}
			names, jobs = append(names, t.Task), append(jobs, result.Job.ID)
		}
		last = &pgx.Batch{}
		last.Queue("INSERT INTO tasks (study, name, job) SELECT $1, name, job FROM unnest($2::text[], $3::bigint[]) AS "+
			"new (name, job)", s.head.Study, names, jobs)
		return last, nil
	})
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok && refused.Code == uniqueViolation {
		return errFiled
	}
	return err
}

// uniqueViolation is PostgreSQL's code for a key that is there already.
const uniqueViolation = "23505"

func (s *Search) insertion(queue string, tag time.Time) *river.InsertOpts {
	return &river.InsertOpts{Queue: queue, Priority: s.head.Priority, MaxAttempts: attempts, ScheduledAt: tag}
}

// file files a task that may have been filed before, as one that a crash has undone. It
// returns the answer that is there already, if any.
func (s *Search) file(ctx context.Context, queue string, job Job) (answer *Answer, err error) {
	err = s.fileNew(ctx, []*filing{{queue: queue, job: job}})
	if !errors.Is(err, errFiled) {
		return nil, err
	}
	args, err := newTicket(job)
	if err != nil {
		return nil, err
	}
	err = pgx.BeginFunc(ctx, s.farm.pool, func(tx pgx.Tx) error {
		var open bool
		err := tx.QueryRow(ctx,
			`SELECT t.answer, j.id IS NOT NULL AND j.state NOT IN ('cancelled', 'discarded', 'completed') FROM tasks t
			LEFT JOIN river_job j ON j.id = t.job WHERE t.study = $1 AND t.name = $2 FOR UPDATE OF t`, job.Study,
			job.Task).Scan(&answer, &open)
		if err != nil || open || answer != nil {
			return err
		}
		inserted, err := s.farm.insert.InsertTx(ctx, tx, args, s.insertion(queue, firstTag))
		if err == nil {
			_, err = tx.Exec(ctx, "UPDATE tasks SET job = $3, filed = now() WHERE study = $1 AND name = $2", job.Study,
				job.Task, inserted.Job.ID)
		}
		return err
	})
	return answer, err
}
