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
		begin func(Environment, context.Context) (context.Context, func())
		given int
	}{"gate": {Environment.Stoppable, 1}, "sleep": {Environment.StoppableOnce, 0}} {
		signals, released := make(chan os.Signal, 1), make(chan struct{}, 2)
		ctx, done := test.begin(Environment{Signals: func() (<-chan os.Signal, func()) {
			return signals, func() { released <- struct{}{} }
		}}, t.Context())
		signals <- os.Interrupt
		<-ctx.Done()
		if len(released) != test.given {
			t.Errorf("%s: given back %d times", name, len(released))
		}
		done()
	}
}
