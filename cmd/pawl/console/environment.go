// Package console has what all commands share: the environment, the flags, the exit codes
// and the errors that stand for them, what is drawn on a terminal, and how a run ends when
// somebody stops it. Commands are in the packages beside it, which do not know each other:
// what two of them need is here, and nothing that only one needs.
package console

import (
	"fmt"
	"io"
	"os"
	"time"
)

// Environment is the world outside: everything that a test may want to change.
type Environment struct {
	// Stdin is read by pawl ask alone.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	// Command is what stands behind -- of pawl bench and pawl gate; nil where there is none.
	Command []string
	// Signals delivers a person's requests to stop.
	Signals func() (<-chan os.Signal, func())
	// BenchTime is how long one benchmark of a search may take; zero means the usual.
	BenchTime time.Duration
}

// Notice tells the user something that is no error.
func (env Environment) Notice(text string) { fmt.Fprintln(env.Stderr, "pawl: "+text) }
