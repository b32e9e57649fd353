package studies

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"
)

// doing adds to an error what was being done; none stays none.
func doing(err error, format string, arguments ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, arguments...), err)
}

// querier is a database, a connection or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, arguments ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, arguments ...any) *sql.Row
	ExecContext(ctx context.Context, query string, arguments ...any) (sql.Result, error)
}

// session runs statements that are written for SQLite.
type session struct {
	querier querier
	engine  engine
}

func (s session) query(ctx context.Context, do func(*sql.Rows) error, statement string, arguments ...any) error {
	values, err := s.values(arguments)
	if err != nil {
		return err
	}
	rows, err := s.querier.QueryContext(ctx, s.engine.translate(statement), values...)
	if err != nil {
		return s.engine.explain(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := do(rows); err != nil {
			return err
		}
	}
	return s.engine.explain(rows.Err())
}

// queryRow reads the only row into targets; sql.ErrNoRows says that there is none.
func (s session) queryRow(ctx context.Context, targets []any, statement string, arguments ...any) error {
	values, err := s.values(arguments)
	if err != nil {
		return err
	}
	return s.engine.explain(s.querier.QueryRowContext(ctx, s.engine.translate(statement), values...).Scan(targets...))
}

// exec returns how many rows a statement has changed.
func (s session) exec(ctx context.Context, statement string, arguments ...any) (changed int64, err error) {
	values, err := s.values(arguments)
	if err != nil {
		return 0, err
	}
	result, err := s.querier.ExecContext(ctx, s.engine.translate(statement), values...)
	if err != nil {
		return 0, s.engine.explain(err)
	}
	return result.RowsAffected()
}

// values turns what columns point to into the two kinds of values that rows hold, numbers
// and texts, so that every engine stores and digests the same.
func (s session) values(arguments []any) ([]any, error) {
	values := make([]any, len(arguments))
	for i, argument := range arguments {
		value, err := driver.DefaultParameterConverter.ConvertValue(argument)
		if err != nil {
			return nil, err
		}
		switch v := value.(type) {
		case bool:
			value = int64(0)
			if v {
				value = int64(1)
			}
		case string:
			value = s.engine.storable(v)
		}
		values[i] = value
	}
	return values, nil
}

// changed is a row as it was, nil for a new one, and as it is.
type changed struct {
	row           rowKey
	before, after columns
}

// change runs do in a transaction that writes one row of a study, 0 for a new one, and brings the study's tally up to
// date in it; do returns nil where it has changed nothing. A transaction whose connection was lost is tried again. It
// may have been committed just before: the row then has the digest already.
func (s *Store) change(ctx context.Context, study int64, do func(tx session) (*changed, error)) error {
	var made *changed
	return s.retry(ctx, study, func() error {
		return s.transact(ctx, study, func(tx session) error {
			if made != nil {
				digest, _ := made.after.get(digestColumn).(string)
				if done, err := made.row.has(ctx, tx, digest); done || err != nil {
					return err
				}
			}
			kept := &tally{}
			if study != 0 {
				var err error
				if kept, err = tallyToWrite(ctx, tx, study); err != nil {
					return err
				}
			}
			now, err := do(tx)
			if err != nil || now == nil {
				return err
			}
			made = now
			of, _ := now.after.get(tableCalled(now.row.table).key[0]).(int64)
			kept.exchange(now.row.table, now.before, now.after)
			if err := kept.countConfirmed(ctx, tx, of, now.row.table); err != nil {
				return err
			}
			return writeSummary(ctx, tx, of, summary{tally: kept})
		})
	})
}

// read runs do again, from its beginning, where the connection was lost meanwhile.
func (s *Store) read(ctx context.Context, do func() error) error { return s.retry(ctx, 0, do) }

// Hurry makes a store that somebody waits for report a lost connection at once.
func (s *Store) Hurry() { s.reconnecting = 0 }

// retry waits for a lost connection to come back, and tries again.
func (s *Store) retry(ctx context.Context, study int64, try func() error) error {
	for deadline := time.Now().Add(s.reconnecting); ; {
		err := try()
		if err == nil || ctx.Err() != nil || !ConnectionLost(err) || time.Now().After(deadline) {
			return err
		}
		wait, cancel := context.WithDeadline(ctx, deadline)
		renewed := s.engine.renew(wait, study)
		cancel()
		if renewed != nil {
			return fmt.Errorf("the connection to %s was lost and did not come back within %v: %w; what was recorded is "+
				"there", s.path, s.reconnecting, renewed)
		}
	}
}

// transact runs a function in one transaction.
func (s *Store) transact(ctx context.Context, study int64, do func(tx session) error) error {
	tx, err := s.engine.begin(ctx, study)
	if err != nil {
		return s.engine.explain(err)
	}
	defer tx.end()
	if err = do(session{tx, s.engine}); err == nil {
		return s.engine.explain(tx.Commit())
	}
	if undone := tx.Rollback(); undone != nil && !ConnectionLost(err) && !errors.Is(undone, sql.ErrTxDone) {
		err = errors.Join(err, undone)
	}
	return err
}
