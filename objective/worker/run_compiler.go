package worker

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"pawl/internal/collect"
	"pawl/internal/process"
)

// Refusal is a compiler's answer that it cannot compile this source.
type Refusal struct {
	// Output is what it printed about it.
	Output string
	// Unfit says that the unit is right, and that the machine cannot run it.
	Unfit bool
}

func (r *Refusal) Error() string { return firstError(r.Output) }

var (
	// An error line of gcc, clang, nvcc, ptxas ("ptxas error   : ..."), the GNU assembler
	// ("Error: ...") and the linker.
	errorLine = regexp.MustCompile(`\b([Ee]rror|fatal)\s*:|undefined reference|multiple definition|cannot find `)
	// What drivers say about a linker that has said why on lines before.
	linkerFailed = regexp.MustCompile(`\b(ld returned|linker command failed)`)
)

// firstError returns the first line that reports an error, or the first line.
func firstError(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	line, found := collect.First(lines, func(line string) bool {
		return errorLine.MatchString(line) && !linkerFailed.MatchString(line)
	})
	if !found {
		line = lines[0]
	}
	return cmp.Or(strings.TrimSpace(line), "the compiler gave no reason")
}

// Compiler is a compiler's program and how to run it: for a bounded time, behind everything
// else, with a bound on its memory, because a source may need endless memory.
//
// Three ends are kept apart, because a search treats them differently: a compiler that refused
// the source (a *Refusal: knowledge about the point), one that took too long (process.ErrTime:
// likewise), and anything else, which means that no point could be compiled.
type Compiler struct {
	// Program is the executable and any leading arguments.
	Program []string
	// Dir is the working folder; empty means this process's.
	Dir string
	// Scratch is the one folder that it may write to, its output and what it needs meanwhile. Empty means that it
	// writes nothing. It may read all, and cannot reach other programs.
	Scratch string
	// Environment is added to this process's own.
	Environment []string

	mostPrinted int    // bytes that it may print on either stream; 0 is mostPrinted
	memory      uint64 // bytes that each of its processes may allocate; 0 is half of the machine's
}

// mostPrinted is more than any preprocessed source has, and small enough to be kept: a macro
// that doubles itself, or a compiler that repeats itself, would fill the memory.
const mostPrinted = 256 << 20

// Printed is what a compiler printed.
type Printed struct{ Stdout, Stderr string }

// Run executes the compiler with input on its standard input. One that hardly ran in all its
// time was kept from it by the machine, which says nothing about the source: it is started
// once more.
func (c Compiler) Run(ctx context.Context, allowed time.Duration, input []byte, arguments ...string) (Printed, error) {
	printed, err := c.once(ctx, allowed, input, arguments)
	if errors.Is(err, process.ErrStarved) && ctx.Err() == nil {
		return c.once(ctx, allowed, input, arguments)
	}
	return printed, err
}

func (c Compiler) once(ctx context.Context, allowed time.Duration, input []byte, arguments []string) (Printed, error) {
	most := cmp.Or(c.mostPrinted, mostPrinted)
	stdout := &process.Output{Keep: most, Flood: int64(most)}
	stderr := &process.Output{Keep: most, Flood: int64(most)}
	access := &process.Access{Read: []string{process.Everything}}
	environment := []string{"LC_ALL=C", "CCACHE_DISABLE=1"} // messages are searched for "error:"; pawl has a cache
	if c.Scratch != "" {
		access = access.Writing(c.Scratch)
		environment = append(environment, "TMPDIR="+c.Scratch, "XDG_CACHE_HOME="+c.Scratch)
	}
	_, err := process.Run(ctx, process.Command{
		Line: slices.Concat(c.Program, arguments), Dir: c.Dir, Input: bytes.NewReader(input), Allowed: allowed,
		Environment: slices.Concat(os.Environ(), environment, c.Environment), Access: access,
		Stdout: stdout, Stderr: stderr, Background: true, Memory: cmp.Or(c.memory, process.Memory()/2),
	})
	exit, ended := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return Printed{stdout.String(), stderr.String()}, nil
	case ended && exit.Exited():
		return Printed{}, &Refusal{Output: stderr.String()}
	case ended:
		return Printed{}, &Refusal{Output: fmt.Sprintf("error: the compiler itself ended with %v\n%s", exit, stderr)}
	case errors.Is(err, process.ErrFlood):
		return Printed{}, &Refusal{Output: fmt.Sprintf("error: the compiler printed more than %d MB", most>>20)}
	case ctx.Err() != nil:
		return Printed{}, err
	}
	return Printed{}, fmt.Errorf("running %s: %w", c.Program[0], err)
}

// FullDisk tells a compiler that could not write from one that refused.
func FullDisk(err error) error {
	if refused, ok := errors.AsType[*Refusal](err); ok &&
		(strings.Contains(refused.Output, syscall.ENOSPC.Error()) || strings.Contains(refused.Output, "No space left")) {
		return &fs.PathError{Op: "write", Path: "compile cache", Err: syscall.ENOSPC}
	}
	return err
}
