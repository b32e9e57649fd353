package studycmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/internal/collect"
	"pawl/internal/page"
	"pawl/kernels"
	"pawl/studies"
)

type copyOptions struct {
	console.Common
	study int // 0 for all
}

func copyCommand(env console.Environment) *cli.Command {
	o := copyOptions{Common: console.In(env)}
	return &cli.Command{
		Name: "copy", Usage: "copy studies into another database, file or server", ArgsUsage: "FROM TO",
		Description: console.Details(
			"FROM and TO are a folder with a "+kernels.DatabaseName+
				", a file that ends in .db, or a URL that begins with postgres://.\n"+
				"A study is copied with everything that is recorded of it, in one transaction, and compared by its digest\n"+
				"when it has arrived. It gets the next free number. One that is there already is never written over: without\n"+
				"--study it is passed over, so that a copy can be brought up to date.",
			"pawl studies copy tuning postgres://pawl@db.example/pawl --study 3",
			"0 done", "1 the study is there already, or one is damaged or running now and was left out", "2 no studies",
			"3 internal or environment error",
			"64 usage"),
		Flags: append(o.Flags("json"),
			console.NumberOr("study", &o.study, 1, "all that TO has not", "the `NUMBER` of the study in FROM")),
		Action: console.Action(o.copyStudies),
	}
}

// named returns the database that an argument names, as --db would.
func (o *copyOptions) named(argument string) *console.Common {
	if !strings.Contains(argument, "://") && filepath.Ext(argument) != ".db" {
		argument = filepath.Join(argument, kernels.DatabaseName)
	}
	return &console.Common{Environment: o.Environment, Place: studies.Place{DB: argument}}
}

func (o *copyOptions) copyStudies(ctx context.Context, arguments []string) error {
	if len(arguments) != 2 {
		return console.Usagef("copy takes two databases, FROM and TO")
	}
	from, err := o.named(arguments[0]).OpenStudies(ctx)
	if err != nil {
		return err
	}
	defer from.Close()
	chosen, err := chooseStudies(ctx, from, int64(o.study))
	if err != nil {
		return err
	}
	to, err := studies.Open(ctx, o.named(arguments[1]).Database())
	if err != nil {
		return err
	}
	defer to.Close()
	var copied []studies.Copied
	left := false
	for _, study := range chosen {
		arrived, err := from.Copy(ctx, study, to)
		switch {
		case errors.Is(err, studies.ErrThere) && o.study == 0:
			o.Notice(err.Error())
		case errors.Is(err, studies.ErrThere), errors.Is(err, studies.ErrBusy),
			errors.As(err, new(*studies.DamagedError)) && o.study == 0:
			o.Notice(err.Error())
			left = true
		case err != nil:
			return err
		default:
			copied = append(copied, arrived)
		}
	}
	if left && o.study != 0 {
		return console.Answer(console.ExitNo)
	}
	err = o.Show("pawl studies copy", 1, page.List("copied", copied), func(w io.Writer) {
		for _, c := range copied {
			fmt.Fprintf(w, "study %d of %s is study %d of %s: %s, digest %s\n", c.From, from.Path(), c.To, to.Path(),
				page.Count(c.Rows, "row"), c.Digest)
		}
	})
	if err == nil && left {
		err = console.Answer(console.ExitNo)
	}
	return err
}

// chooseStudies returns the numbers of those to copy, oldest first.
func chooseStudies(ctx context.Context, from *studies.Store, study int64) ([]int64, error) {
	if study > 0 {
		_, err := from.Study(ctx, study)
		return []int64{study}, err
	}
	all, err := from.List(ctx)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, console.NoStudies(from)
	}
	slices.Reverse(all)
	return collect.Each(all, func(s studies.Study) int64 { return s.ID }), nil
}
