//go:build linux

package host

import (
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// What the system permits is counted for this thread; what it does not is said.
func TestEvents(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	e := openEvents()
	before := e.read()
	sum := 0
	for i := range 20_000_000 {
		sum += i * i
	}
	counted := since(before, e.read())
	if len(e.files) == 0 {
		if e.denied == "" {
			t.Error("nothing is counted, and nobody says why")
		}
		t.Skip(e.denied)
	}
	if counted["processor nanoseconds"] < 1e6 && counted["instructions"] < 1e7 {
		t.Errorf("%d: counted %v", sum, counted)
	}
	if _, hardware := counted["instructions"]; !hardware && e.denied == "" {
		t.Error("no instructions, and nobody says why")
	}
}

func TestDeniedEvents(t *testing.T) {
	for err, want := range map[error]string{
		unix.EACCES: "perf_event_paranoid",
		unix.ENOENT: "virtual machines",
		unix.ENOSYS: "sandbox",
		unix.EINVAL: "invalid",
	} {
		if got := deniedText("cycles", err); !strings.Contains(got, want) {
			t.Errorf("%v: %s", err, got)
		}
	}
}

func TestSince(t *testing.T) {
	got := since(map[string]float64{"a": 1, "b": 5}, map[string]float64{"a": 4, "b": 4, "c": 9})
	if len(got) != 1 || got["a"] != 3 {
		t.Errorf("got %v", got)
	}
}
