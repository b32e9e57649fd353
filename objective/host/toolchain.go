package host

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"pawl/objective/compiler"
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
		command, err := absolute(command)
		if err != nil {
			return nil, err
		}
		t := &Toolchain{Command: command}
		output, err := t.run(ctx, 30*time.Second, "", "", nil, "--version")
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

// absolute returns a command whose program is found from any folder.
func absolute(command []string) ([]string, error) {
	if !strings.ContainsRune(command[0], filepath.Separator) {
		return command, nil
	}
	program, err := filepath.Abs(command[0])
	return append([]string{program}, command[1:]...), err
}

// run executes the compiler in a folder, source on standard input, and returns
// what it printed on standard output. Scratch is where it may leave temporary
// files: one that is killed does. Empty means where such files usually are.
func (t *Toolchain) run(ctx context.Context, allowed time.Duration, dir, scratch string, source []byte, arguments ...string) ([]byte, error) {
	command := compiler.Command{Program: t.Command, Dir: dir}
	if scratch != "" {
		command.Environment = []string{"TMPDIR=" + scratch}
	}
	output, err := command.Run(ctx, allowed, source, arguments...)
	return output.Stdout, err
}
