package main

import (
	"github.com/urfave/cli/v2"
)

// ciCommand is what a job on a CI server calls beside the commands that also run at a
// desk. One file per subcommand.
func ciCommand(env environment) *cli.Command {
	return &cli.Command{
		Name:  "ci",
		Usage: "what jobs on GitHub need: comments, summaries, drafts, baselines on main",
		Description: details(
			"Runs inside GitHub Actions and takes what it needs from the environment that Actions gives.",
			"pawl ci", "0 done", "3 pawl could not do its work", "64 usage"),
		Subcommands: ciSubcommands(env),
	}
}

// ciSubcommands are in the order of the help: one line each.
func ciSubcommands(env environment) []*cli.Command {
	return []*cli.Command{
		ciCommentCommand(env),
		ciSummaryCommand(env),
		ciDraftCommand(env),
		ciBaselineCommand(env),
		ciMatrixCommand(env),
		ciShouldRunCommand(env),
		ciWakeCommand(env),
		ciSleepCommand(env),
		ciGuardCommand(env),
		ciInitCommand(env),
		ciAgainCommand(env),
	}
}
