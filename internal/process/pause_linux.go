package process

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// longestPause is how long a process may take to stop. Machines that stand still do so for less.
const longestPause = 10 * time.Second

// Pause stops all threads of a confined process until Resume, and returns when none runs. The process cannot refuse
// it, nor end it. One that does not stop in time is killed, and the error is ErrTime.
func (p *Process) Pause() error {
	if err := Confines(); err != nil {
		return err
	}
	p.signal(unix.SIGSTOP)
	stopped := make(chan error, 1)
	go func() {
		const ways = unix.WSTOPPED | unix.WEXITED | unix.WNOWAIT // somebody else waits for its end
		err := error(unix.EINTR)
		for errors.Is(err, unix.EINTR) {
			err = unix.Waitid(unix.P_PID, p.Pid, nil, ways, nil)
		}
		stopped <- err
	}()
	select {
	case err := <-stopped:
		return err
	case <-time.After(longestPause):
		p.Kill()
		return ErrTime
	}
}

// Resume lets a paused process go on.
func (p *Process) Resume() { p.signal(unix.SIGCONT) }

// Worked returns how long processors have worked for a process, all its threads together. A confined one has no other
// process that works for it. It answers false where that is not so, or nobody knows.
func (p *Process) Worked() (time.Duration, bool) {
	const ofProcess = 2 // in the lowest bits: the scheduler's own count, of all threads
	var worked unix.Timespec
	known := Confines() == nil && unix.ClockGettime(int32(^p.Pid<<3|ofProcess), &worked) == nil
	return time.Duration(worked.Nano()), known
}

func (p *Process) signal(s unix.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		_ = unix.Kill(p.Pid, s) // it may have ended
	}
}
