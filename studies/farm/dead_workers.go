package farm

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// beatInterval is how often those who take part are heard.
	beatInterval = time.Second
	// Silence is how long one must not be heard to be given up for dead.
	Silence = 5 * time.Second
)

// beat calls do every second, and then reaps. Only who has been heard for Silence may give up others: after a restart
// of the server nobody was heard for a while, and all of them live.
func (f *Farm) beat(ctx context.Context, do func(context.Context) error) {
	ticker := time.NewTicker(beatInterval)
	defer ticker.Stop()
	heard := time.Duration(0)
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		beating, cancel := context.WithTimeout(ctx, Silence)
		start := time.Now()
		err := do(beating)
		if err == nil && heard >= Silence {
			err = f.reap(beating)
		}
		cancel()
		if heard += beatInterval; err != nil || time.Since(start) > beatInterval {
			heard = 0
		}
		if err != nil && ctx.Err() == nil {
			f.log.Warn("not heard", "error", err)
		}
	}
}

// reap gives the jobs of dead workers to others, and makes jobs due that a clock which is
// ahead has put off: none of ours ever is to wait. River itself gives up a job by its time
// alone, an hour by default, and has no statement for either.
func (f *Farm) reap(ctx context.Context) error {
	return pgx.BeginFunc(ctx, f.pool, func(tx pgx.Tx) error {
		type reaped struct {
			ID       int64
			Attempt  int
			State    string
			Question string
		}
		found, err := gather(ctx, tx, pgx.RowToStructByPos[reaped], `WITH dead AS (
				SELECT id FROM river_job j WHERE state = 'running' AND NOT EXISTS (
					SELECT FROM machines m WHERE m.id = j.attempted_by[array_upper(j.attempted_by, 1)]
					AND m.heartbeat > now() - $1::interval)
				FOR UPDATE SKIP LOCKED)
			UPDATE river_job j SET
				state = (CASE WHEN metadata ? 'cancel_attempted_at' THEN 'cancelled' WHEN attempt >= max_attempts
				THEN 'discarded' ELSE 'available' END)::river_job_state,
				finalized_at = CASE WHEN metadata ? 'cancel_attempted_at' OR attempt >= max_attempts THEN now() END,
				scheduled_at = $2
			FROM dead WHERE j.id = dead.id RETURNING j.id, j.attempt, j.state::text, j.args->>'question'`, Silence, firstTag)
		if err != nil {
			return err
		}
		var lost pgx.Batch
		for _, r := range found {
			var job Job
			if err := json.Unmarshal([]byte(r.Question), &job); err != nil {
				return fmt.Errorf("job %d: %w", r.ID, err)
			}
			f.log.Warn("a worker is gone, its job is given to another", "study", job.Label, "trial", job.trial(), "job", r.ID,
				"attempt", r.Attempt, "action", job.Action, "state", r.State)
			if r.State != "discarded" {
				continue
			}
			if err := f.answer(&lost, job.Study, job.Task, Answer{Lost: true}, writer{}); err != nil {
				return err
			}
		}
		if err := tx.SendBatch(ctx, &lost).Close(); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE river_job SET state = 'available', scheduled_at = $1
			WHERE id IN (SELECT id FROM river_job WHERE state IN ('available', 'retryable', 'scheduled')
			AND scheduled_at > now() FOR UPDATE SKIP LOCKED)`, firstTag)
		return err
	})
}
