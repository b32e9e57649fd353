package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// interrupts delivers Ctrl-C and a polite kill.
func interrupts() (<-chan os.Signal, func()) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	return signals, func() { signal.Stop(signals) }
}

// interruptible gives a run two ways to end early: the first signal closes
// stop, after which the run finishes politely; the second cancels the context
// and leaves.
func interruptible(ctx context.Context, env environment, stderr io.Writer) (running context.Context, stop <-chan struct{}, done func()) {
	running, cancel := context.WithCancel(ctx)
	stopping := make(chan struct{})
	finished := make(chan struct{})
	signals, release := env.signals()
	go func() {
		select {
		case <-signals:
		case <-finished:
			return
		}
		fmt.Fprintln(stderr, "\nstopping: no new trials; the report follows. Press Ctrl-C again to leave at once.")
		close(stopping)
		select {
		case <-signals:
		case <-finished:
			return
		}
		cancel()
		// Compilers and workers end with the context; nothing else is waited
		// for, because everything told is recorded.
		select {
		case <-finished:
		case <-time.After(300 * time.Millisecond):
		}
		fmt.Fprintln(stderr, "left; pawl tune --resume goes on")
		os.Exit(exitInterrupted)
	}()
	return running, stopping, func() {
		close(finished)
		release()
		cancel()
	}
}
