package studycmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/studies/report"
)

func noteCommand(env console.Environment) *cli.Command {
	o := console.In(env)
	return &cli.Command{
		Name: "note", Usage: "write a note about a study", ArgsUsage: "STUDY [TEXT…]",
		Description: console.Details("The note is shown on the study's page. Without a text, the note is removed.",
			"pawl studies note 3 before the driver was updated", "0 done", "2 no studies",
			"3 internal or environment error", "64 usage"),
		Flags: o.Flags("out", "db"),
		Action: console.Action(func(ctx context.Context, arguments []string) error {
			if len(arguments) == 0 {
				return console.Usagef("name the study that the note is about")
			}
			store, study, err := o.OpenStudy(ctx, arguments[:1])
			if err != nil {
				return err
			}
			defer store.Close()
			study.Note = strings.Join(arguments[1:], " ")
			return store.Annotate(ctx, study.ID, study.Annotations)
		}),
	}
}

func deleteCommand(env console.Environment) *cli.Command {
	o := console.In(env)
	return &cli.Command{
		Name: "delete", Usage: "delete a study, its trials and its pages", ArgsUsage: "STUDY",
		Description: console.Details("Deletes it for good; pawl studies copy keeps one elsewhere. A damaged study can be "+
			"deleted too.\nA study that is running is left alone.",
			"pawl studies delete 3", "0 done", "2 no studies", "3 internal or environment error", "64 usage"),
		Flags: o.Flags("out", "db"),
		Action: console.Action(func(ctx context.Context, arguments []string) error {
			if len(arguments) != 1 {
				return console.Usagef("name the one study to delete; see %s", o.Pawl("studies", "list"))
			}
			id, err := o.StudyNumber(arguments[0])
			if err != nil {
				return err
			}
			store, err := o.OpenStudies(ctx)
			if err != nil {
				return err
			}
			defer store.Close()
			changed, err := report.Forget(ctx, store, o.Out, id)
			if err != nil {
				return err
			}
			changed.Text(env.Stdout)
			fmt.Fprintf(env.Stdout, "deleted study %d\n", id)
			return nil
		}),
	}
}
