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
	path := []string{arguments[0]}
	rest := arguments[1:]
	commands, flags := app.Commands, app.Flags
	for len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
		command := find(commands, rest[0])
		if command == nil {
			break
		}
		path, rest = append(path, rest[0]), rest[1:]
		commands, flags = command.Subcommands, command.Flags
	}
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
			takesValue, known := lookup(flags, word)
			if !known {
				return nil, unknownFlag(flags, word)
			}
			if takesValue && !strings.Contains(word, "=") {
				if len(rest) == 0 {
					return nil, console.Usagef("flag %s needs a value", word)
				}
				moved, rest = append(moved, rest[0]), rest[1:]
			}
		}
	}
	result := append(path, moved...)
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
		for _, f := range flags {
			if !slices.Contains(f.Names(), match[2]) {
				continue
			}
			switch f.(type) {
			case *cli.DurationFlag:
				wanted = "a time with its unit, such as 45s, 10m or 1h30m"
			case *cli.GenericFlag:
				wanted = strings.TrimPrefix(err.Error(), match[0])
			}
		}
		return console.Usagef("--%s takes %s, not %s", match[2], wanted, match[1])
	}
	return console.Usage(err)
}

// behindDashes takes the command out of "pawl bench -- COMMAND…", whose flags are its own.
func behindDashes(arguments []string) (ours, command []string) {
	at := slices.Index(arguments, "--")
	if at < 2 || arguments[1] != "bench" {
		return arguments, nil
	}
	return arguments[:at:at], append([]string{}, arguments[at+1:]...)
}

func find(commands []*cli.Command, name string) *cli.Command {
	found, _ := collect.First(commands, func(c *cli.Command) bool { return c.HasName(name) })
	return found
}

// lookup finds a flag by the word on the command line, and whether a value
// follows it.
func lookup(flags []cli.Flag, word string) (takesValue, known bool) {
	name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	if slices.Contains([]string{"help", "h", "version", "v"}, name) {
		return false, true
	}
	for _, f := range flags {
		if slices.Contains(f.Names(), name) {
			_, isBool := f.(*cli.BoolFlag)
			return !isBool, true
		}
	}
	return false, false
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
