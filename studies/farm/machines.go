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

// beat calls do every second, and then looks after the jobs of the dead: whoever has been
// heard itself for as long as it takes to be given up may give up others. After a restart
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
		rows, err := tx.Query(ctx, `WITH dead AS (
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
		type reaped struct {
			ID       int64
			Attempt  int
			State    string
			Question string
		}
		found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[reaped])
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

// Machine is a worker that takes part.
type Machine struct {
	ID, Host, Identity string
	Offers             Offers
	// Running are the jobs in hand.
	Running []Running
	// Up is how long it has been there, Unheard since when it was not heard.
	Up, Unheard time.Duration
}

// Running is a job in hand.
type Running struct {
	Job    int64  `json:"job"`
	Study  string `json:"study"`
	Trial  string `json:"trial"`
	Action Action `json:"action"`
	Kernel string `json:"kernel"`
	Point  string `json:"point,omitempty"`
}

// Alive reports whether the worker was heard lately.
func (m Machine) Alive() bool { return m.Unheard < Silence }

// Machines returns the workers that were heard in the last so long.
func (f *Farm) Machines(ctx context.Context, heard time.Duration) (machines []Machine, err error) {
	err = f.persist(ctx, "looking at the machines", func(ctx context.Context) error {
		machines = nil
		rows, err := f.pool.Query(ctx,
			`SELECT id, host, identity, offers, running, extract(epoch FROM now() - started)::float8,
			extract(epoch FROM now() - heartbeat)::float8
			FROM machines WHERE heartbeat > now() - $1::interval ORDER BY host, id`, heard)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var m Machine
			var offers, running []byte
			var up, unheard float64
			if err := rows.Scan(&m.ID, &m.Host, &m.Identity, &offers, &running, &up, &unheard); err != nil {
				return err
			}
			if err := json.Unmarshal(offers, &m.Offers); err != nil {
				return fmt.Errorf("machine %s: %w", m.ID, err)
			}
			if err := json.Unmarshal(running, &m.Running); err != nil {
				return fmt.Errorf("machine %s: %w", m.ID, err)
			}
			m.Up, m.Unheard = time.Duration(up*float64(time.Second)), time.Duration(unheard*float64(time.Second))
			machines = append(machines, m)
		}
		return rows.Err()
	})
	return machines, err
}

// Heard reports whether a device was heard in the last so long.
func (f *Farm) Heard(ctx context.Context, identity string, within time.Duration) (heard bool, err error) {
	err = f.persist(ctx, "looking for a device", func(ctx context.Context) error {
		return f.pool.QueryRow(ctx,
			"SELECT EXISTS (SELECT FROM machines WHERE identity = $1 AND heartbeat > now() - $2::interval)", identity,
			within).Scan(&heard)
	})
	return heard, err
}
