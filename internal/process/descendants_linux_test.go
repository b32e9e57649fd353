package process

import (
	"testing"
	"time"
)

func TestGroupTimeCountsAllOfAGroup(t *testing.T) {
	begin := func(body string) int {
		p, err := Start(Command{Line: []string{"sh", "-c", body}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			p.Kill()
			p.Close()
		})
		return p.Pid
	}
	idle := begin("sleep 1000")
	busy := begin("(while :; do :; done) & sleep 1000; wait")
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		if used, known := groupTime(busy); known && used >= 200*time.Millisecond {
			break
		}
		if time.Since(begun) > time.Minute {
			t.Fatal("a group with a child that computes has used no time in a minute")
		}
	}
	if used, known := groupTime(idle); !known || used >= 200*time.Millisecond {
		t.Errorf("a group that sleeps: %v, %v", used, known)
	}
	if used, known := groupTime(1 << 30); known {
		t.Errorf("no such group: %v", used)
	}
}

// A process has a number of its own until everything in its group was ended: the signal that
// ends the group cannot reach another's.
func TestGroupIsEndedBeforeItsNumberIsFree(t *testing.T) {
	signalled := make(chan bool, 1)
	p, err := Start(Command{Line: []string{"true"}, Signal: func(pid int) { signalled <- isZombie(-pid) }})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	<-p.Ended
	if zombie := <-signalled; !zombie {
		t.Error("it was waited for before its group was signalled")
	}
	if gone := p.Kill(); !gone || len(signalled) > 0 {
		t.Errorf("gone %v, and %d signals after its end", gone, len(signalled))
	}
}
