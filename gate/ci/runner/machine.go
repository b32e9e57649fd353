package runner

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"time"

	"pawl/internal/escape"
	"pawl/internal/page"
)

// Machine is a machine that is woken and put to sleep.
type Machine struct {
	*Config
	// State is the file that remembers when it woke.
	State string
	// Known is what another job has passed on, for where the file is not; zero for nothing.
	Known State
	// Guard is the program that runs [Keep], with its arguments.
	Guard []string
	// Pause is the time between two checks and before a second attempt to put it to sleep; 0
	// means two seconds.
	Pause time.Duration
	// Stop bounds each attempt to put it to sleep; 0 means the patience of the file, and at least a
	// minute.
	Stop time.Duration
	// Now is the clock; nil means that on the wall.
	Now func() time.Time
	// Say gets what a person may want to know. It may be nil.
	Say func(string)
}

// attempts is how often putting the machine to sleep is tried.
const attempts = 4

// longestCheck bounds one check: one that hangs says as little as one that fails.
const longestCheck = 30 * time.Second

func (m Machine) say(format string, arguments ...any) {
	if m.Say != nil {
		m.Say(escape.Line(fmt.Sprintf(format, arguments...)))
	}
}

func (m Machine) stopTime() time.Duration { return cmp.Or(m.Stop, max(m.Patience, time.Minute)) }

// now is without the monotonic part: a file keeps none.
func (m Machine) now() time.Time {
	if m.Now != nil {
		return m.Now()
	}
	return time.Now().UTC().Round(0)
}

func (m Machine) pause() time.Duration { return cmp.Or(m.Pause, 2*time.Second) }

// Wake wakes the machine and returns when it answers. Whatever fails, and when the
// context ends, the machine is put to sleep again before Wake returns. If this process is
// killed, the guard does it, when the longest time is over.
func (m Machine) Wake(ctx context.Context) (State, error) {
	var commands [3][]string
	for i, words := range [][]string{m.Config.Sleep, m.Config.Wake, m.Check} {
		var err error
		if commands[i], err = find(words); err != nil {
			return State{}, fmt.Errorf("nothing was woken: %w", err)
		}
	}
	s, err := m.announce(commands[0])
	if err != nil {
		return State{}, fmt.Errorf("nothing was woken: %w", err)
	}
	if err = m.rouse(ctx, commands[1], commands[2]); err == nil {
		return s, nil
	}
	slept, asleep := m.Sleep(context.WithoutCancel(ctx))
	if asleep == nil {
		err = fmt.Errorf("%w; it was put to sleep again", err)
	}
	return slept, errors.Join(fmt.Errorf("waking the machine: %w", err), asleep)
}

// announce writes down that the machine is awake, and starts the guard, before it is:
// killed after that, a run leaves nothing awake for longer than allowed.
func (m Machine) announce(sleep []string) (s State, err error) {
	unlock, err := page.Lock(m.State)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	earlier, err := readState(m.State)
	if err != nil {
		m.say("what was known about the machine cannot be read and is forgotten: %v", err)
	}
	now := m.now()
	s = State{
		Format:   stateFormat,
		Version:  stateVersion,
		Woke:     now,
		Longest:  now.Add(m.Longest),
		Price:    m.Price,
		Currency: m.Currency,
		Token:    rand.Text(),
	}
	if earlier.Awake() && now.Before(earlier.Longest) {
		m.say("it was woken already at %s, and not put to sleep since", earlier.Woke.Format(time.RFC3339))
		s.Woke = earlier.Woke
	}
	if err := s.write(m.State); err != nil {
		return s, err
	}
	if s.Guard, err = m.startGuard(order{
		Sleep:    sleep,
		State:    m.State,
		Token:    s.Token,
		Deadline: s.Longest,
		Patience: m.stopTime(),
	}); err != nil {
		return s, errors.Join(fmt.Errorf("starting its guard: %w", err), m.forget(earlier))
	}
	return s, s.write(m.State)
}

// forget puts back what was known before.
func (m Machine) forget(earlier State) error {
	if !earlier.Woke.IsZero() {
		return earlier.write(m.State)
	}
	return os.Remove(m.State)
}

// rouse wakes the machine and waits until it answers.
func (m Machine) rouse(ctx context.Context, wake, check []string) error {
	until := m.now().Add(m.Patience)
	if err := execute(ctx, wake, m.Patience); err != nil {
		return err
	}
	for {
		err := execute(ctx, check, min(longestCheck, max(until.Sub(m.now()), m.Patience/10)))
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("stopped before it answered: %w", ctx.Err())
		case m.now().After(until):
			return fmt.Errorf("it does not answer after %s: %w", m.Patience, err)
		}
		pause(ctx, min(m.pause(), max(until.Sub(m.now()), 0)))
	}
}

// Sleep puts the machine to sleep, whether or not it is known to be awake: asking once too
// often costs nothing. It returns what is known about its time awake, which is nothing where
// nobody has written down when it woke. After an error the guard goes on.
func (m Machine) Sleep(ctx context.Context) (State, error) {
	unlock, err := page.Lock(m.State)
	if err != nil {
		m.say("%v", err) // worth a word, and no reason to leave it awake
		unlock = func() error { return nil }
	}
	s, err := readState(m.State)
	if err != nil {
		m.say("what was known about the machine cannot be read: %v", err)
	}
	if s.Woke.IsZero() {
		s = m.Known
	}
	if err := m.stop(ctx); err != nil {
		return s, errors.Join(err, unlock())
	}
	if s.Awake() {
		s.Slept = m.now()
		err = s.write(m.State) // the guard reads it, and ends
	} else {
		err = nil
	}
	return s, errors.Join(err, unlock())
}

// stop runs the command until it succeeds, a bounded number of times.
func (m Machine) stop(ctx context.Context) error {
	words, err := find(m.Config.Sleep)
	for attempt := 1; err == nil; attempt++ {
		failed := execute(ctx, words, m.stopTime())
		if failed == nil {
			return nil
		}
		if attempt == attempts || ctx.Err() != nil {
			err = failed
			break
		}
		m.say("attempt %d of %d: %v; trying again", attempt, attempts, failed)
		pause(ctx, m.pause()<<(attempt-1))
	}
	price := ""
	if m.Price > 0 {
		price = fmt.Sprintf(", at %.2f %s an hour", m.Price, m.Currency)
	}
	return fmt.Errorf("THE MACHINE MAY STILL BE AWAKE%s: put it to sleep by hand (%s): %w", price,
		escape.Line(escape.Shell(m.Config.Sleep...)), err)
}
