package farm

import (
	"context"
	"embed"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

//go:embed migrations/*.sql
var migrations embed.FS

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
	if err := f.migrate(ctx); err != nil {
		return f.explain("making the farm's tables", err)
	}
	_, err = f.pool.Exec(ctx, `INSERT INTO farm (protocol, version) VALUES ($1, $2)
		ON CONFLICT (one) DO UPDATE SET protocol = excluded.protocol, version = excluded.version`, Protocol, o.Version)
	return f.explain("making the farm", err)
}

func (f *Farm) migrate(ctx context.Context) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	database := stdlib.OpenDBFromPool(f.pool)
	defer database.Close()
	provider, err := goose.NewProvider(goose.DialectPostgres, database, files, goose.WithTableName("farm_migrations"))
	if err != nil {
		return err
	}
	current, target, err := provider.GetVersions(ctx)
	if err != nil {
		return err
	}
	if current > target {
		return fmt.Errorf("the farm is of a newer pawl (its tables are at %d, this one knows %d)", current, target)
	}
	if _, err := provider.Up(ctx); err != nil {
		return err
	}
	river, err := rivermigrate.New(riverpgxv5.New(f.pool), &rivermigrate.Config{Schema: f.schema, Logger: quiet(f.log)})
	if err != nil {
		return err
	}
	_, err = river.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}
