package farm

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// Machine is a worker that takes part. Its fields are in the order in which Machines selects them.
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
	err = f.persist(ctx, "looking at the machines", func(ctx context.Context) (err error) {
		machines, err = gather(ctx, f.pool, pgx.RowToStructByPos[Machine], `SELECT id, host, identity, offers, running,
			now() - started, now() - heartbeat FROM machines WHERE heartbeat > now() - $1::interval ORDER BY host, id`, heard)
		return err
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
