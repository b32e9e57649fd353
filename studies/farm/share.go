package farm

import (
	"context"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"pawl/search"
)

// Studies share a queue fairly: see search.Turn. River serves a queue by priority, then by the
// time that a job is due. The turns are such times, long ago and a millisecond apart: a job is
// due at once, whatever clocks say.
var (
	firstTag = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	lastTag  = firstTag.AddDate(20, 0, 0)
)

// due says that jobs with a tag are due: River takes any given time to be one to wait for.
var due = river.JobInsertMiddlewareFunc(func(ctx context.Context, jobs []*rivertype.JobInsertParams,
	insert func(context.Context) ([]*rivertype.JobInsertResult, error)) ([]*rivertype.JobInsertResult, error) {
	for _, job := range jobs {
		job.State = rivertype.JobStateAvailable
	}
	return insert(ctx)
})

// turn is where a study is in a queue.
type turn struct {
	search.Turn
	served int64     // the number of what was served last, of any study
	looked time.Time // when that was looked at
}

// lookAgain is after what time it is looked at again what was served last: others move on
// by no more than a few dozen tasks meanwhile.
const lookAgain = 200 * time.Millisecond

// tag gives a task of a queue its turn.
func (s *Search) tag(ctx context.Context, queue string) (time.Time, error) {
	s.turning.Lock()
	defer s.turning.Unlock()
	t := s.turns[queue]
	if time.Since(t.looked) > lookAgain {
		t.served, t.looked = 0, time.Now()
		var found *time.Time
		if err := s.farm.pool.QueryRow(ctx, `SELECT greatest(
				(SELECT max(scheduled_at) FROM river_job WHERE state = 'running' AND queue = $1 AND priority = $2
				AND scheduled_at < $3),
				(SELECT max(scheduled_at) FROM river_job WHERE state = 'completed' AND queue = $1 AND priority = $2
				AND scheduled_at < $3))`,
			queue, s.head.Priority, lastTag).Scan(&found); err != nil {
			return firstTag, err
		}
		if found != nil {
			t.served = found.Sub(firstTag).Milliseconds()
		}
	}
	next := t.Next(t.served)
	s.turns[queue] = t
	return firstTag.Add(time.Duration(next) * time.Millisecond), nil
}
