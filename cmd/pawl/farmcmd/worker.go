// Package farm has the commands of machines that work for others.
package farmcmd

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/gate/remote"
	"pawl/studies/farm"
	"pawl/studies/farm/serve"
)

type workerOptions struct {
	console.Common
	serving       serve.Options
	architectures cli.StringSlice
	logJSON       bool
}

// workerCommand makes this machine work for a farm.
func workerCommand(env console.Environment) *cli.Command {
	o := workerOptions{Common: console.In(env)}
	return &cli.Command{
		Name:  "worker",
		Usage: "let this machine work for a farm: compile, measure, or both",
		Description: console.Details("Takes tasks from a farm's database and does them with what this machine has, until "+
			"it is stopped. It keeps nothing\n"+
			"that matters and may be stopped at any time: SIGTERM lets it finish what it has in hand, or give it back.\n"+
			"Whoever may file tasks in the database may run code on this machine. See docs/farm.md.",
			"pawl farm worker --db postgres://pawl@db.example/pawl --measure", "0 stopped",
			"3 the farm is not there, or of another pawl", "64 usage"),
		Flags: append(o.Flags("cache"), console.FarmDatabaseFlag(&o.DB), console.FarmFlag(&o.Farm),
			console.Switch("compile", &o.serving.Compile, "compile only; with --measure, both"),
			console.Switch("measure", &o.serving.Measure, "measure only, which needs no compiler; with --compile, both"),
			console.List("arch", &o.architectures, "",
				"compile for this `ARCHITECTURE` too, such as sm_90, whose GPU is not here; may be given again"),
			console.NumberOr("lanes", &o.serving.Lanes, 1, "one per core", "how many compilers run at once"),
			console.TextOr("host", &o.serving.Host, "the system's name", "what this machine is called; one name is one machine"),
			&cli.DurationFlag{
				Name:        "stop-timeout",
				Destination: &o.serving.Grace,
				Value:       serve.DefaultGrace,
				Usage:       "how long tasks in hand may take after SIGTERM, before they are given back",
			},
			console.Switch("log-json", &o.logJSON, "log as JSON instead of text"),
		),
		Action: console.Alone(o.work),
	}
}

func (o *workerOptions) work(ctx context.Context) error {
	where, err := console.FarmIn(o.Database(), o.Farm)
	if err != nil {
		return err
	}
	where.Log = newLog(o.Stderr, o.logJSON)
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, os.Interrupt)
	defer stop()
	s := o.serving
	s.Farm, s.Architectures, s.Tools, s.Hold = where, o.architectures.Value(), o.Tools(), remote.Work
	s.Began = func(offers farm.Offers) {
		// Kernels inherit the environment, and need to know nothing of the database.
		for _, name := range []string{console.DatabaseVariable, "PGPASSWORD"} {
			_ = os.Unsetenv(name) // it has no error on a name like these
		}
		where.Log.Info("working", "offers", describeOffers(offers))
	}
	return serve.Run(ctx, s)
}

func newLog(w io.Writer, asJSON bool) *slog.Logger {
	if asJSON {
		return slog.New(slog.NewJSONHandler(w, nil))
	}
	return slog.New(slog.NewTextHandler(w, nil))
}

// describeOffers says what a machine offers in a line.
func describeOffers(o farm.Offers) string {
	var parts []string
	if m := o.Measures; m != nil {
		text := "measures on " + m.Device
		if m.Driver != "" {
			text += " with driver " + m.Driver
		}
		if m.Width > 1 {
			text += fmt.Sprintf(" (%d of them)", m.Width)
		}
		parts = append(parts, text)
	}
	for _, c := range o.Compiles {
		parts = append(parts, "compiles for "+c.Architecture+" with "+c.Version)
	}
	return strings.Join(parts, "; ")
}
