package farm

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
)

// beginDurable begins a transaction that is on disk when its commit returns.
const beginDurable = "begin; SET LOCAL synchronous_commit = on"

// durable does something in a transaction that is on disk when it returns, and persists in it.
func (f *Farm) durable(ctx context.Context, doing string, do func(pgx.Tx) error) error {
	return f.persist(ctx, doing, func(ctx context.Context) error {
		return pgx.BeginTxFunc(ctx, f.pool, pgx.TxOptions{BeginQuery: beginDurable}, do)
	})
}

// gather returns all rows of a query, each converted by one.
func gather[T any](ctx context.Context, from interface {
	Query(ctx context.Context, statement string, arguments ...any) (pgx.Rows, error)
}, one pgx.RowToFunc[T], statement string, arguments ...any) ([]T, error) {
	rows, err := from.Query(ctx, statement, arguments...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, one)
}

// errRolledBack says that the server ended a transaction without keeping it.
var errRolledBack = errors.New("the server has undone the transaction")

// transact does something in a transaction. Its last statements, which do returns, travel
// together with the commit: every answer waits for one trip less.
func (f *Farm) transact(ctx context.Context, begin string, do func(pgx.Tx) (last *pgx.Batch, err error)) error {
	connection, err := f.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer connection.Release() // ends a connection that is still inside a transaction
	tx, err := connection.BeginTx(ctx, pgx.TxOptions{BeginQuery: begin})
	if err != nil {
		return err
	}
	last, err := do(tx)
	if err != nil {
		return errors.Join(err, tx.Rollback(context.WithoutCancel(ctx)))
	}
	last.Queue("commit")
	sent := connection.SendBatch(ctx, last)
	for range last.Len() - 1 {
		if _, err := sent.Exec(); err != nil {
			sent.Close() // the same error; what follows a failed statement is not done
			return errors.Join(err, tx.Rollback(context.WithoutCancel(ctx)))
		}
	}
	end, err := sent.Exec()
	if err == nil && end.String() != "COMMIT" {
		err = errRolledBack
	}
	return errors.Join(err, sent.Close())
}
