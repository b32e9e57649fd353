package process

import (
	"os/exec"
	"syscall"
	"testing"
	"time"
)

func TestGroupTimeCountsAllOfAGroup(t *testing.T) {
	start := func(body string) int {
		cmd := exec.Command("sh", "-c", body)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			KillGroup(cmd.Process.Pid)
			_ = cmd.Wait()
		})
		return cmd.Process.Pid
	}
	idle := start("sleep 1000")
	busy := start("(while :; do :; done) & sleep 1000; wait")
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		if used, known := GroupTime(busy); known && used >= 200*time.Millisecond {
			break
		}
		if time.Since(begun) > time.Minute {
			t.Fatal("a group with a child that computes has used no time in a minute")
		}
	}
	if used, known := GroupTime(idle); !known || used >= 200*time.Millisecond {
		t.Errorf("a group that sleeps: %v, %v", used, known)
	}
	if used, known := GroupTime(1 << 30); known {
		t.Errorf("no such group: %v", used)
	}
}
