package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// The help of a command fits on a screen: the flags of every day, an example, exit codes. --help --all shows
// the rest. Lines end at helpColumns, and descriptions of flags begin at flagColumn.
const (
	helpColumns = 100
	flagColumn  = 24
)

// advanced are the flags that only --help --all shows. A name means the same for every command.
var advanced = []string{"baseline", "cache", "caches", "cold", "compile-timeout", "compiler", "cost", "db",
	"device-budget", "farm", "finalists", "lanes", "lock-clocks", "on", "policy", "price", "priority", "record", "regret",
	"order-seed",
	"rounds", "run-timeout", "samples", "seed", "target"}

// showHelp writes the help that the arguments ask for, and says whether they did.
func showHelp(w io.Writer, app *cli.App, arguments []string) (asked bool, err error) {
	all := false
	var words []string
	for i, word := range arguments[1:] {
		switch {
		case word == "--":
		case word == "--help" || word == "-h" || i == 0 && word == "help":
			asked = true
			continue
		case word == "--all":
			all = true
			continue
		default:
			words = append(words, word)
			continue
		}
		break
	}
	if !asked && len(arguments) > 1 {
		return false, nil
	}
	var path []string
	var command *cli.Command
	commands := app.Commands
	for _, word := range words {
		next := find(commands, word)
		if next == nil {
			break
		}
		path, command, commands = append(path, word), next, next.Subcommands
	}
	switch {
	case command != nil:
		helpOf(w, path, command, all)
	case len(words) > 0 && !strings.HasPrefix(words[0], "-"):
		return true, unknownCommand(app.Commands, words[0])
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
	var out strings.Builder
	column := indent
	for i, word := range strings.Fields(text) {
		switch width := len([]rune(word)); {
		case i == 0:
			column += width
		case column+1+width > helpColumns:
			fmt.Fprintf(&out, "\n%*s", indent, "")
			column = indent + width
		default:
			out.WriteByte(' ')
			column += 1 + width
		}
		out.WriteString(word)
	}
	return out.String()
}
