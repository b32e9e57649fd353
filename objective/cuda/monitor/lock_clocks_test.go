package monitor

import (
	"errors"
	"strings"
	"testing"
)

func TestLockAndRestore(t *testing.T) {
	gpu := healthy()
	monitor, _, err := watching(gpu)
	if err != nil {
		t.Fatal(err)
	}
	lock, err := monitor.LockClocks(1500)
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Verify(); err != nil {
		t.Errorf("verify: %v", err)
	}
	if _, err := monitor.LockClocks(1200); err == nil || !strings.Contains(err.Error(), "locked at 1500 MHz already") {
		t.Errorf("a second lock: %v", err)
	}
	for range 2 {
		if err := lock.Restore(); err != nil {
			t.Errorf("restore: %v", err)
		}
	}
	if gpu.unlocks != 1 || gpu.numbers[smClock] != 1980 {
		t.Errorf("restored %d times, clock %d", gpu.unlocks, gpu.numbers[smClock])
	}
	if err := lock.Verify(); err == nil {
		t.Error("a restored lock verifies")
	}
	monitor.Close()
	if gpu.unlocks != 1 {
		t.Error("Close restored again")
	}
}

func TestLockWithoutPermission(t *testing.T) {
	gpu := healthy()
	gpu.lockFailure = codeNoPermission
	monitor, _, err := watching(gpu)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = monitor.LockClocks(1500); !errors.Is(err, ErrNoPermission) ||
		!strings.Contains(err.Error(), "run as root") {
		t.Errorf("got %v", err)
	}
	if gpu.unlocks != 0 {
		t.Error("a lock that was refused must not be restored: it may be somebody else's")
	}
}

func TestLockOutOfRange(t *testing.T) {
	gpu := healthy()
	monitor, _, err := watching(gpu)
	if err != nil {
		t.Fatal(err)
	}
	for _, mhz := range []int{-1, 0, 1996} {
		if _, err := monitor.LockClocks(mhz); err == nil || !strings.Contains(err.Error(), "up to 1995 MHz") {
			t.Errorf("%d MHz: %v", mhz, err)
		}
	}
	if gpu.locks != 0 {
		t.Error("the GPU was asked")
	}
}

func TestLockThatDoesNotHold(t *testing.T) {
	gpu := healthy()
	gpu.ignoresLock = true
	monitor, _, err := watching(gpu)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := monitor.LockClocks(1500); err == nil ||
		!strings.Contains(err.Error(), "locked at 1500 MHz but runs at 1980 MHz") {
		t.Errorf("got %v", err)
	}
	if gpu.unlocks != 1 {
		t.Errorf("restored %d times", gpu.unlocks)
	}
}

func TestLockOfAnIdleGPU(t *testing.T) {
	gpu := healthy()
	gpu.ignoresLock = true
	gpu.numbers[smClock], gpu.numbers[reasons] = 345, uint64(Idle)
	monitor, _, err := watching(gpu)
	if err != nil {
		t.Fatal(err)
	}
	lock, err := monitor.LockClocks(1500)
	if err != nil {
		t.Fatal(err)
	}
	if lock.Verify() == nil {
		t.Error("345 MHz verifies as 1500 MHz")
	}
	gpu.numbers[smClock], gpu.numbers[reasons] = 1485, 0 // the nearest step
	if err := lock.Verify(); err != nil {
		t.Errorf("under load: %v", err)
	}
}

func TestRestoreTriesAgain(t *testing.T) {
	gpu := healthy()
	monitor, _, err := watching(gpu)
	if err != nil {
		t.Fatal(err)
	}
	lock, err := monitor.LockClocks(1500)
	if err != nil {
		t.Fatal(err)
	}
	gpu.unlockFailure = code(10)
	if err := lock.Restore(); err == nil || !strings.Contains(err.Error(), "stays locked at 1500 MHz") {
		t.Errorf("got %v", err)
	}
	gpu.unlockFailure = nil
	if err := lock.Restore(); err != nil || gpu.numbers[smClock] != 1980 {
		t.Errorf("the second time: %v, clock %d", err, gpu.numbers[smClock])
	}
}

func TestCloseRestores(t *testing.T) {
	for name, broken := range map[string]error{"works": nil, "fails": code(10)} {
		t.Run(name, func(t *testing.T) {
			gpu := healthy()
			gpu.unlockFailure = broken
			monitor, _, err := watching(gpu)
			if err != nil {
				t.Fatal(err)
			}
			lock, err := monitor.LockClocks(1500)
			if err != nil {
				t.Fatal(err)
			}
			monitor.Close()
			if gpu.unlocks != 1 {
				t.Errorf("restored %d times", gpu.unlocks)
			}
			if err := lock.Restore(); (err == nil) != (broken == nil) {
				t.Errorf("restoring after Close: %v", err)
			}
		})
	}
}

func TestLockIsReleasedWhenTheClockCannotBeRead(t *testing.T) {
	gpu := healthy()
	monitor, _, err := watching(gpu)
	if err != nil {
		t.Fatal(err)
	}
	gpu.failures[reasons] = code(15)
	if _, err := monitor.LockClocks(1500); err == nil || !strings.Contains(err.Error(), "off the bus") {
		t.Errorf("got %v", err)
	}
	if gpu.locks != 1 || gpu.unlocks != 1 {
		t.Errorf("locked %d times, restored %d times", gpu.locks, gpu.unlocks)
	}
}

// Verify says whether the clock is where it was locked.
func (l *Lock) Verify() error {
	state, err := l.monitor.Read()
	if err != nil {
		return err
	}
	return off(l.clock, state)
}
