package console

import (
	"fmt"
	"strings"

	"pawl/objective/devices"
)

// The exit codes. Every command's help names the ones it uses.
const (
	ExitOK          = 0
	ExitNo          = 1   // the answer is no: a wrong result, a regression
	ExitNothing     = 2   // there was nothing to report
	ExitMachinery   = 3   // something broke; nothing was learned
	ExitUsage       = 64  // the command line was wrong
	ExitInterrupted = 130 // stopped by the user
	// A crash of pawl itself ends with SIGABRT, which a shell shows as 134.
)

// Answer is an exit code that is a result and not an error; what there is to
// say was said.
type Answer int

func (a Answer) Error() string { return fmt.Sprintf("exit %d", int(a)) }

// Answered is the error of an exit code; 0 is none.
func Answered(code int) error {
	if code == ExitOK {
		return nil
	}
	return Answer(code)
}

// Usage marks an error as a mistake on the command line.
func Usage(err error) error { return &devices.ArgumentError{Err: err} }

func Usagef(format string, arguments ...any) error { return Usage(fmt.Errorf(format, arguments...)) }

// Unknown is the mistake of asking for something that there is not.
func Unknown(what, name string, known []string) error {
	return &devices.ArgumentError{
		Err:   fmt.Errorf("no %s %q; there are %s", what, name, strings.Join(known, ", ")),
		Name:  name,
		Known: known,
	}
}
