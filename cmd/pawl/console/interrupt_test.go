package console

import (
	"context"
	"os"
	"testing"
)

// The first request to stop ends the context and gives signals back, so that the second ends the program; a command
// that has to clean up keeps them until it is done.
func TestTheSecondInterruptIsNotKept(t *testing.T) {
	for name, test := range map[string]struct {
		begin func(context.Context, Environment) (context.Context, func())
		given int
	}{"gate": {Stoppable, 1}, "sleep": {StoppableOnce, 0}} {
		signals, released := make(chan os.Signal, 1), make(chan struct{}, 2)
		ctx, done := test.begin(t.Context(), Environment{Signals: func() (<-chan os.Signal, func()) {
			return signals, func() { released <- struct{}{} }
		}})
		signals <- os.Interrupt
		<-ctx.Done()
		if len(released) != test.given {
			t.Errorf("%s: given back %d times", name, len(released))
		}
		done()
	}
}
