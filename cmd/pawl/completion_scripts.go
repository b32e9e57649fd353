package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
)

// completionScripts ask the program itself for completions, so they never go out of date.
// They pass the words before the cursor and then the one under it.
var completionScripts = map[string]string{
	"bash": `_pawl_complete() {
	local line="${COMP_LINE:0:$COMP_POINT}" current="" words reply
	[[ $line == *[[:space:]] ]] || current="${line##*[[:space:]]}"
	read -ra words <<< "${line%"$current"}"
	mapfile -t reply < <("${words[@]}" --generate-bash-completion "$current" 2>/dev/null)
	COMPREPLY=("${reply[@]}")
}
complete -o default -F _pawl_complete pawl
`,
	"zsh": `#compdef pawl
_pawl() {
	compadd -- "${(@f)$(${words[1,$CURRENT-1]} --generate-bash-completion "${words[$CURRENT]}" 2>/dev/null)}"
	_files
}
compdef _pawl pawl
`,
	"fish": `complete -c pawl -a '(set -l words (commandline -opc); $words --generate-bash-completion (commandline -ct) 2>/dev/null)'
`,
}

func completionCommand(env console.Environment) *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Usage:     "print a script that completes commands, flags, kernels, workloads and samplers in a shell",
		ArgsUsage: "bash|zsh|fish",
		Description: console.Details("Prints the script for one shell; load it in the shell's start-up file.",
			"source <(pawl completion bash)", "0 done", "64 usage"),
		Action: func(c *cli.Context) error {
			shell := c.Args().First()
			script, known := completionScripts[shell]
			if !known {
				return console.Usagef("unsupported shell %q (want bash, zsh or fish)", shell)
			}
			fmt.Fprint(env.Stdout, script)
			return nil
		},
	}
}
