package devices

import (
	"context"

	"pawl/objective/command"
	"pawl/objective/worker"
)

// A command needs no kernel to be measured.
type (
	// Line is a command line that no shell sees.
	Line = command.Line
	// Repeat says how often it is run.
	Repeat = command.Repeat
	// Measurement is what came of it.
	Measurement = command.Measurement
)

// MeasureCommand measures a command alone. A fault says that it failed.
func MeasureCommand(ctx context.Context, line Line, repeat Repeat) (*Measurement, *worker.Fault, error) {
	return repeat.Run(ctx, line)
}
