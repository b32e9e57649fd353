// Package farm lets many machines work on studies, through one PostgreSQL database.
//
// Who asks files tasks and waits for their answers; workers take them from River's queues.
// River does the queueing, and what is here is what it leaves to its users:
//
//  1. Init makes a farm: its own tables and River's, in a schema of their own.
//  2. Open joins it, where protocol and version agree. Both stand in each job, and both sides
//     look every second whether the farm was moved to another version since.
//  3. A Search files tasks under names of its own. A name has one answer, for ever.
//  4. Work takes tasks from queues. The queues are named after what a machine has (see
//     Offers), so that times of two devices are never mixed.
//  5. An answer is written in the transaction that completes its job, by the latest attempt
//     alone. A worker that was given up for dead and wakes up again cannot write.
//  6. Workers are heard every second. The jobs of one that is silent for Silence are given
//     to others.
//  7. Kernels and their binaries travel as blobs, by digest.
//
// Every time that matters is the database's: machines may disagree about the hour.
package farm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"regexp"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"pawl/objective/devices"
	"pawl/studies"
)

// Protocol is the version of what travels between those who ask and those who work.
const Protocol = 5

// DefaultName is the farm's name where none is given.
const DefaultName = "farm"

// Options say which farm is meant.
type Options struct {
	// URL is the database's, postgres://USER@HOST/DATABASE. What it leaves out comes from
	// the variables and files that PostgreSQL's own programs read.
	URL string
	// Name tells farms in one database apart. Empty means DefaultName.
	Name string
	// Version is this program's.
	Version string
	// Connections is the largest number of connections. Zero means 8.
	Connections int
	// Log hears what happens. Nil is silence.
	Log *slog.Logger
	// Notice hears what a person who waits should know: that the database does not answer, and
	// that it answers again. Nil sends it to Log.
	Notice func(string)

	// silence is when a database that does not answer is given up, in tests; zero is studies.DefaultSilence.
	silence time.Duration
	// clock is what River takes for the machine's, in tests whose machines disagree.
	clock rivertype.TimeGenerator
}

// Farm is a connection to a farm. Its methods are safe for concurrent use.
type Farm struct {
	options Options
	schema  string
	config  *pgx.ConnConfig
	pool    *pgxpool.Pool
	insert  *river.Client[pgx.Tx]
	log     *slog.Logger
}

