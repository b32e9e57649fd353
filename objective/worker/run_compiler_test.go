package worker

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"pawl/internal/kerneltest"
	"pawl/internal/process"
)

// script writes a program that stands for a compiler.
func script(t *testing.T, body string) Compiler {
	t.Helper()
	path := filepath.Join(t.TempDir(), "compiler")
	if err := kerneltest.WriteProgram(path, "#!/bin/sh\n"+body); err != nil {
		t.Fatal(err)
	}
	return Compiler{Program: []string{path}}
}

func TestRefusalNamesTheFirstError(t *testing.T) {
	for output, want := range map[string]string{
		"a.c: In function f:\na.c:3:1: error: bad\nmore":               "a.c:3:1: error: bad",
		"warning: x\nptxas error   : Entry function 'k' uses too much": "ptxas error   : Entry function 'k' uses too much",
		"gcc: No such file\nnvcc fatal   : Failed to preprocess":       "nvcc fatal   : Failed to preprocess",
		"ld: undefined reference to `x'":                               "ld: undefined reference to `x'",
		"x.c: In function f:\nx.s: Assembler messages:\nx.s:4: Error: no such instruction: " +
			"`bogus'": "x.s:4: Error: no such instruction: `bogus'",
		"/usr/bin/ld: cannot find -lnosuch: No such file or directory\ncollect2: error: ld returned 1 " +
			"exit status": "/usr/bin/ld: cannot find -lnosuch: No such file or directory",
		"ld: DWARF error: x\nld: b.o: multiple definition of `f'\nclang: error: linker command failed with " +
			"exit code 1": "ld: DWARF error: x",
		"ld: truncated\ncollect2: error: ld returned 1 exit status": "ld: truncated",
		"something else\nsecond":                                    "something else",
		"\n":                                                        "the compiler gave no reason",
	} {
		if got := (&Refusal{Output: output}).Error(); got != want {
			t.Errorf("%q: got %q, want %q", output, got, want)
		}
	}
}

func TestCompilersEndsAreToldApart(t *testing.T) {
	var refused *Refusal
	output, err := script(t, "cat; echo \"$LC_ALL $1\" >&2").Run(t.Context(), time.Minute, []byte("source"), "a b")
	if err != nil || output.Stdout != "source" || output.Stderr != "C a b\n" {
		t.Errorf("%q, %q, %v", output.Stdout, output.Stderr, err)
	}
	_, err = script(t, "echo 'error: no' >&2; exit 4").Run(t.Context(), time.Minute, nil)
	if !errors.As(err, &refused) || refused.Error() != "error: no" {
		t.Errorf("refusal: %v", err)
	}
	_, err = script(t, "kill -SEGV $$").Run(t.Context(), time.Minute, nil)
	if !errors.As(err, &refused) || !strings.Contains(refused.Error(), "segmentation fault") {
		t.Errorf("crash: %v", err)
	}
	_, err = Compiler{Program: []string{"/no/such/compiler"}}.Run(t.Context(), time.Minute, nil)
	if err == nil || errors.As(err, &refused) {
		t.Errorf("missing program: %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the user left"))
	if _, err = script(t, "exit 0").Run(ctx, time.Minute, nil); err == nil || err.Error() != "the user left" {
		t.Errorf("cancelled: %v", err)
	}
}

