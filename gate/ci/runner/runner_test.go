package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain lets the test binary be the guard, and a job that is killed while it wakes a
// machine.
func TestMain(m *testing.M) {
	os.Setenv("GORACE", "atexit_sleep_ms=0") // or every guard sleeps a second before it ends
	switch {
	case len(os.Args) > 1 && os.Args[1] == "guard":
		if err := Keep(context.Background(), os.Stdin, os.Stdout); err != nil {
			os.Exit(3)
		}
		os.Exit(0)
	case len(os.Args) == 6 && os.Args[1] == "wake":
		c := &Config{
			Wake:     os.Args[3:4],
			Check:    os.Args[4:5],
			Sleep:    os.Args[5:6],
			Longest:  time.Second,
			Patience: time.Minute,
		}
		_, err := Machine{Config: c, State: os.Args[2], Guard: guard()}.Wake(context.Background())
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	os.Exit(m.Run())
}

func guard() []string { return []string{os.Args[0], "guard"} }

func TestWakeAndSleep(t *testing.T) {
	c := newCloud(t)
	s, err := c.Wake(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !c.there("awake") || c.there("shell") || !s.Awake() || s.Guard == 0 || c.count("wake") != 1 ||
		c.count("check") != 1 {
		t.Errorf("%+v, %d calls of wake, %d of check", s, c.count("wake"), c.count("check"))
	}
	log, _ := os.ReadFile(filepath.Join(c.folder, "log"))
	if !strings.HasPrefix(string(log), "wake an argument $(touch shell)\n") {
		t.Errorf("a shell has read the command: %s", log)
	}
	if gone(s.Guard) {
		t.Error("there is no guard")
	}
	// Another step, which knows only the file.
	slept, err := Machine{Config: c.Config, State: c.State}.Sleep(t.Context())
	if err != nil || c.there("awake") || slept.Awake() || !slept.Woke.Equal(s.Woke) {
		t.Errorf("%+v, %v", slept, err)
	}
	eventually(t, "the guard ends", func() bool { return gone(s.Guard) })
	// Once more changes nothing about the bill.
	again, err := c.Machine.Sleep(t.Context())
	if err != nil || !again.Slept.Equal(slept.Slept) || c.count("sleep") != 2 {
		t.Errorf("%+v, %v", again, err)
	}
}

// A machine that was never woken is put to sleep as well, and nobody knows what it cost.
func TestSleepKnowsNothing(t *testing.T) {
	c := newCloud(t)
	s, err := c.Machine.Sleep(t.Context())
	if err != nil || c.count("sleep") != 1 || s.Cost(time.Now()) != nil {
		t.Errorf("%+v, %v", s, err)
	}
	// A job on another machine has passed on what it knows.
	c.Known = State{
		Format:   stateFormat,
		Version:  stateVersion,
		Woke:     time.Now().Add(-time.Hour),
		Price:    2,
		Currency: "EUR",
	}
	s, err = c.Machine.Sleep(t.Context())
	if err != nil || s.Cost(time.Now()) == nil || s.Cost(time.Now()).Total() < 2 {
		t.Errorf("%+v, %v", s, err)
	}
	// A damaged file is no reason to leave it awake.
	if err := os.WriteFile(c.State, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Machine.Sleep(t.Context()); err != nil || c.count("sleep") != 3 || len(c.said) != 1 {
		t.Errorf("%v, %q", err, c.said)
	}
}

// A machine that answers late is waited for.
func TestSlowToAnswer(t *testing.T) {
	c := newCloud(t)
	c.script("check", "[ $(grep -c ^check log) -ge 4 ]")
	if _, err := c.Wake(t.Context()); err != nil || c.count("check") != 4 {
		t.Errorf("%v after %d checks", err, c.count("check"))
	}
}

// Whatever goes wrong, the machine is asleep in the end, and the message says why it woke not.
func TestWakingFails(t *testing.T) {
	for _, c := range []struct {
		name, program, body string
		patience            time.Duration // long enough for what must succeed
		want                string
	}{
		{"the command fails", "wake", "touch awake; echo no capacity >&2; exit 7", time.Minute, "no capacity"},
		{"the command hangs", "wake", "touch awake; sleep 600 & sleep 600", 100 * time.Millisecond, "longer than"},
		{"it never answers", "check", "echo 'no route'; exit 1", time.Minute, "no route"},
		{"the check hangs", "check", "sleep 600", 20 * time.Second, "does not answer"},
		{"a hostile message", "check", "printf '\\033[31m##[error]\\n::error::x'; exit 1", time.Minute,
			`\x1b[31m##\u005berror]\n::error::x`},
	} {
		t.Run(c.name, func(t *testing.T) {
			machine := newCloud(t)
			machine.script(c.program, c.body)
			machine.Patience = c.patience
			// An hour passes between two looks at the clock.
			hours := 0
			began := time.Now().UTC()
			machine.Now = func() time.Time {
				hours++
				return began.Add(time.Duration(hours) * time.Hour)
			}
			s, err := machine.Wake(t.Context())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v, want %q", err, c.want)
			}
			if machine.count("sleep") != 1 || machine.there("awake") || s.Awake() ||
				!strings.Contains(err.Error(), "put to sleep again") {
				t.Errorf("it is awake: %v", err)
			}
		})
	}
}

// The user stops the wait: the machine sleeps before Wake returns.
func TestStoppedWhileWaking(t *testing.T) {
	c := newCloud(t)
	c.script("check", "touch checked; exit 1")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for !c.there("checked") && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	if _, err := c.Wake(ctx); !errors.Is(err, context.Canceled) || c.there("awake") || c.state().Awake() {
		t.Errorf("%v, %+v", err, c.state())
	}
}

// Nothing is woken that could not be put to sleep, or that nobody would guard.
func TestNothingIsWoken(t *testing.T) {
	for name, spoil := range map[string]func(*cloud){
		"no program sleep": func(c *cloud) { c.Config.Sleep = []string{"/nowhere/stop"} },
		"no program check": func(c *cloud) { c.Check = []string{"no-such-program-of-pawl"} },
		"no guard":         func(c *cloud) { c.Guard = []string{"/nowhere/guard"} },
		"a guard that ends": func(c *cloud) {
			c.script("guard", "exit 1")
			c.Guard = []string{filepath.Join(c.folder, "guard")}
		},
		"no place for the state": func(c *cloud) { c.State = filepath.Join(c.folder, "wake", "state.json") },
	} {
		c := newCloud(t)
		spoil(c)
		if _, err := c.Wake(t.Context()); err == nil || !strings.Contains(err.Error(), "nothing was woken") ||
			c.count("wake") != 0 || c.there("state/machine.json") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Putting it to sleep is tried again; where that does not help, the message says what it costs
// and what to do, and the guard stays.
func TestSleepFails(t *testing.T) {
	c := newCloud(t)
	s, err := c.Wake(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.script("sleep", "[ $(grep -c ^sleep log) -ge 3 ] && rm -f awake")
	if _, err := c.Machine.Sleep(t.Context()); err != nil || c.there("awake") || len(c.said) != 2 {
		t.Errorf("%v, said %q", err, c.said)
	}
	eventually(t, "the guard ends", func() bool { return gone(s.Guard) })

	if s, err = c.Wake(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.script("sleep", "echo broken; exit 1")
	_, err = c.Machine.Sleep(t.Context())
	if err == nil || !strings.Contains(err.Error(), "MAY STILL BE AWAKE, at 3.60 EUR an hour") ||
		!strings.Contains(err.Error(), "broken") || !c.state().Awake() || gone(s.Guard) {
		t.Errorf("%v, %+v", err, c.state())
	}
	c.script("sleep", "sleep 600")
	c.Stop = 20 * time.Millisecond
	if _, err := c.Machine.Sleep(t.Context()); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("%v", err)
	}
	c.Stop = 0
}

// A job that is killed while it wakes the machine leaves a guard, which puts it to sleep.
func TestGuardAfterAKill(t *testing.T) {
	c := newCloud(t)
	c.script("wake", "touch awake; kill -9 $PPID; sleep 0")
	job := exec.Command(os.Args[0], "wake", c.State, c.Config.Wake[0], c.Check[0], c.Config.Sleep[0])
	if output, err := job.CombinedOutput(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("%v: %s", err, output)
	}
	eventually(t, "the guard puts it to sleep", func() bool { return c.count("sleep") == 1 && !c.state().Awake() })
	if s := c.state(); !s.Guarded || s.Slept.Sub(s.Woke) < time.Second {
		t.Errorf("%+v", s)
	}
}

// The guard needs neither the state nor the file: a checkout may have cleaned both away.
func TestGuardWithoutFiles(t *testing.T) {
	c := newCloud(t)
	sleep, err := find(c.Config.Sleep)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.folder, "awake"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	pid, err := c.startGuard(order{
		Sleep:    sleep,
		State:    c.State,
		Token:    "t",
		Deadline: time.Now().Add(time.Second),
		Patience: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the guard puts it to sleep and ends", func() bool { return !c.there("awake") && gone(pid) })
}

// Woken once more, the machine is the new guard's, and the bill begins with the first.
func TestWokenTwice(t *testing.T) {
	c := newCloud(t)
	first, err := c.Wake(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second, err := c.Wake(t.Context())
	if err != nil || !second.Woke.Equal(first.Woke) || second.Token == first.Token || len(c.said) != 1 {
		t.Errorf("%+v, %v, %q", second, err, c.said)
	}
	eventually(t, "the first guard ends", func() bool { return gone(first.Guard) })
	if c.count("sleep") != 0 || gone(second.Guard) {
		t.Error("the first guard has taken the second along")
	}
	// One that should have been asleep long ago is a new bill.
	if _, err := c.Machine.Sleep(t.Context()); err != nil {
		t.Fatal(err)
	}
	old := c.state()
	eventually(t, "the second guard ends", func() bool { return gone(old.Guard) })
	old.Slept, old.Woke, old.Longest = time.Time{}, old.Woke.Add(-48*time.Hour), old.Woke.Add(-46*time.Hour)
	if err := old.write(c.State); err != nil {
		t.Fatal(err)
	}
	if third, err := c.Wake(t.Context()); err != nil || third.Woke.Equal(old.Woke) {
		t.Errorf("%+v, %v", third, err)
	}
}

// A job beside the one that measures ends when the machine does not answer any more, and
// puts it to sleep when its time is over.
func TestWatch(t *testing.T) {
	c := newCloud(t)
	if _, err := c.Watch(t.Context(), time.Millisecond); err == nil {
		t.Error("there was nothing to guard")
	}
	c.Known = State{
		Format:  stateFormat,
		Version: stateVersion,
		Woke:    time.Now(),
		Longest: time.Now().Add(time.Hour),
		Token:   "elsewhere",
	}
	c.script("check", "[ $(grep -c ^check log) -lt 4 ]")
	if s, err := c.Watch(t.Context(), time.Millisecond); err != nil || s.Awake() || c.count("check") != 6 ||
		c.count("sleep") != 0 {
		t.Errorf("%+v, %v, %d checks", s, err, c.count("check"))
	}
	c.script("check", "true")
	c.Known.Longest = time.Now().Add(50 * time.Millisecond)
	if s, err := c.Watch(t.Context(), time.Millisecond); err != nil || s.Awake() || c.count("sleep") != 1 {
		t.Errorf("%+v, %v", s, err)
	}
}

// The commands and what they leave running: nothing waits for that.
func TestCommandLeavesSomethingRunning(t *testing.T) {
	c := newCloud(t)
	c.script("wake", "touch awake; sleep 600 & echo $! > left")
	left := func() (pid int) {
		text, err := os.ReadFile(filepath.Join(c.folder, "left"))
		if _, scanned := fmt.Sscan(string(text), &pid); err != nil || scanned != nil {
			t.Fatalf("%q, %v, %v", text, err, scanned)
		}
		return pid
	}
	t.Cleanup(func() {
		if err := syscall.Kill(left(), syscall.SIGKILL); err != nil {
			t.Error(err)
		}
	})
	if _, err := c.Wake(t.Context()); err != nil {
		t.Fatal(err)
	}
	if gone(left()) {
		t.Error("it was ended")
	}
}

func TestStateHasItsPlace(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	var paths []string
	for _, words := range [][]string{{"a", "b"}, {"a b"}, {"a", "b", ""}} {
		c := Config{Wake: words, Sleep: []string{"stop"}}
		path, err := c.StatePath()
		if err != nil || slices.Contains(paths, path) {
			t.Errorf("%q: %s, %v", words, path, err)
		}
		paths = append(paths, path)
	}
}
