package farmcmd

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/internal/collect"
	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/studies/farm"
)

type farmOptions struct{ console.Common }

// Command makes farms and looks at them.
func Command(env console.Environment) *cli.Command {
	o := &farmOptions{Common: console.In(env)}
	return &cli.Command{
		Name:        "farm",
		Usage:       "compile and measure on many machines through one database",
		Subcommands: []*cli.Command{o.initCommand(), workerCommand(env), o.statusCommand()},
	}
}

func (o *farmOptions) initCommand() *cli.Command {
	return &cli.Command{
		Name:  "init",
		Usage: "make a farm in a PostgreSQL database, or move it to this version of pawl",
		Description: console.Details("Creates a schema with the farm's tables and River's. Only this command needs "+
			"a user who may create tables:\n"+
			"docs/farm.md lists the roles for askers and for workers.",
			"pawl farm init --db postgres://owner@db.example/pawl", "0 done", "3 it could not be done", "64 usage"),
		Flags: []cli.Flag{console.FarmDatabaseFlag(&o.DB), console.FarmFlag(&o.Farm)},
		Action: console.Alone(func(ctx context.Context) error {
			where, err := console.FarmIn(o.Database(), o.Farm)
			if err != nil {
				return err
			}
			if err := farm.Init(ctx, where); err != nil {
				return err
			}
			fmt.Fprintf(o.Stdout,
				"the farm is of pawl %s, protocol %d; %s works for it, %s asks it\n", where.Version, farm.Protocol,
				o.Pawl("farm", "worker"), o.Pawl("tune", "--on", "LABEL"))
			return nil
		}),
	}
}

func (o *farmOptions) statusCommand() *cli.Command {
	return &cli.Command{
		Name:  "status",
		Usage: "show a farm's machines, searches, queues and what they took",
		Description: console.Details("Shows what was heard of in the last day. Time of devices is counted by their tasks, "+
			"that of compilers separately.",
			"pawl farm status --db postgres://pawl@db.example/pawl", "0 shown",
			"3 the farm could not be read", "64 usage"),
		Flags: append(o.Flags("json"), console.FarmDatabaseFlag(&o.DB), console.FarmFlag(&o.Farm)),
		Action: console.Alone(func(ctx context.Context) error {
			where, err := console.FarmIn(o.Database(), o.Farm)
			if err != nil {
				return err
			}
			f, err := farm.Open(ctx, where)
			if err != nil {
				return err
			}
			defer f.Close()
			status, err := f.Status(ctx)
			if err != nil {
				return err
			}
			return o.Show("pawl farm status", 1, status, func(w io.Writer) { o.show(w, status) })
		}),
	}
}

// show writes a farm's status for a person.
func (o *farmOptions) show(w io.Writer, s farm.Status) {
	var machines [][]string
	for _, m := range s.Machines {
		state := fmt.Sprintf("heard %.0f s ago", m.Unheard.Seconds())
		if !m.Alive() {
			state = "gone for " + m.Unheard.Round(time.Second).String()
		}
		doing := collect.Each(m.Running, func(r farm.Running) string {
			return strings.TrimSpace(string(r.Action) + " " + r.Kernel + " " + r.Point)
		})
		machines = append(machines,
			[]string{escape.Line(m.Host), escape.Line(describeOffers(m.Offers)), state, escape.Line(strings.Join(doing, "; "))})
	}
	if len(machines) == 0 {
		fmt.Fprintf(w, "no machine was heard in the last day: %s is one\n", o.Pawl("farm", "worker"))
	} else {
		page.Table(w, []string{"machine", "offers", "state", "doing"}, machines)
	}
	total := map[string]float64{}
	var searches [][]string
	for _, r := range s.Searches {
		for device, seconds := range r.Seconds {
			total[device] += seconds
		}
		searches = append(searches,
			[]string{escape.Line(r.Title), r.State, strconv.Itoa(r.Priority), strconv.Itoa(r.Answered), strconv.Itoa(r.Open),
				escape.Line(farm.Spending(r.Seconds))})
	}
	if len(searches) > 0 {
		fmt.Fprintln(w)
		page.Table(w, []string{"search", "state", "priority", "answered", "open", "spent"}, searches)
	}
	if len(s.Queues) > 0 {
		fmt.Fprintln(w)
		page.Table(w, []string{"queue", "waiting", "running"}, collect.Each(s.Queues, func(q farm.QueueStatus) []string {
			return []string{q.Name, strconv.Itoa(q.Waiting), strconv.Itoa(q.Running)}
		}))
	}
	fmt.Fprintf(w, "\n%d tasks of searches that go on were answered in the last minute; files of %s\n", s.LastMinute,
		page.Bytes(float64(s.Stored)))
	for _, device := range slices.Sorted(maps.Keys(total)) {
		fmt.Fprintf(w, "%s %.1f s\n", escape.Line(device), total[device])
	}
}
