package process

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func shell(body string) Command {
	return Command{Line: []string{"sh", "-c", body}, Stdout: &Output{Keep: 100}, Stderr: &Output{Keep: 10, Last: true}}
}

func TestRunTellsTheEndsApart(t *testing.T) {
	c := shell("cat; echo $A; echo one two three >&2")
	c.Input, c.Environment = strings.NewReader("given "), []string{"A=b"}
	p, err := Run(t.Context(), c)
	if err != nil || c.Stdout.String() != "given b\n" || c.Stdout.Cut() || c.Stderr.String() != "two three\n" ||
		!c.Stderr.Cut() || c.Stderr.LastLine() != "two three" {
		t.Errorf("%q, %q, %v", c.Stdout, c.Stderr, err)
	}
	if p.Wall <= 0 {
		t.Errorf("it took %v", p.Wall)
	}
	var exit *exec.ExitError
	if _, err := Run(t.Context(), shell("exit 3")); !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("a status: %v", err)
	}
	if _, err := Run(t.Context(), shell("kill -SEGV $$")); !errors.As(err, &exit) || exit.Exited() {
		t.Errorf("a signal: %v", err)
	}
	if p, err := Run(t.Context(), Command{Line: []string{"/no/such/program"}}); !errors.Is(err, fs.ErrNotExist) ||
		p != nil {
		t.Errorf("no program: %v", err)
	}
	if line, err := LastLine(t.Context(), "echo", "one\ntwo"); err != nil || line != "two" {
		t.Errorf("%q, %v", line, err)
	}
	c = shell("sleep 1000")
	c.Allowed = 50 * time.Millisecond
	if _, err := Run(t.Context(), c); !errors.Is(err, ErrTime) {
		t.Errorf("no end: %v", err)
	}
	for _, body := range []string{"exec yes", "exec yes >&2", "echo 123456789"} {
		c = shell(body)
		c.Stdout.Flood, c.Stderr.Flood = 8, 8
		if _, err := Run(t.Context(), c); !errors.Is(err, ErrFlood) {
			t.Errorf("%s: %v", body, err)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(50*time.Millisecond, func() { cancel(errors.New("the user left")) })
	for range 2 { // while it runs, and before
		if _, err := Run(ctx, shell("sleep 1000")); err == nil || err.Error() != "the user left" {
			t.Errorf("cancelled: %v", err)
		}
	}
	c = shell("sleep 1000")
	c.Allowed, c.Grace = time.Millisecond, time.Millisecond
	c.Signal = func(int) {}
	p, err = Run(t.Context(), c)
	if !errors.Is(err, ErrUnkillable) {
		t.Fatalf("not killed: %v", err)
	}
	if err := syscall.Kill(-p.Pid, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
}

// What a program leaves in its group ends with it, also when it ends by itself.
func TestNothingOfTheGroupIsLeft(t *testing.T) {
	leave := func(keep bool) (pid int) {
		c := shell("sleep 1000 >/dev/null 2>&1 & echo $!")
		c.KeepGroup = keep
		_, err := Run(t.Context(), c)
		if err == nil {
			pid, err = strconv.Atoi(c.Stdout.LastLine())
		}
		if err != nil {
			t.Fatal(err)
		}
		return pid
	}
	if kept := leave(true); syscall.Kill(kept, syscall.SIGKILL) != nil {
		t.Error("what is to stay was ended")
	}
	pid := leave(false)
	for begun := time.Now(); syscall.Kill(pid, 0) == nil && !isZombie(pid); time.Sleep(time.Millisecond) {
		if time.Since(begun) > time.Minute {
			t.Fatalf("process %d is still there", pid)
		}
	}
}

func TestDialog(t *testing.T) {
	for dialog, body := range map[Dialog]string{OnStandard: "cat", OnExtra: "cat <&3 >&4"} {
		c := Command{Line: []string{"sh", "-c", body}, Dialog: dialog}
		p, err := Start(c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Requests.WriteString("asked"); err != nil {
			t.Error(err)
		}
		p.Requests.Close()
		if answer, err := io.ReadAll(p.Answers); err != nil || string(answer) != "asked" {
			t.Errorf("%q, %v", answer, err)
		}
		if !p.Kill() || p.Alive() {
			t.Error("it goes on")
		}
		p.Close()
	}
}

func TestInheritedEnvironment(t *testing.T) {
	got := Environment([]string{"PATH=/bin", "GITHUB_TOKEN=x", "OMP_NUM_THREADS=4", "LC_ALL=C", "AWS_SECRET_ACCESS_KEY=x",
		"CUDA_VISIBLE_DEVICES=0", "SSH_AUTH_SOCK=x", "HOME=/root", "LD_PRELOAD=x", "PATHS=x", "odd"})
	if want := []string{"PATH=/bin", "OMP_NUM_THREADS=4", "LC_ALL=C", "CUDA_VISIBLE_DEVICES=0",
		"HOME=/root"}; !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}

// Whatever comes before an answer ends the wait for it, and the program.
func TestAsk(t *testing.T) {
	c := shell("while read line; do echo answer to $line; done")
	c.Dialog = OnStandard
	p, err := Start(c)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, asked := range []string{"one", "two"} {
		if answer, err := p.Ask(t.Context(), []byte(asked)); err != nil || string(answer) != "answer to "+asked {
			t.Errorf("%q, %v", answer, err)
		}
	}
	if !p.Kill() {
		t.Error("it goes on")
	}
	for body, want := range map[string]struct {
		is   error
		says string
	}{
		"echo one >&2; echo why >&2; exit 3": {ErrEnded, "ended without an answer (exit status 3): why"},
		"printf cut short; kill -SEGV $$":    {nil, ""}, // the last line needs no end
		"exec 0<&- >&-; sleep 1000":          {ErrEnded, "ended without an answer (signal: killed)"},
		"exec sleep 1000":                    {ErrTime, "no answer after 100ms"},
		"yes >&2; true":                      {ErrFlood, ErrFlood.Error()},
		"tr '\\0' x </dev/zero":              {ErrFlood, ErrFlood.Error()},
	} {
		c := shell(body)
		c.Dialog = OnStandard
		c.Stderr.Flood = 1 << 10
		p, err := Start(c)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := Allow(t.Context(), time.Minute)
		if want.is == ErrTime {
			ctx, cancel = Allow(t.Context(), 100*time.Millisecond)
		}
		_, err = p.Ask(ctx, []byte("asked"))
		cancel()
		if !errors.Is(err, want.is) || want.is != nil && (err.Error() != want.says || p.Alive()) {
			t.Errorf("%s: %v", body, err)
		}
		p.Kill()
		p.Close()
	}
}
