package studies

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"
	"time"
)

// A study's lock is an advisory lock of one connection, and whoever holds it writes to the
// study over that connection alone: a process that has lost the lock has lost the
// connection too, and its transaction with it. So nobody writes to a study that
// somebody else has taken over.

// lockClass keeps pawl's locks apart from others in the same database.
const lockClass = 0x7061776c

// creationLock is the number that no study has.
const creationLock = 0

// holder is the connection that holds a study's lock.
type holder struct {
	mu   sync.Mutex // for the transaction that is in progress
	conn *sql.Conn
}

func (p *postgres) lock(study int64) (unlock func(), err error) {
	conn, err := p.take(context.Background(), study)
	if err != nil {
		return nil, fmt.Errorf("study %d: %w", study, p.explain(err))
	}
	h := &holder{conn: conn}
	p.held.Store(study, h)
	return func() {
		p.held.Delete(study)
		h.mu.Lock()
		defer h.mu.Unlock()
		release(h.conn, study)
	}, nil
}

// release lets go of a lock at once; with the connection it would go a moment later.
func release(conn *sql.Conn, study int64) {
	ctx, cancel := context.WithTimeout(context.Background(), connecting)
	defer cancel()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_unlock($1::int, $2::int)", lockClass, study); err != nil {
		discard(conn)
		return
	}
	conn.Close()
}

func (p *postgres) take(ctx context.Context, study int64) (*sql.Conn, error) {
	conn, err := p.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	var taken bool
	err = conn.QueryRowContext(ctx, "SELECT pg_try_advisory_lock($1::int, $2::int)", lockClass, study).Scan(&taken)
	if err == nil && !taken {
		err = ErrBusy
	}
	if err != nil {
		discard(conn)
		return nil, err
	}
	return conn, nil
}

// discard closes a connection instead of giving it to somebody else: its lock goes with it.
func discard(conn *sql.Conn) {
	conn.Raw(func(any) error { return driver.ErrBadConn }) //nolint:errcheck // it is gone in any case
	conn.Close()
}

func (p *postgres) running(ctx context.Context, study int64) (running bool, err error) {
	err = p.db.QueryRowContext(ctx,
		`SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2
		AND classid = $1::int AND objid = $2::int AND database = (SELECT oid FROM pg_database
		WHERE datname = current_database()))`, lockClass, study).Scan(
		&running)
	return running, p.explain(err)
}

func (p *postgres) anyRunning(ctx context.Context) (running bool, err error) {
	err = p.db.QueryRowContext(ctx,
		`SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2
		AND classid = $1::int AND objid <> $2::int AND database = (SELECT oid FROM pg_database
		WHERE datname = current_database()))`, lockClass, creationLock).Scan(&running)
	return running, p.explain(err)
}

func (p *postgres) creating(ctx context.Context) (done func(), err error) {
	conn, err := p.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	_, err = conn.ExecContext(ctx, "SELECT pg_advisory_lock($1::int, $2::int)", lockClass, creationLock)
	if err != nil {
		discard(conn)
	}
	return func() { release(conn, creationLock) }, err
}

func (p *postgres) begin(ctx context.Context, study int64) (t transaction, err error) {
	var conn *sql.Conn
	if found, held := p.held.Load(study); held {
		h := found.(*holder)
		h.mu.Lock()
		conn, t.end = h.conn, h.mu.Unlock
	} else {
		if conn, err = p.db.Conn(ctx); err != nil {
			return t, err
		}
		t.end = func() { conn.Close() }
	}
	if t.Tx, err = conn.BeginTx(ctx, nil); err != nil {
		t.end()
	}
	return t, err
}

// renew tries until the server answers and the study's lock is free, which it becomes when
// the server has noticed that the old connection is gone.
func (p *postgres) renew(ctx context.Context, study int64) error {
	var reason error
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		err := p.renewOnce(ctx, study)
		if err == nil {
			return nil
		}
		if reason == nil || errors.Is(err, ErrBusy) { // the last attempts may say no more than that time is up
			reason = err
		}
		select {
		case <-ctx.Done():
			return p.explain(reason)
		case <-time.After(pause):
		}
	}
}

func (p *postgres) renewOnce(ctx context.Context, study int64) error {
	found, held := p.held.Load(study)
	if !held {
		return p.db.PingContext(ctx)
	}
	h := found.(*holder)
	h.mu.Lock()
	defer h.mu.Unlock()
	conn, err := p.take(ctx, study)
	if err != nil {
		return err
	}
	discard(h.conn)
	h.conn = conn
	return nil
}