// A compiler's own children die with it: nvcc forks cicc and ptxas.
func TestCompilersChildrenAreKilled(t *testing.T) {
	pidFile := filepath.Join(t.TempDir(), "pid")
	command := script(t, "(sleep 1000 & echo $! >"+pidFile+".new; mv "+pidFile+".new "+pidFile+"; wait) & wait\n")
	command.Scratch = filepath.Dir(pidFile)
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(pidFile); err == nil {
				cancel(process.ErrTime) // as the clock would, but not before the child is there
			}
			time.Sleep(time.Millisecond)
		}
	}()
	if _, err := command.Run(ctx, time.Minute, nil); !errors.Is(err, process.ErrTime) {
		t.Fatalf("got %v", err)
	}
	content, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		t.Fatal(err)
	}
	for range 5000 { // init collects it, some time after the kill
		if !alive(pid) {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("process %d is still there", pid)
	_ = syscall.Kill(pid, syscall.SIGKILL)
}

func TestCompilersTimeIsBounded(t *testing.T) {
	if _, err := script(t, "sleep 1000").Run(t.Context(), 50*time.Millisecond, nil); !errors.Is(err, process.ErrTime) {
		t.Errorf("got %v", err)
	}
}

// A compiler that hardly ran in its time, as on a machine that stood still, says nothing about
// the source and is started once more. One that computes all the time is not.
func TestStarvedCompilerIsStartedOnceMore(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux says how much a group of processes has computed")
	}
	for name, test := range map[string]struct {
		body    string
		allowed time.Duration
		starts  int
		err     error
	}{
		"stands still once": {"[ $(wc -l <starts) = 2 ] || sleep 1000", 5 * time.Second, 2, nil},
		"stands still":      {"sleep 1000", 2 * time.Second, 2, process.ErrTime},
		// Many at once, so that there is time for one of them on a busy machine.
		"computes": {"for i in 1 2 3 4 5 6 7 8; do while :; do :; done & done; wait", 2 * time.Second, 1, process.ErrTime},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command := script(t, "echo >>starts\n"+test.body)
			command.Dir = t.TempDir()
			command.Scratch = command.Dir
			if _, err := command.Run(t.Context(), test.allowed, nil); !errors.Is(err, test.err) {
				t.Errorf("got %v", err)
			}
			starts, err := os.ReadFile(filepath.Join(command.Dir, "starts"))
			if err != nil || len(starts) != test.starts {
				t.Errorf("%d starts, %v", len(starts), err)
			}
		})
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	command := script(t, "echo >>starts\nsleep 1000")
	command.Dir = t.TempDir()
	time.AfterFunc(50*time.Millisecond, func() { cancel(errors.New("the user left")) })
	if _, err := command.Run(ctx, time.Minute, nil); err == nil || err.Error() != "the user left" {
		t.Errorf("got %v", err)
	}
	if starts, _ := os.ReadFile(filepath.Join(command.Dir, "starts")); len(starts) > 1 {
		t.Errorf("%d starts for a user who has left", len(starts))
	}
}

// A compiler that prints without end is refused, and does not fill this process's memory.
func TestCompilersOutputIsBounded(t *testing.T) {
	for _, stream := range []string{"", " >&2"} {
		command := script(t, "exec yes x"+stream)
		command.mostPrinted = 1 << 20
		_, err := command.Run(t.Context(), time.Minute, nil)
		if refused, ok := errors.AsType[*Refusal](err); !ok ||
			refused.Error() != "error: the compiler printed more than 1 MB" {
			t.Errorf("got %v", err)
		}
	}
	command := script(t, "printf 12345678")
	command.mostPrinted = 8
	if output, err := command.Run(t.Context(), time.Minute, nil); err != nil || output.Stdout != "12345678" {
		t.Errorf("got %q, %v", output.Stdout, err)
	}
}

// A source that needs endless memory is refused, by a real compiler, and those that are
// started go before all others where the machine has none left.
func TestCompilersMemoryIsBounded(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has these limits")
	}
	source := "#define A(...) __VA_ARGS__,__VA_ARGS__,__VA_ARGS__,__VA_ARGS__\n#define B(...) " +
		"A(A(A(A(__VA_ARGS__))))\n#define C(...) B(B(B(__VA_ARGS__)))\nint y[] = {C(1)};\n"
	command := Compiler{Program: []string{"cc"}, memory: 256 << 20, Scratch: t.TempDir()}
	_, err := command.Run(t.Context(), time.Minute, []byte(source), "-x", "c", "-c", "-o",
		filepath.Join(command.Scratch, "y.o"), "-")
	if refused, ok := errors.AsType[*Refusal](err); !ok || !strings.Contains(refused.Error(), "memory") {
		t.Errorf("got %v", err)
	}
	// Whoever starts it may come a moment late.
	if _, err := script(t, "until [ $(cat /proc/self/oom_score_adj) = 1000 ]; do :; done").Run(t.Context(), time.Minute,
		nil); err != nil {
		t.Errorf("got %v", err)
	}
}

