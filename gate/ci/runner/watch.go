package runner

import (
	"context"
	"errors"
	"time"
)

// misses is how often in a row the machine must not answer to be asleep.
const misses = 3

// Watch is a guard in the foreground, for a job beside the one that measures: a runner that
// GitHub lends ends with its job, and what Wake left running there ends with it. It
// returns when the machine does not answer any more, or was put to sleep, and puts it to
// sleep when its longest time awake is over. Every is the time between two looks.
func (m Machine) Watch(ctx context.Context, every time.Duration) (State, error) {
	check, err := find(m.Check)
	if err != nil {
		return State{}, err
	}
	s, err := readState(m.State)
	if err != nil || s.Woke.IsZero() {
		s = m.Known
	}
	if !s.Awake() {
		return s, errors.New("there is nothing to guard: nobody has written down that the machine was woken")
	}
	for missed := 0; missed < misses; {
		if !m.now().Before(s.Longest) {
			m.say("its longest time awake is over")
			return m.Sleep(context.WithoutCancel(ctx))
		}
		pause(ctx, min(every, s.Longest.Sub(m.now())))
		if ctx.Err() != nil {
			return s, ctx.Err()
		}
		if now, err := readState(m.State); err == nil && !now.Woke.IsZero() && (now.Token != s.Token || !now.Awake()) {
			return now, nil
		}
		if execute(ctx, check, longestCheck) == nil {
			missed = 0
		} else {
			missed++
		}
	}
	m.say("it does not answer any more")
	s.Slept = m.now()
	return s, nil
}
