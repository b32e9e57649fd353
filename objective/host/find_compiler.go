package host

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"pawl/internal/collect"
	"pawl/objective/worker"
)

// Toolchain is a compiler of this machine, for C or for C++.
type Toolchain struct {
	// Command is the compiler's program and any leading arguments.
	Command []string
	// Version is the first line that it prints about itself.
	Version string
}

// ErrNoCompiler says that no C compiler was found, ErrNoCPlusPlus the same of C++.
var (
	ErrNoCompiler  = errors.New("no C compiler: install gcc or clang, or set CC to one")
	ErrNoCPlusPlus = errors.New("no C++ compiler: install g++ or clang, or set CXX to one")
)

// FindToolchain returns the C compiler named by the CC variable (getenv is
// os.Getenv in the program), or the first of cc, gcc and clang on the path.
func FindToolchain(ctx context.Context, getenv func(string) string) (*Toolchain, error) {
	return findCompiler(ctx, getenv, "CC", ErrNoCompiler, "cc", "gcc", "clang")
}

// FindCPlusPlus is the same for C++: CXX, or the first of c++, g++ and clang++.
func FindCPlusPlus(ctx context.Context, getenv func(string) string) (*Toolchain, error) {
	return findCompiler(ctx, getenv, "CXX", ErrNoCPlusPlus, "c++", "g++", "clang++")
}

// findCompiler returns the compiler that a variable names, or the first of the usual ones.
func findCompiler(ctx context.Context, getenv func(string) string, variable string, missing error,
	usual ...string) (*Toolchain, error) {
	candidates := collect.Each(usual, func(program string) []string { return []string{program} })
	named := strings.Fields(getenv(variable))
	if len(named) > 0 {
		candidates = [][]string{named}
	}
	for _, command := range candidates {
		if _, err := exec.LookPath(command[0]); err != nil {
			continue
		}
		command, err := absolute(command)
		if err != nil {
			return nil, err
		}
		t := &Toolchain{Command: command}
		output, err := t.run(ctx, 30*time.Second, "", "", nil, "--version")
		if err != nil {
			return nil, fmt.Errorf("compiler %s does not answer --version: %w", strings.Join(command, " "), err)
		}
		t.Version, _, _ = strings.Cut(output, "\n")
		return t, nil
	}
	if len(named) > 0 {
		return nil, fmt.Errorf("%w (%s is %q, which is not on the path)", missing, variable, getenv(variable))
	}
	return nil, missing
}

// absolute returns a command whose program is found from any folder.
func absolute(command []string) ([]string, error) {
	if !strings.ContainsRune(command[0], filepath.Separator) {
		return command, nil
	}
	program, err := filepath.Abs(command[0])
	return append([]string{program}, command[1:]...), err
}

// run executes the compiler in a folder, source on standard input, and returns
// what it printed on standard output. Scratch is where it writes; empty means nowhere.
func (t *Toolchain) run(ctx context.Context, allowed time.Duration, dir, scratch string, source []byte,
	arguments ...string) (string, error) {
	command := worker.Compiler{Program: t.Command, Dir: dir, Scratch: scratch}
	output, err := command.Run(ctx, allowed, source, arguments...)
	return output.Stdout, err
}