// Whatever keeps a compiler from its work says nothing about the source. What it says about a place in a source does.
func TestMachineFaultsOfCompilers(t *testing.T) {
	tests := map[string]string{
		"kill -9 $$":            "the compiler compiler was killed from outside (SIGKILL)",
		"kill -15 $$":           "the compiler compiler was killed from outside (SIGTERM)",
		"sh -c 'kill -9 $$'":    "a part of the compiler compiler was killed from outside (signal 9)",
		"kill -SEGV $$":         "",
		"exit 1":                "",
		"sh -c 'kill -SEGV $$'": "",
		"echo 'x.c:3:1: error: no' >&2; sh -c 'kill -9 $$'":                             "",
		"echo 'gcc: fatal error: Killed signal terminated program cc1' >&2; exit 1":     "could not work: gcc: fatal",
		"echo 'gcc: internal compiler error: Killed (program cc1)' >&2; false":          "could not work: gcc: internal",
		"echo 'collect2: fatal error: ld terminated with signal 9 [x]' >&2; exit 1":     "could not work: collect2",
		"echo 'clang: error: unable to execute command: Killed' >&2; exit 254":          "could not work: clang",
		"echo \"nvcc error   : 'cicc' died due to signal 9 (Kill signal)\" >&2; exit 9": "could not work: nvcc",
		"echo \"nvcc error   : 'cicc' died due to signal 11\" >&2; exit 11":             "",
		"echo 'x.c:1: fatal error: write: No space left on device' >&2; exit 1":         "could not work: x.c:1",
		"echo 'x.c:1:10: fatal error: y.h: Too many open files' >&2; exit 1":            "could not work: x.c:1",
		"echo 'cc1: out of memory allocating 65536 bytes' >&2; exit 1":                  "",
	}
	for body, fault := range tests {
		_, err := script(t, body).Run(t.Context(), time.Minute, nil)
		found := process.FaultOfMachine(err)
		refused := (*Refusal)(nil)
		if fault == "" && (found != nil || !errors.As(err, &refused)) {
			t.Errorf("%s: %v", body, err)
		}
		if fault != "" && (found == nil || !strings.Contains(found.Error(), fault) || errors.As(err, &refused)) {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// What names no place in a source must happen twice.
func TestAnUnexplainedFailureMustBeRepeated(t *testing.T) {
	for body, want := range map[string]int{"exit 1": 2, "echo 'x.c:3:1: error: no' >&2; exit 1": 1, "true": 1,
		"[ $(wc -l <starts) = 2 ]": 2} {
		command := script(t, "echo >>starts\n"+body)
		command.Dir = t.TempDir()
		command.Scratch = command.Dir
		_, err := command.Run(t.Context(), time.Minute, nil)
		if starts, _ := os.ReadFile(filepath.Join(command.Dir, "starts")); len(starts) != want {
			t.Errorf("%s: %d starts", body, len(starts))
		}
		if (err == nil) != strings.HasPrefix(body, "[") && (err == nil) != (body == "true") {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// A compiler stands back behind what measures, and so does what it starts.
func TestCompilersStandBack(t *testing.T) {
	if own, err := exec.Command("nice").Output(); err != nil || strings.TrimSpace(string(own)) != "0" {
		t.Skipf("nothing to stand back from: nice says %s, %v", own, err)
	}
	wait := script(t, "while [ $(nice) -eq 0 ]; do sleep 0.01; done; nice")
	output, err := wait.Run(t.Context(), time.Minute, nil)
	if got := strings.TrimSpace(output.Stdout); err != nil || got != "10" {
		t.Errorf("nice value %s, %v", got, err)
	}
}
