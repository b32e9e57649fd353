package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// Toolchain is the machine's C compiler.
type Toolchain struct {
	// Command is the compiler's program and any leading arguments.
	Command []string
	// Version is the first line that it prints about itself.
	Version string
}

// ErrNoCompiler says that no C compiler was found.
var ErrNoCompiler = errors.New("no C compiler: install gcc or clang, or set CC to one")

// FindToolchain returns the compiler named by the CC variable (lookup is
// os.Getenv in the program), or the first of cc, gcc and clang on the path.
func FindToolchain(ctx context.Context, getenv func(string) string) (*Toolchain, error) {
	candidates := [][]string{{"cc"}, {"gcc"}, {"clang"}}
	named := strings.Fields(getenv("CC"))
	if len(named) > 0 {
		candidates = [][]string{named}
	}
	for _, command := range candidates {
		if _, err := exec.LookPath(command[0]); err != nil {
			continue
		}
		t := &Toolchain{Command: command}
		output, err := t.run(ctx, 30*time.Second, nil, "--version")
		if err != nil {
			return nil, fmt.Errorf("compiler %s does not answer --version: %w", strings.Join(command, " "), err)
		}
		t.Version, _, _ = strings.Cut(string(output), "\n")
		return t, nil
	}
	if len(named) > 0 {
		return nil, fmt.Errorf("%w (CC is %q, which is not on the path)", ErrNoCompiler, getenv("CC"))
	}
	return nil, ErrNoCompiler
}

// errCompileTime is the cause of a compilation that took too long.
var errCompileTime = errors.New("the compiler took too long")

// compileError is a compiler's refusal, with what it printed.
type compileError struct{ output string }

func (e *compileError) Error() string { return firstError(e.output) }

// firstError returns the first line that reports an error, or the first line.
func firstError(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	for _, line := range lines {
		if strings.Contains(line, "error:") || strings.Contains(line, "undefined reference") {
			return strings.TrimSpace(line)
		}
	}
	return strings.TrimSpace(lines[0])
}

// run executes the compiler without a shell, source on standard input, and
// kills its whole process group when the time is over.
func (t *Toolchain) run(ctx context.Context, allowed time.Duration, source []byte, arguments ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, allowed, errCompileTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, t.Command[0], append(t.Command[1:len(t.Command):len(t.Command)], arguments...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 2 * time.Second
	cmd.Env = append(os.Environ(), "LC_ALL=C") // messages are searched for "error:"
	cmd.Stdin = bytes.NewReader(source)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return stdout.Bytes(), nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.As(err, &exit) && exit.Exited():
		return nil, &compileError{stderr.String()}
	case errors.As(err, &exit):
		return nil, &compileError{fmt.Sprintf("error: the compiler itself ended with %v\n%s", exit, stderr.String())}
	}
	return nil, fmt.Errorf("running %s: %w", t.Command[0], err)
}
