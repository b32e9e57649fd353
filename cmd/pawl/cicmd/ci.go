// Package ci has the commands that jobs on a CI server call, one file a subcommand. What a
// job decides is in pawl/gate/ci.
package cicmd

import (
	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
)

// Command is what a job on a CI server calls beside the commands that also run at a desk.
func Command(env console.Environment) *cli.Command {
	return &cli.Command{
		Name:  "ci",
		Usage: "what jobs on GitHub need: comments, summaries, drafts, baselines on main",
		Description: console.Details(
			"Runs inside GitHub Actions and takes what it needs from the environment that Actions gives.",
			"pawl ci should-run --base origin/main", "0 done", "3 internal or environment error", "64 usage"),
		Subcommands: []*cli.Command{
			commentCommand(env),
			summaryCommand(env),
			draftCommand(env),
			baselineCommand(env),
			matrixCommand(env),
			shouldRunCommand(env),
			wakeCommand(env),
			sleepCommand(env),
			guardCommand(env),
			initCommand(env),
			againCommand(env),
		},
	}
}
