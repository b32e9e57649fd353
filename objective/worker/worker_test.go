package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"pawl/internal/process"
)

// TestMain makes the test binary a worker when it is started as one, and a
// parent that starts a worker when it is asked to be killed.
func TestMain(m *testing.M) {
	Main(map[string]func() Device{
		"polite":   func() Device { return polite{} },
		"silent":   func() Device { return endless{} },
		"dying":    func() Device { return dying{} },
		"scripted": func() Device { return &scripted{} },
		"prints":   func() Device { return prints{} },
		"forges":   func() Device { return &forges{} },
	})
	if os.Getenv("PAWL_TEST_PARENT") != "" {
		parent()
	}
	os.Exit(m.Run())
}

// polite answers everything.
type polite struct{}

func (polite) Load(Load) ([]Region, error) { return nil, nil }
func (polite) Run(Run) (Result, error) {
	fmt.Println("a kernel that prints does not disturb the protocol")
	return Result{Outputs: [][]byte{[]byte("one"), {}, []byte("three")}}, nil
}
func (polite) Time(t Time) (Timing, error) {
	return Timing{Samples: make([]float64, t.Samples), Batch: 4}, nil
}

// endless never returns from a run.
type endless struct{ polite }

func (endless) Run(Run) (Result, error) { select {} }

// dying loses its device in a run.
type dying struct{ polite }

func (dying) Run(Run) (Result, error) { return Result{}, &Fault{Kind: LaunchFailed} }

func start(t *testing.T, command Command) *Client {
	t.Helper()
	c, err := Start(command)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestCalls(t *testing.T) {
	c := start(t, Command{Device: "polite"})
	if err := c.Load(t.Context(), Load{Module: "m"}); err != nil {
		t.Fatal(err)
	}
	result, err := c.Run(t.Context(), Run{})
	if err != nil || len(result.Outputs) != 3 || string(result.Outputs[2]) != "three" {
		t.Fatalf("%+v, %v", result, err)
	}
	timing, err := c.Time(t.Context(), Time{Samples: 3})
	if err != nil || len(timing.Samples) != 3 || timing.Batch != 4 {
		t.Fatalf("%+v, %v", timing, err)
	}
}

func TestHangIsAFaultAndTheProcessIsGone(t *testing.T) {
	c := start(t, Command{Device: "silent"})
	ctx, cancel := process.Allow(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err := c.Run(ctx, Run{})
	var fault *Fault
	if !errors.As(err, &fault) || fault.Kind != Hung {
		t.Fatalf("got %v", err)
	}
	if alive(c.Pid()) {
		t.Error("the worker still lives")
	}
}

func TestCancelledCallIsNotTheKernelsFault(t *testing.T) {
	c := start(t, Command{Device: "silent"})
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	_, err := c.Run(ctx, Run{})
	var fault *Fault
	if errors.As(err, &fault) || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// A process that does not die when it is killed must not hold up the search.
// Nothing here can make a real one, so the kill itself is the injected fault.
func TestUnkillableWorkerIsAbandoned(t *testing.T) {
	c := start(t, Command{Device: "silent", KillGrace: 200 * time.Millisecond, signal: func(int) {}})
	ctx, cancel := process.Allow(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := c.Run(ctx, Run{}) // it would never return
	var fault *Fault
	if !errors.As(err, &fault) || fault.Kind != Unkillable {
		t.Errorf("got %v", err)
	}
	if err := syscall.Kill(-c.Pid(), syscall.SIGKILL); err != nil {
		t.Error(err)
	}
}

// Where memory runs out, a worker is ended and not the search.
func TestWorkersAreEndedFirst(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux can be told which process to end first")
	}
	c := start(t, Command{Device: "silent"})
	if score, err := os.ReadFile(fmt.Sprintf("/proc/%d/oom_score_adj", c.Pid())); string(score) != "1000\n" {
		t.Errorf("its score is %q, %v", score, err)
	}
}

func TestUnknownDevice(t *testing.T) {
	c := start(t, Command{Device: "nonsense"})
	if _, err := c.Run(t.Context(), Run{}); err == nil {
		t.Error("no error")
	}
}

// parent starts a worker that never answers, says its number, and waits to be
// killed.
func parent() {
	c, err := Start(Command{Device: "silent"})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(c.Pid())
	_, _ = c.Run(context.Background(), Run{})
}

func TestWorkerEndsWithItsParent(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "PAWL_TEST_PARENT=1")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 32)
	n, err := stdout.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(line[:n])))
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for deadline := time.Now().Add(10 * time.Second); alive(pid); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			t.Fatal("the worker outlives its parent")
		}
	}
}

