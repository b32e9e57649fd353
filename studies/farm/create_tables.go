package farm

import (
	"context"
	_ "embed" // the tables

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// schema makes the farm's tables.
//
//go:embed schema.sql
var schema string

const initLock = 0x7061776c

// Init makes a farm, or moves one to this version of the program. It needs the rights of
// the schema's owner; nothing else does. A schema that is somebody else's stays as it is.
func Init(ctx context.Context, o Options) error {
	f, err := connect(ctx, o, true)
	if err != nil {
		return err
	}
	defer f.Close()
	connection, err := f.pool.Acquire(ctx)
	if err != nil {
		return f.explain("making the farm", err)
	}
	defer connection.Release()
	if _, err := connection.Exec(ctx, "SELECT pg_advisory_lock($1)", initLock); err != nil {
		return f.explain("making the farm", err)
	}
	// the connection's end does it too
	defer connection.Exec(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", initLock)
	exists, ours, err := f.look(ctx)
	if err != nil {
		return err
	}
	if exists && !ours {
		var empty bool
		if err := f.pool.QueryRow(ctx,
			"SELECT NOT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1)",
			f.schema).Scan(&empty); err != nil || !empty {
			return f.foreign()
		}
	}
	if !exists {
		if _, err := f.pool.Exec(ctx, "CREATE SCHEMA "+f.schema); err != nil {
			return f.explain("making the farm's schema", err)
		}
	}
	if err := f.makeTables(ctx, ours); err != nil {
		return f.explain("making the farm's tables", err)
	}
	_, err = f.pool.Exec(ctx, `INSERT INTO farm (protocol, version) VALUES ($1, $2)
		ON CONFLICT (one) DO UPDATE SET protocol = excluded.protocol, version = excluded.version`, Protocol, o.Version)
	return f.explain("making the farm", err)
}

// makeTables makes the farm's tables, where there are none, and River's, or moves these to the version that is linked.
func (f *Farm) makeTables(ctx context.Context, there bool) error {
	if !there {
		err := pgx.BeginFunc(ctx, f.pool, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, schema)
			return err
		})
		if err != nil {
			return err
		}
	}
	river, err := rivermigrate.New(riverpgxv5.New(f.pool), &rivermigrate.Config{Schema: f.schema, Logger: quiet(f.log)})
	if err != nil {
		return err
	}
	_, err = river.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}
