package console

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// Interrupts delivers Ctrl-C and a polite kill.
func Interrupts() (<-chan os.Signal, func()) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	return signals, func() { signal.Stop(signals) }
}

// politeness is how long a run that has to leave at once may take to end what
// it has started, and how long a terminal may take to show that it does.
const politeness = 300 * time.Millisecond

// Interruption gives a run two ways to end early. Once it is polite, the first
// signal ends Stop, after which the run finishes by itself. The signal before that,
// or the second, cancels the context and leaves with ExitInterrupted. Neither waits
// for the terminal, which may be stopped by Ctrl-S.
type Interruption struct {
	Stop     context.Context
	Polite   atomic.Bool
	finished chan struct{}
	over     chan struct{} // closed when signals have no effect any more
}

// Interruptible makes a context that signals end. Stderr gets the message about a polite end, and again is the command
// that goes on. Done must be called when the run has ended, whatever way; it does not return from one that is being
// left.
func (env Environment) Interruptible(ctx context.Context, stderr io.Writer,
	again string) (running context.Context, i *Interruption, done func()) {
	running, cancel := context.WithCancel(ctx)
	stopping, stop := context.WithCancel(context.Background())
	i = &Interruption{Stop: stopping, finished: make(chan struct{}), over: make(chan struct{})}
	// They are never given back: until the program ends, a late Ctrl-C must not
	// change its exit code.
	signals, _ := env.Signals()
	go func() {
		defer close(i.over)
		for {
			select {
			case <-signals:
			case <-i.finished:
				return
			}
			if i.Stopped() || !i.Polite.Load() {
				break
			}
			stop()
			say(stderr, "\nstopping: nothing new is begun; the report follows. Press Ctrl-C again to leave at once.\n")
		}
		cancel()
		// Compilers and workers end with the context; nothing else is waited
		// for, because every finished trial is recorded.
		select {
		case <-i.finished:
		case <-time.After(politeness):
		}
		text := "left before the search began"
		if i.Polite.Load() {
			text = "left; " + again + " continues"
		}
		say(env.Stderr, "\n"+text+"\n") // the bars are not drawn again
		os.Exit(ExitInterrupted)
	}()
	return running, i, func() {
		close(i.finished)
		<-i.over
		stop()
		cancel()
	}
}

// Stopped reports whether the run was asked to finish.
func (i *Interruption) Stopped() bool { return i.Stop.Err() != nil }

// say writes a message, and does not wait long for it.
func say(w io.Writer, text string) {
	said := make(chan struct{})
	go func() {
		defer close(said)
		fmt.Fprint(w, text)
	}()
	select {
	case <-said:
	case <-time.After(politeness):
	}
}

// Stoppable returns a context that ends with the user's first request to stop.
// Nothing needs to be finished politely: a gate has saved what it has compared. A second
// request ends the program at once, also while it cleans up.
func (env Environment) Stoppable(ctx context.Context) (context.Context, func()) {
	return env.stoppable(ctx, true)
}

// StoppableOnce is Stoppable for a command whose end must not be interrupted: a machine has to be put to sleep.
func (env Environment) StoppableOnce(ctx context.Context) (context.Context, func()) {
	return env.stoppable(ctx, false)
}

func (env Environment) stoppable(ctx context.Context, twice bool) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	signals, release := env.Signals()
	go func() {
		select {
		case <-signals:
			if twice {
				release()
			}
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		release()
		cancel()
	}
}