// goodName is what a schema may be called without quotes.
var goodName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,40}$`)

// connect opens the database and makes the farm's schema the one that is meant. Durable says
// that a commit is one at once.
func connect(ctx context.Context, o Options, durable bool) (*Farm, error) {
	o.Name, o.Connections = cmp.Or(o.Name, DefaultName), cmp.Or(o.Connections, 8)
	if o.Log == nil {
		o.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if !goodName.MatchString(o.Name) {
		return nil, devices.Argumentf("a farm's name has small letters, digits and underscores, and begins with a letter: "+
			"%q does not", o.Name)
	}
	// Parsed here too, because an error of the library quotes the URL.
	if u, err := url.Parse(o.URL); err != nil || (u.Scheme != "postgres" && u.Scheme != "postgresql") {
		return nil, devices.Argumentf("the farm's database is named by a URL such as postgres://USER@HOST/DATABASE: " +
			"what was given is none")
	}
	config, err := pgxpool.ParseConfig(o.URL)
	if err != nil {
		return nil, devices.Argumentf("the URL of the farm's database has a setting that PostgreSQL does not know, " +
			"or a wrong value for one")
	}
	f := &Farm{options: o, schema: "pawl_" + o.Name, config: config.ConnConfig, log: o.Log}
	config.MaxConns = int32(o.Connections)
	config.ConnConfig.RuntimeParams["search_path"] = f.schema
	config.ConnConfig.RuntimeParams["application_name"] = "pawl"
	// Every statement here, and River's, has an index. A young table has no statistics, and
	// the server might rather read all of it.
	config.ConnConfig.RuntimeParams["plan_cache_mode"] = "force_generic_plan"
	config.ConnConfig.RuntimeParams["enable_seqscan"], config.ConnConfig.RuntimeParams["jit"] = "off", "off"
	config.ConnConfig.ConnectTimeout = cmp.Or(config.ConnConfig.ConnectTimeout, 10*time.Second)
	notice := o.Notice
	if notice == nil {
		notice = func(text string) { o.Log.Warn(text) }
	}
	network := &studies.Network{Silence: o.silence}
	network.Hear(notice)
	network.Watch(config.ConnConfig)
	// What a crash of the server may undo is done again: a task that was filed is missed by
	// who asks, a job that was taken is still there, a file is stored again. Answers, and
	// what tells searches, wait for the disk: see durable.
	if !durable {
		config.ConnConfig.RuntimeParams["synchronous_commit"] = "off"
	}
	if f.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, f.explain("connecting", err)
	}
	if err := f.pool.Ping(ctx); err != nil {
		f.pool.Close()
		return nil, f.explain("connecting", err)
	}
	f.insert, err = river.NewClient(riverpgxv5.New(f.pool),
		&river.Config{
			Schema:        f.schema,
			Logger:        quiet(o.Log),
			FetchCooldown: cooldown,
			Middleware:    []rivertype.Middleware{due},
			Test:          river.TestConfig{Time: o.clock},
		})
	return f, err
}

// quiet is a log for River: it has much to say that is of no interest here.
func quiet(log *slog.Logger) *slog.Logger { return slog.New(warnings{log.Handler()}) }

// warnings lets warnings and errors through.
type warnings struct{ slog.Handler }

func (w warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && w.Handler.Enabled(ctx, level)
}
func (w warnings) WithAttrs(a []slog.Attr) slog.Handler { return warnings{w.Handler.WithAttrs(a)} }
func (w warnings) WithGroup(name string) slog.Handler   { return warnings{w.Handler.WithGroup(name)} }

// cooldown is how long River waits at least between two looks for jobs. Its default of
// 100 ms is longer than a GPU takes for a point.
const cooldown = time.Millisecond

// Open joins a farm. A farm that is not there, is of another protocol or of another version
// of this program, is an error that says so.
func Open(ctx context.Context, o Options) (*Farm, error) {
	f, err := connect(ctx, o, false)
	if err != nil {
		return nil, err
	}
	if err := f.agree(ctx); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Close ends the connections.
func (f *Farm) Close() { f.pool.Close() }

// MismatchError says that two who would take part speak differently.
type MismatchError struct {
	Name                string
	FarmProtocol        int
	FarmVersion, Theirs string
	// Moved says that the farm was moved to another version while it was used.
	Moved bool
}

func (e *MismatchError) Error() string {
	if e.Moved {
		return fmt.Sprintf("farm %s was moved to pawl %s (protocol %d) while this pawl %s (protocol %d) used it, and they "+
			"may measure differently: no worker of this version is there any more", e.Name, e.FarmVersion, e.FarmProtocol,
			e.Theirs, Protocol)
	}
	if e.FarmProtocol != Protocol {
		return fmt.Sprintf("farm %s speaks protocol %d and this pawl speaks %d: use the pawl of the farm (%s), or move "+
			"the farm to this one with pawl farm init", e.Name, e.FarmProtocol, Protocol, e.FarmVersion)
	}
	return fmt.Sprintf("farm %s is of pawl %s and this is pawl %s, which may measure differently: use the same one "+
		"everywhere, or move the farm to this one with pawl farm init", e.Name, e.FarmVersion, e.Theirs)
}

func (f *Farm) agree(ctx context.Context) error {
	exists, ours, err := f.look(ctx)
	switch {
	case err != nil:
		return err
	case !exists:
		return fmt.Errorf("there is no farm called %s in this database: pawl farm init --db URL makes one", f.options.Name)
	case !ours:
		return f.foreign()
	}
	e := &MismatchError{Name: f.options.Name, Theirs: f.options.Version}
	if err := f.pool.QueryRow(ctx, "SELECT protocol, version FROM farm").Scan(&e.FarmProtocol, &e.FarmVersion); err !=
		nil {
		return f.explain("reading the farm's version", err)
	}
	if e.FarmProtocol != Protocol || e.FarmVersion != f.options.Version {
		return e
	}
	return nil
}

// stillAgree returns a *MismatchError when the farm was moved to another version since it was opened.
func (f *Farm) stillAgree(ctx context.Context) error {
	err := f.agree(ctx)
	if mismatch, ok := errors.AsType[*MismatchError](err); ok {
		mismatch.Moved = true
	}
	return err
}

// look reports whether the farm's schema exists, and whether a farm is in it.
func (f *Farm) look(ctx context.Context) (exists, ours bool, err error) {
	err = f.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1),
		EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1
		AND c.relname = 'farm')`, f.schema).Scan(
		&exists, &ours)
	return exists, ours, f.explain("looking for the farm", err)
}

func (f *Farm) foreign() error {
	return fmt.Errorf("the schema %s of this database is somebody else's: there is no farm in it, and nothing was "+
		"changed; name another farm with --farm", f.schema)
}

// Patience is how long those who ask wait for a database that does not answer.
const Patience = 2 * time.Minute

// persist does something until it works or fails for another reason than a lost
// connection. It must be harmless to do it twice.
func (f *Farm) persist(ctx context.Context, doing string, do func(context.Context) error) error {
	for start, pause := time.Now(), 20*time.Millisecond; ; pause = min(2*pause, time.Second) {
		err := do(ctx)
		if err == nil || !studies.ConnectionLost(err) || ctx.Err() != nil {
			return f.explain(doing, err)
		}
		if time.Since(start) > Patience {
			return fmt.Errorf("%s: the database has not answered for %v: %w", doing, Patience, err)
		}
		f.log.Warn("the database does not answer", "doing", doing, "error", err)
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// explain turns an error of the database into a sentence. It never holds a password: the
// library's messages name user, host and database only.
func (f *Farm) explain(doing string, err error) error {
	if err == nil {
		return nil
	}
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch refused.Code {
		case "42P01": // who may not see the schema sees no table in it
			return fmt.Errorf("%s: the database's user has no right to see the farm; docs/farm.md has the roles", doing)
		case "42501":
			return fmt.Errorf("%s: the database's user has no right to do that (%s); docs/farm.md has the roles", doing,
				refused.Message)
		case "53300":
			return fmt.Errorf("%s: the database's server has no connection left (%s): end other clients, start workers with "+
				"fewer --lanes, or raise max_connections", doing, refused.Message)
		}
	}
	return fmt.Errorf("%s: %w", doing, studies.ExplainServer(f.config, err))
}
