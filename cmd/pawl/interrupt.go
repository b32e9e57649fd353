package main

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

// interrupts delivers Ctrl-C and a polite kill.
func interrupts() (<-chan os.Signal, func()) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	return signals, func() { signal.Stop(signals) }
}

// politeness is how long a run that has to leave at once may take to end what
// it has started, and how long a terminal may take to show that it does.
const politeness = 300 * time.Millisecond

// interruption gives a run two ways to end early. Once it is polite, the first
// signal closes stop, after which the run finishes by itself. The signal before that,
// or the second, cancels the context and leaves with exitInterrupted. Neither waits
// for the terminal, which may be stopped by Ctrl-S.
type interruption struct {
	stop     chan struct{}
	polite   atomic.Bool
	finished chan struct{}
	over     chan struct{} // closed when signals have no effect any more
}

// interruptible makes a context that signals end. Stderr gets the message about a
// polite end. Done must be called when the run has ended, whatever way; it does not
// return from one that is being left.
func interruptible(ctx context.Context, env environment, stderr io.Writer) (running context.Context, i *interruption, done func()) {
	return interruptibleBy(ctx, env, stderr, "pawl tune --resume")
}

// interruptibleBy is interruptible for a run that another command goes on with.
func interruptibleBy(ctx context.Context, env environment, stderr io.Writer, again string) (running context.Context, i *interruption, done func()) {
	running, cancel := context.WithCancel(ctx)
	i = &interruption{stop: make(chan struct{}), finished: make(chan struct{}), over: make(chan struct{})}
	// They are never given back: until the program ends, a late Ctrl-C must not
	// change its exit code.
	signals, _ := env.signals()
	go func() {
		defer close(i.over)
		for {
			select {
			case <-signals:
			case <-i.finished:
				return
			}
			if i.stopped() || !i.polite.Load() {
				break
			}
			close(i.stop)
			say(stderr, "\nstopping: nothing new is begun; the report follows. Press Ctrl-C again to leave at once.\n")
		}
		cancel()
		// Compilers and workers end with the context; nothing else is waited
		// for, because every finished trial is recorded.
		select {
		case <-i.finished:
		case <-time.After(politeness):
		}
		say(env.stderr, "\nleft; "+again+" goes on\n") // the bars are not drawn again
		os.Exit(exitInterrupted)
	}()
	return running, i, func() {
		close(i.finished)
		<-i.over
		cancel()
	}
}

// stopped reports whether the run was asked to finish.
func (i *interruption) stopped() bool {
	select {
	case <-i.stop:
		return true
	default:
		return false
	}
}

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

// stoppable returns a context that ends with the user's first request to stop.
// Nothing needs to be finished politely: a gate has saved what it has compared.
func stoppable(ctx context.Context, env environment) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	signals, release := env.signals()
	go func() {
		select {
		case <-signals:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		release()
		cancel()
	}
}