// alive reports whether a process runs; a zombie does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return os.IsPermission(err)
	}
	_, rest, _ := strings.Cut(string(status), ") ")
	return !strings.HasPrefix(rest, "Z")
}

func TestFramesRoundTrip(t *testing.T) {
	var wire bytes.Buffer
	if err := writeFrame(&wire, response{Sizes: []int{2, 0}}, []byte("ab"), nil); err != nil {
		t.Fatal(err)
	}
	var reply response
	if err := readFrame(&wire, &reply); err != nil {
		t.Fatal(err)
	}
	payloads, err := readPayloads(&wire, reply.Sizes, nil)
	if err != nil || string(payloads[0]) != "ab" || len(payloads[1]) != 0 {
		t.Errorf("%q, %v", payloads, err)
	}
	if err := readFrame(&wire, &reply); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
}

func FuzzFrame(f *testing.F) {
	f.Add([]byte("\x02\x00\x00\x00{}"))
	f.Add([]byte("\xff\xff\xff\xff"))
	f.Add([]byte("\x10\x00\x00\x00{\"outputs\":[9]}  "))
	f.Fuzz(func(t *testing.T, wire []byte) {
		r := bytes.NewReader(wire)
		var reply response
		if readFrame(r, &reply) != nil {
			return
		}
		_, _ = readPayloads(r, reply.Sizes, nil)
		_, _ = readPayloads(r, reply.Sizes, []int{9})
	})
}

// Of a long output the line that a sanitizer sums up with says most.
func TestFaultShowsTheTellingLine(t *testing.T) {
	for output, want := range map[string]string{
		"first\nlast\n": "last",
		"==1==ERROR: x\nSUMMARY: AddressSanitizer: heap-buffer-overflow a.c:6 in f\nShadow " +
			"bytes\n==1==ABORTING\n": "SUMMARY: AddressSanitizer: heap-buffer-overflow a.c:6 in f",
		"a.c:8:68: runtime error: signed integer overflow\n    #0 f\n": "a.c:8:68: runtime error: signed integer overflow",
	} {
		fault := &Fault{Kind: Aborted, Detail: "SIGABRT", Output: output}
		if got := fault.Explanation(); got != fmt.Sprintf("SIGABRT (it printed %q)", want) {
			t.Errorf("got %s", got)
		}
	}
}

func TestFaultMessages(t *testing.T) {
	regions := []Region{{Name: "c", Low: 1000, Start: 2000, End: 3000, High: 4000}}
	for _, test := range []struct {
		status syscall.WaitStatus
		report *signalReport
		want   string
	}{
		{syscall.WaitStatus(syscall.SIGSEGV), &signalReport{Signal: 11, Address: 3000, Code: 1},
			"out of bounds: an access just past the end of c"},
		{syscall.WaitStatus(syscall.SIGSEGV), &signalReport{Signal: 11, Address: 1990, Code: 1},
			"out of bounds: an access 10 bytes before the start of c"},
		{syscall.WaitStatus(syscall.SIGSEGV), &signalReport{Signal: 11, Address: 8, Code: 1},
			"crashed: SIGSEGV, an invalid memory access at address 0x8"},
		{syscall.WaitStatus(syscall.SIGSEGV), nil, "crashed: SIGSEGV, an invalid memory access"},
		{syscall.WaitStatus(syscall.SIGABRT), nil, "aborted: SIGABRT"},
		{syscall.WaitStatus(3 << 8), nil, "exited: status 3"},
	} {
		if got := faultOfExit(test.status, test.report, regions).Error(); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}
