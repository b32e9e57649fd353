package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"pawl/internal/page"
)

// The help of a command fits on a screen: the flags of every day, an example, exit codes. --help --all shows
// the rest. Lines end at helpColumns, and descriptions of flags begin at flagColumn.
const (
	helpColumns = 100
	flagColumn  = 24
)

// advanced are the flags that only --help --all shows. A name means the same for every command.
var advanced = []string{"baseline", "cache", "caches", "ignore-earlier", "compile-timeout", "compiler", "db", "farm",
	"finalists", "lanes", "lock-clocks", "on", "policy", "priority", "record", "regret", "order-seed",
	"rounds", "run-timeout", "samples", "seed", "target"}

// showHelp writes the help that the arguments ask for, and says whether they did. The value of a flag asks for
// nothing, whatever it is.
func showHelp(w io.Writer, app *cli.App, arguments []string) (asked bool, err error) {
	to, all := place{commands: app.Commands, flags: app.Flags}, false
	var unknown []string
	words := arguments[1:]
	if len(words) > 0 && words[0] == "help" {
		asked, words = true, words[1:]
	}
	for ; len(words) > 0 && words[0] != "--"; words = words[1:] {
		switch word := words[0]; {
		case word == "--help" || word == "-h":
			asked = true
		case word == "--all":
			all = true
		case strings.HasPrefix(word, "-"):
			if takesValue, _ := lookup(to.flags, word); takesValue && !strings.Contains(word, "=") && len(words) > 1 {
				words = words[1:]
			}
		default:
			if !to.enter(word) {
				unknown, to.commands = append(unknown, word), nil
			}
		}
	}
	switch {
	case !asked && len(arguments) > 1:
		return false, nil
	case to.command != nil:
		helpOf(w, to.path, to.command, all)
	case len(unknown) > 0:
		return true, unknownCommand(app.Commands, unknown[0])
	default:
		helpOfApp(w, app)
	}
	return true, nil
}

// helpOfApp lists the commands by group.
func helpOfApp(w io.Writer, app *cli.App) {
	fmt.Fprintf(w, "pawl - %s\n\nUsage: pawl COMMAND [options] [arguments]\n", app.Usage)
	group := ""
	for _, c := range app.Commands {
		if c.Category != group {
			group = c.Category
			fmt.Fprintf(w, "\n%s:\n", group)
		}
		describe(w, c.Name, c.Usage)
	}
	fmt.Fprintf(w, "\n%s\npawl COMMAND --help shows an example; pawl --version prints the version.\n", exitCodesHelp)
}

// helpOf writes the help of one command.
func helpOf(w io.Writer, path []string, c *cli.Command, all bool) {
	name := "pawl " + strings.Join(path, " ")
	fmt.Fprintf(w, "%s - %s\n\n", name, c.Usage)
	arguments := c.ArgsUsage
	if len(c.Subcommands) > 0 {
		arguments = strings.TrimSpace("[COMMAND] " + arguments)
	}
	fmt.Fprintf(w, "Usage: %s\n", strings.TrimSpace(name+" [options] "+arguments))
	for paragraph := range strings.SplitSeq(c.Description, "\n\n") {
		if paragraph == "" {
			continue
		}
		fmt.Fprintln(w)
		if strings.Contains(paragraph, "\n ") { // an example, line by line
			fmt.Fprintln(w, paragraph)
			continue
		}
		fmt.Fprintln(w, wrapped(paragraph, 0))
	}
	if len(c.Subcommands) > 0 {
		fmt.Fprint(w, "\nCommands:\n")
		for _, sub := range c.Subcommands {
			if !sub.Hidden {
				describe(w, sub.Name, sub.Usage)
			}
		}
	}
	more := false
	fmt.Fprint(w, "\nOptions:\n")
	for _, f := range c.Flags {
		if visible, ok := f.(cli.VisibleFlag); f == cli.HelpFlag || ok && !visible.IsVisible() {
			continue
		}
		if !all && slices.Contains(advanced, f.Names()[0]) {
			more = true
			continue
		}
		names, usage, _ := strings.Cut(f.String(), "\t")
		describe(w, names, usage)
	}
	describe(w, "--help", "show this")
	if more {
		fmt.Fprintf(w, "\n%s --help --all shows more options.\n", name)
	}
}

func describe(w io.Writer, name, text string) {
	if len(name) > flagColumn-4 {
		fmt.Fprintf(w, "  %s\n%*s%s\n", name, flagColumn, "", wrapped(text, flagColumn))
		return
	}
	fmt.Fprintf(w, "  %-*s%s\n", flagColumn-2, name, wrapped(text, flagColumn))
}

// wrapped breaks a text at spaces. Lines after the first one are indented.
func wrapped(text string, indent int) string {
	return strings.Join(page.Wrap(text, helpColumns-indent), "\n"+strings.Repeat(" ", indent))
}
