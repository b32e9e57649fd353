package main

import (
	"fmt"

	"github.com/urfave/cli/v2"
)

// completionScripts ask the program itself for completions, so they never go
// out of date.
var completionScripts = map[string]string{
	"bash": `_pawl_complete() {
	local words=("${COMP_WORDS[@]:0:$COMP_CWORD}")
	COMPREPLY=($(compgen -W "$("${words[@]}" --generate-bash-completion 2>/dev/null)" -- "${COMP_WORDS[$COMP_CWORD]}"))
}
complete -o default -F _pawl_complete pawl
`,
	"zsh": `#compdef pawl
_pawl() {
	local -a options
	options=("${(@f)$(${words[1,$CURRENT-1]} --generate-bash-completion 2>/dev/null)}")
	_describe 'values' options
	_files
}
compdef _pawl pawl
`,
}

func completionCommand(env environment) *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Usage:     "print a script that completes pawl's commands in a shell",
		ArgsUsage: "bash|zsh|fish",
		Description: details("Prints the script for one shell; load it in the shell's start-up file.",
			"source <(pawl completion bash)", "0 done", "64 usage"),
		Action: func(c *cli.Context) error {
			shell := c.Args().First()
			if shell == "fish" {
				script, err := c.App.ToFishCompletion()
				if err != nil {
					return err
				}
				fmt.Fprint(env.stdout, script)
				return nil
			}
			script, known := completionScripts[shell]
			if !known {
				return usagef("no shell %q; there are bash, zsh and fish", shell)
			}
			fmt.Fprint(env.stdout, script)
			return nil
		},
	}
}
