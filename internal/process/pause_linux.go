package process

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Pause stops all threads of a confined process until Resume, and returns when none runs. The process cannot refuse
// it, nor end it.
func (p *Process) Pause() error {
	err := Confines()
	if err == nil {
		p.signal(unix.SIGSTOP)
		const ways = unix.WSTOPPED | unix.WEXITED | unix.WNOWAIT // somebody else waits for its end
		for err = unix.EINTR; errors.Is(err, unix.EINTR); {
			err = unix.Waitid(unix.P_PID, p.Pid, nil, ways, nil)
		}
	}
	return err
}

// Resume lets a paused process go on.
func (p *Process) Resume() { p.signal(unix.SIGCONT) }

func (p *Process) signal(s unix.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		_ = unix.Kill(p.Pid, s) // it may have ended
	}
}
