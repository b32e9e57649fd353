package cicmd

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/gate/ci/setup"
	"pawl/internal/escape"
)

func initCommand(env console.Environment) *cli.Command {
	var o setup.Options
	var pawl string
	return &cli.Command{
		Name:  "init",
		Usage: "write the workflows, a policy and the runner's page into this repository",
		Description: console.Details(
			"Writes the gate's and the weekly tuning's workflow, a policy for the kernels that it finds, a template\n"+
				"for pull requests and docs/pawl-runner.md, asks nothing, and replaces nothing without --force. The\n"+
				"workflows build pawl from a commit of a repository that has it.",
			"pawl ci init --pawl OWNER/REPOSITORY@COMMIT --runner gpu",
			"0 done, also where files were kept", "3 internal or environment error", "64 usage"),
		Flags: []cli.Flag{
			console.Text("pawl", &pawl, "",
				"`OWNER/REPOSITORY@COMMIT` that has pawl; without @COMMIT, the commit that this pawl was built from"),
			console.TextOr("runner", &o.Runner, "hosted, or the repository's variable PAWL_RUNNER",
				"the `LABEL` of a self-hosted runner"),
			console.Switch("force", &o.Force, "replace workflows and page that differ; the policy and the template stay"),
		},
		Action: console.Alone(func(ctx context.Context) error { return initialize(ctx, env, o, pawl) }),
	}
}

func initialize(ctx context.Context, env console.Environment, o setup.Options, pawl string) (err error) {
	if pawl != "" {
		if o.Pawl, err = setup.ParseSource(pawl, builtFrom()); err != nil {
			return console.Usagef("--pawl: %w", err)
		}
	}
	r, err := setup.Init(ctx, o)
	if r != nil {
		printInit(env.Stdout, r)
	}
	return err
}

func printInit(w io.Writer, r *setup.Result) {
	for _, f := range r.Files {
		why := ""
		switch {
		case f.State == setup.Kept && f.Owned:
			why = " (it is yours)"
		case f.State == setup.Kept:
			why = " (it differs; --force replaces it)"
		}
		fmt.Fprintf(w, "%s %s%s\n", f.State, escape.Line(filepath.Join(r.Top, filepath.FromSlash(f.Path))), why)
	}
	for i, step := range r.Next {
		if i == 0 {
			fmt.Fprintln(w, "\nNow:")
		}
		fmt.Fprintf(w, "%d. %s\n", i+1, escape.Line(step))
	}
}

// builtFrom is the commit of this program, or nothing where its sources were changed since.
func builtFrom() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if settings["vcs.modified"] == "true" {
		return ""
	}
	return settings["vcs.revision"]
}
