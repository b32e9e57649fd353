package studycmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/internal/escape"
	"pawl/studies/apply"
	"pawl/studies/report"
)

type applyOptions struct {
	console.Common
	apply.Options
	apply.Branch
}

func ApplyCommand(env console.Environment) *cli.Command {
	o := applyOptions{Common: console.In(env)}
	return &cli.Command{
		Name:      "apply",
		Usage:     "apply a study's winner: a header, the manifest's defaults, or a commit",
		ArgsUsage: "STUDY",
		Description: console.Details(
			"Writes the winner as a header into the kernel's folder, with --manifest also as the defaults of its\n"+
				"manifest (comments and layout stay), and with --branch as a commit on a branch instead: the checkout\n"+
				"and what is staged stay as they are. Refused: a winner that was not checked in full, is not proven\n"+
				"better, failed the gate or slows another workload down, and a study of different sources.",
			"pawl apply 3 --manifest --branch tuned-softmax",
			"0 done, or the default is the winner already", "1 refused", "2 nothing to apply", "3 internal or environment error",
			"64 usage"),
		Flags: append(o.Flags("out", "db", "json"),
			console.StudyKernelFlag(&o.Kernel),
			console.TextOr("to", &o.To, "the kernel's", "the `FOLDER` for the header"),
			console.Switch("manifest", &o.Manifest, "make the winner the manifest's default"),
			console.TextOr("branch", &o.Name, "none: the files are written", "commit on the branch `NAME` instead"),
			console.TextOr("onto", &o.Onto, "HEAD", "the parent `COMMIT` of the commit on --branch"),
			console.Switch("force", &o.Force, "apply a winner that is only promising, after too few rounds"),
			console.Text("worst-loss", &o.WorstLoss, apply.DefaultWorstLoss,
				"how much slower another workload may get, as a `SHARE`"),
		),
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return console.Usagef("the number of one study is needed: pawl apply STUDY; see %s", o.Pawl("studies", "list"))
			}
			if c.IsSet("branch") && o.Name == "" {
				return console.Usagef("--branch needs a name")
			}
			return o.runApply(c.Context, c.Args().Slice())
		},
	}
}

type applied struct {
	Study   int64    `json:"study"`
	Winner  string   `json:"winner"`
	Changes []string `json:"changes"`
	Already bool     `json:"already"`
	// Written are the files in place, Committed the commit where there is one.
	Written   []string         `json:"written"`
	Committed *apply.Committed `json:"committed,omitempty"`
}

func (o *applyOptions) runApply(ctx context.Context, arguments []string) error {
	store, study, err := o.OpenStudy(ctx, arguments)
	if err != nil {
		return err
	}
	defer store.Close()
	change, err := apply.Prepare(ctx, store, study.ID, o.Options)
	if err != nil {
		return err
	}
	result := applied{
		Study:   study.ID,
		Winner:  change.Winner.String(),
		Changes: change.Changes(),
		Already: change.Already,
		Written: []string{},
	}
	switch {
	case change.Already:
	case o.Name != "":
		result.Committed, err = change.Commit(ctx, o.Branch)
	default:
		result.Written, err = change.Write()
	}
	if err != nil {
		return err
	}
	study.Applied = time.Now().UTC().Format("2006-01-02 15:04 MST")
	switch c := result.Committed; {
	case c != nil:
		study.Applied += report.OnBranch + c.Branch
	case o.Manifest:
		study.Applied += report.WithManifest
	}
	if err = errors.Join(store.Writable(), store.Annotate(ctx, study.ID, study.Annotations)); err == nil {
		_, _, err = report.Publish(ctx, store, o.Out, study.ID) // the pages say so
	}
	if err != nil {
		o.Notice("that it was applied is not recorded: " + err.Error())
	}
	return o.Show("pawl apply", 1, result, func(w io.Writer) { printApplied(w, result) })
}

func printApplied(w io.Writer, r applied) {
	if r.Already {
		fmt.Fprintf(w, "nothing to do: the default is the winner of study %d already, %s\n", r.Study, escape.Line(r.Winner))
		return
	}
	fmt.Fprintf(w, "the winner of study %d: %s\n", r.Study, escape.Line(strings.Join(r.Changes, ", ")))
	switch c := r.Committed; {
	case c != nil && c.Commit == "":
		fmt.Fprintf(w, "nothing to do: commit %.12s has it\n", c.Onto)
	case c != nil:
		fmt.Fprintf(w, "branch %s is at %.12s, with %s on top of %.12s\n", escape.Line(c.Branch), c.Commit,
			escape.Line(strings.Join(c.Files, ", ")), c.Onto)
	case len(r.Written) == 0:
		fmt.Fprintln(w, "nothing to do: the files are so already")
	}
	for _, path := range r.Written {
		fmt.Fprintf(w, "wrote %s\n", escape.Line(path))
	}
}
