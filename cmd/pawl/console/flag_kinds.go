package console

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"pawl/objective/devices"
	"pawl/space"
)

// What follows makes flags that are bound to a value. The last argument is what help says; the word
// in backquotes stands for the value. Those that end in Or have no value by default, and help says in words
// what happens then. Shorter names of a flag stand behind its own: "workload, w".

// named takes the names of a flag apart.
func named(names string) (name string, aliases []string) {
	all := strings.Split(names, ", ")
	return all[0], all[1:]
}

// Switch is a flag that is given or not.
func Switch(name string, to *bool, usage string) cli.Flag {
	return &cli.BoolFlag{Name: name, Destination: to, DisableDefaultText: true, Usage: usage}
}

// Text is a flag with a text.
func Text(names string, to *string, value, usage string) cli.Flag {
	name, aliases := named(names)
	return &cli.StringFlag{Name: name, Aliases: aliases, Destination: to, Value: value, Usage: usage}
}

// TextOr is a flag with a text.
func TextOr(names string, to *string, otherwise, usage string) cli.Flag {
	name, aliases := named(names)
	return &cli.StringFlag{Name: name, Aliases: aliases, Destination: to, DefaultText: otherwise, Usage: usage}
}

// List is a flag that may be given again.
func List(name string, to *cli.StringSlice, otherwise, usage string) cli.Flag {
	return &cli.StringSliceFlag{Name: name, Destination: to, DefaultText: otherwise, Usage: usage}
}

// Choice is a flag with one of some words: the first where help does not say otherwise.
func Choice(name string, to *string, otherwise, usage string, allowed ...string) cli.Flag {
	f := &cli.StringFlag{Name: name, Destination: to, DefaultText: otherwise, Usage: usage}
	if otherwise == "" {
		f.Value = allowed[0]
	}
	f.Action = func(_ *cli.Context, value string) error {
		if value == "" || slices.Contains(allowed, value) {
			return nil
		}
		return &devices.ArgumentError{
			Err:   fmt.Errorf("--%s %q: there are %s", name, value, strings.Join(allowed, ", ")),
			Name:  value,
			Known: allowed,
		}
	}
	return f
}

// Seed is a flag with a number that draws something.
func Seed(name string, to *uint64, value uint64, otherwise, usage string) cli.Flag {
	return &cli.Uint64Flag{Name: name, Destination: to, Value: value, DefaultText: otherwise, Usage: usage}
}

// Number is a flag with a number that has a least value.
func Number(name string, to *int, least, value int, usage string) cli.Flag {
	return &cli.IntFlag{Name: name, Destination: to, Value: value, Action: atLeast(name, least), Usage: usage}
}

// NumberOr is a flag with a number that has a least value.
func NumberOr(names string, to *int, least int, otherwise, usage string) cli.Flag {
	name, aliases := named(names)
	return &cli.IntFlag{Name: name, Aliases: aliases, Destination: to, DefaultText: otherwise,
		Action: atLeast(name, least), Usage: usage}
}

func atLeast(name string, least int) func(*cli.Context, int) error {
	return func(_ *cli.Context, value int) error {
		if value < least {
			return Usagef("--%s must be at least %d", name, least)
		}
		return nil
	}
}

// Time is a flag with a positive time.
func Time(name string, to *time.Duration, value time.Duration, usage string) cli.Flag {
	return &cli.DurationFlag{Name: name, Destination: to, Value: value, Action: positive(name), Usage: usage}
}

// TimeOr is a flag with a positive time.
func TimeOr(name string, to *time.Duration, otherwise, usage string) cli.Flag {
	return &cli.DurationFlag{Name: name, Destination: to, DefaultText: otherwise, Action: positive(name), Usage: usage}
}

func positive(name string) func(*cli.Context, time.Duration) error {
	return func(_ *cli.Context, value time.Duration) error {
		if value <= 0 {
			return Usagef("--%s %v: a positive time such as 30s", name, value)
		}
		return nil
	}
}

// Fix and Only are the flags that keep a search to some values. They may be given several times.
func Fix(to *space.Restriction) cli.Flag {
	return &cli.GenericFlag{Name: "fix", Value: fixed{to}, DefaultText: "nothing",
		Usage: "search only points with this `NAME=VALUE`, beside the default"}
}

func Only(to *space.Restriction) cli.Flag {
	return &cli.GenericFlag{Name: "only", Value: to, DefaultText: "all values",
		Usage: "search only these values of a parameter: `NAME=VALUE,VALUE`"}
}

// fixed takes one value for each name.
type fixed struct{ *space.Restriction }

func (f fixed) Set(text string) error {
	if strings.Contains(text, ",") {
		return errors.New("one value for a name; --only takes several")
	}
	return f.Restriction.Set(text)
}
