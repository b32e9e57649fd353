package farm

import (
	"context"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// Studies share a queue fairly: see turn. River serves a queue by priority, then by the
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

// turn is where a study is in a queue that it shares with others, by start-time fair queueing
// (Goyal, Vin, Cheng 1996): each task has a number, one more than the last of its study or
// that of what was served last, whichever is later, and the lowest goes first. So a study that
// asks for little does not wait behind one that asks for much, and one that was idle has no claim
// to what it missed. The zero turn is a study that has not asked.
type turn struct {
	asked  bool
	last   int64
	served int64     // the number of what was served last, of any study
	looked time.Time // when that was looked at
}

func (t *turn) next() int64 {
	number := t.served
	if t.asked && t.last >= number {
		number = t.last + 1
	}
	t.asked, t.last = true, number
	return number
}

// lookAgain is how long what was served last is remembered: others move on by a few dozen tasks meanwhile.
const lookAgain = 200 * time.Millisecond

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
	next := t.next()
	s.turns[queue] = t
	return firstTag.Add(time.Duration(next) * time.Millisecond), nil
}
