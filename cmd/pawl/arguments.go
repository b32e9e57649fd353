package main

import (
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	"github.com/xrash/smetrics"

	"pawl/cmd/pawl/console"
	"pawl/internal/collect"
)

// flagsFirst moves flags before positional arguments. The command-line library
// takes a flag behind a positional argument for one, silently: "pawl tune
// attention --trials 9" would tune for ever.
func flagsFirst(app *cli.App, arguments []string) ([]string, error) {
	if len(arguments) == 0 {
		return arguments, nil
	}
	to, rest := descend(app, arguments[1:])
	var moved, positional []string
	for len(rest) > 0 {
		word := rest[0]
		rest = rest[1:]
		switch {
		case word == "--":
			positional = append(positional, rest...)
			rest = nil
		case len(word) < 2 || word[0] != '-':
			positional = append(positional, word)
		default:
			moved = append(moved, word)
			takesValue, known := lookup(to.flags, word)
			if !known {
				return nil, unknownFlag(to.flags, word)
			}
			if takesValue && !strings.Contains(word, "=") {
				if len(rest) == 0 {
					return nil, console.Usagef("flag %s needs a value", word)
				}
				moved, rest = append(moved, rest[0]), rest[1:]
			}
		}
	}
	result := slices.Concat(arguments[:1], to.path, moved)
	if len(positional) > 0 {
		result = append(append(result, "--"), positional...)
	}
	return result, nil
}

var invalidValue = regexp.MustCompile(`^invalid value (".*") for flag -(\S+): `)

// usageError says of a value that its flag cannot take what the flag takes.
func usageError(flags []cli.Flag, err error) error {
	if match := invalidValue.FindStringSubmatch(err.Error()); match != nil {
		wanted := "a number"
		f, _ := flagNamed(flags, match[2])
		switch f.(type) {
		case *cli.DurationFlag:
			wanted = "a time with its unit, such as 45s, 10m or 1h30m"
		case *cli.GenericFlag:
			wanted = strings.TrimPrefix(err.Error(), match[0])
		}
		return console.Usagef("--%s takes %s, not %s", match[2], wanted, match[1])
	}
	return console.Usage(err)
}

// behindDashes takes the command out of "pawl bench -- COMMAND…" and "pawl gate -- COMMAND…", whose flags are
// its own.
func behindDashes(arguments []string) (ours, command []string) {
	at := slices.Index(arguments, "--")
	if at < 2 || arguments[1] != "bench" && arguments[1] != "gate" {
		return arguments, nil
	}
	return arguments[:at:at], append([]string{}, arguments[at+1:]...)
}

// place is the command that words lead to, with its subcommands and flags.
type place struct {
	path     []string
	command  *cli.Command // nil for the program itself
	commands []*cli.Command
	flags    []cli.Flag
}

// enter goes to the subcommand of a name, if there is one.
func (p *place) enter(name string) bool {
	next, found := collect.First(p.commands, func(c *cli.Command) bool { return c.HasName(name) })
	if found {
		*p = place{append(p.path, name), next, next.Subcommands, next.Flags}
	}
	return found
}

// descend enters the commands that words begin with, and returns the words behind them.
func descend(app *cli.App, words []string) (p place, rest []string) {
	p = place{commands: app.Commands, flags: app.Flags}
	for len(words) > 0 && p.enter(words[0]) {
		words = words[1:]
	}
	return p, words
}

func flagNamed(flags []cli.Flag, name string) (cli.Flag, bool) {
	return collect.First(flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) })
}

// lookup finds a flag by the word on the command line, and whether a value
// follows it.
func lookup(flags []cli.Flag, word string) (takesValue, known bool) {
	name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	f, known := flagNamed(flags, name)
	_, isBool := f.(*cli.BoolFlag)
	return known && !isBool, known || slices.Contains([]string{"help", "h", "version", "v"}, name)
}

func unknownFlag(flags []cli.Flag, word string) error {
	var names []string
	for _, f := range flags {
		names = append(names, f.Names()...)
	}
	if guess := closest(strings.TrimLeft(word, "-"), names); guess != "" {
		return console.Usagef("no flag %s: did you mean --%s?", word, guess)
	}
	return console.Usagef("no flag %s; see --help", word)
}

// closest returns the candidate that a mistyped word probably means, or
// nothing.
func closest(word string, candidates []string) string {
	best, bestScore := "", 0.8
	for _, c := range candidates {
		if len(c) < 2 {
			continue
		}
		if score := smetrics.JaroWinkler(word, c, 0.7, 4); score > bestScore {
			best, bestScore = c, score
		}
	}
	return best
}
