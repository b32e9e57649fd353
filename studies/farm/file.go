package farm

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
)

// filing is a task on its way to the queue.
type filing struct {
	queue string
	job   Job
	// filed has room for one error; answer is what is there already, if anything.
	filed  chan error
	answer *Answer
}

// errFiled says that there is a task of that name.
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

// mostTogether is how many tasks are filed in one transaction at most.
const mostTogether = 64

// fileAll files tasks until the search is over: whatever has come while the last ones were
// filed, together.
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
	asked := map[string]string{} // by task
	for i, f := range batch {
		question, err := json.Marshal(f.job)
		if err != nil {
			return err
		}
		tag, err := s.tag(ctx, f.queue)
		if err != nil {
			return err
		}
		asked[f.job.Task] = string(question)
		tickets[i] = river.InsertManyParams{Args: ticket{f.job.Study, f.job.Task}, InsertOpts: s.insertion(f.queue, tag)}
	}
	return pgx.BeginFunc(ctx, s.farm.pool, func(tx pgx.Tx) error {
		inserted, err := s.farm.insert.InsertManyTx(ctx, tx, tickets)
		if err != nil {
			return err
		}
		var names, questions []string
		var jobs []int64
		for _, result := range inserted { // in whatever order
			var t ticket
			if err := json.Unmarshal(result.Job.EncodedArgs, &t); err != nil {
				return err
			}
			names, questions, jobs = append(names, t.Task), append(questions, asked[t.Task]), append(jobs, result.Job.ID)
		}
		filed, err := tx.Exec(ctx, `INSERT INTO tasks (study, name, job, question)
			SELECT $1, name, job, question::jsonb FROM unnest($2::text[], $3::bigint[], $4::text[]) AS new (name, job, question)
			ON CONFLICT (study, name) DO NOTHING`, s.head.Study, names, jobs, questions)
		if err == nil && filed.RowsAffected() < int64(len(batch)) {
			err = errFiled
		}
		return err
	})
}

// insertion is how River takes a task.
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
	question, err := json.Marshal(job)
	if err != nil {
		return nil, err
	}
	err = pgx.BeginFunc(ctx, s.farm.pool, func(tx pgx.Tx) error {
		var known []byte
		var open bool
		err := tx.QueryRow(ctx, `SELECT t.answer, j.id IS NOT NULL AND j.state NOT IN ('cancelled', 'discarded', 'completed') FROM tasks t
			LEFT JOIN river_job j ON j.id = t.job WHERE t.study = $1 AND t.name = $2 FOR UPDATE OF t`, job.Study, job.Task).Scan(&known, &open)
		switch {
		case err != nil || open && known == nil:
			return err
		case known != nil:
			return json.Unmarshal(known, &answer)
		}
		inserted, err := s.farm.insert.InsertTx(ctx, tx, ticket{job.Study, job.Task}, s.insertion(queue, firstTag))
		if err == nil {
			_, err = tx.Exec(ctx, "UPDATE tasks SET job = $3, question = $4, filed = now() WHERE study = $1 AND name = $2", job.Study, job.Task, inserted.Job.ID, question)
		}
		return err
	})
	return answer, err
}
