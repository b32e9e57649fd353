package console

import (
	"time"

	"github.com/urfave/cli/v2"
)

// What follows makes flags that are bound to a value. The last argument is what help says; the word
// in backquotes stands for the value. Those that end in Or have no value by default, and help says in words
// what happens then.

// Switch is a flag that is given or not.
func Switch(name string, to *bool, usage string) cli.Flag {
	return &cli.BoolFlag{Name: name, Destination: to, DisableDefaultText: true, Usage: usage}
}

// Text is a flag with a text.
func Text(name string, to *string, value, usage string) cli.Flag {
	return &cli.StringFlag{Name: name, Destination: to, Value: value, Usage: usage}
}

// TextOr is a flag with a text.
func TextOr(name string, to *string, otherwise, usage string) cli.Flag {
	return &cli.StringFlag{Name: name, Destination: to, DefaultText: otherwise, Usage: usage}
}

// Number is a flag with a number that has a least value.
func Number(name string, to *int, least, value int, usage string) cli.Flag {
	return &cli.IntFlag{Name: name, Destination: to, Value: value, Action: AtLeast(name, least), Usage: usage}
}

// NumberOr is a flag with a number that has a least value.
func NumberOr(name string, to *int, least int, otherwise, usage string) cli.Flag {
	return &cli.IntFlag{Name: name, Destination: to, DefaultText: otherwise, Action: AtLeast(name, least), Usage: usage}
}

// Time is a flag with a positive time.
func Time(name string, to *time.Duration, value time.Duration, usage string) cli.Flag {
	return &cli.DurationFlag{Name: name, Destination: to, Value: value, Action: positive(name), Usage: usage}
}

// TimeOr is a flag with a positive time.
func TimeOr(name string, to *time.Duration, otherwise, usage string) cli.Flag {
	return &cli.DurationFlag{Name: name, Destination: to, DefaultText: otherwise, Action: positive(name), Usage: usage}
}
