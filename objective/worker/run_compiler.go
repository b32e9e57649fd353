package worker

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
// once more. So is one that failed without naming a place in a source: whatever that was must happen twice before it
// counts.
func (c Compiler) Run(ctx context.Context, allowed time.Duration, input []byte, arguments ...string) (Printed, error) {
	printed, err := c.once(ctx, allowed, input, arguments)
	refused, ok := errors.AsType[*Refusal](err)
	if (errors.Is(err, process.ErrStarved) || ok && !refused.placed()) && ctx.Err() == nil {
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
	memory, killsBefore := cmp.Or(c.memory, process.Memory()/2), process.OutOfMemoryKills()
	p, err := process.Run(ctx, process.Command{
		Line: slices.Concat(c.Program, arguments), Dir: c.Dir, Input: bytes.NewReader(input), Allowed: allowed,
		Environment: slices.Concat(os.Environ(), environment, c.Environment), Access: access,
		Stdout: stdout, Stderr: stderr, Background: true, Memory: memory,
	})
	exit, ended := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return Printed{stdout.String(), stderr.String()}, nil
	case ended:
		return Printed{}, c.failed(p, exit, stderr.String(), memory, process.OutOfMemoryKills() > killsBefore)
	case errors.Is(err, process.ErrFlood):
		return Printed{}, &Refusal{Output: fmt.Sprintf("error: the compiler printed more than %d MB", most>>20)}
	case ctx.Err() != nil:
		return Printed{}, err
	}
	return Printed{}, fmt.Errorf("running %s: %w", c.Program[0], err)
}

// failed says whether a compiler that has failed refused the source, or was kept from compiling it: it or one of its
// own programs was killed, or the system refused it something. What has used up the memory that it was allowed has
// failed by itself.
func (c Compiler) failed(p *process.Process, exit *exec.ExitError, printed string, memory uint64, killed bool) error {
	name := "the compiler " + filepath.Base(c.Program[0])
	if fault := p.Killed(name, memory); fault != nil {
		return fault
	}
	refused := &Refusal{Output: printed}
	if !exit.Exited() {
		refused.Output = fmt.Sprintf("error: the compiler itself ended with %v\n%s", exit, printed)
	}
	if p.Exhausted(memory) || refused.placed() {
		return refused
	}
	for line := range strings.Lines(printed) {
		if childKilled.MatchString(line) || refusedBySystem.MatchString(line) {
			return &process.MachineFault{What: name + " could not work", Err: errors.New(strings.TrimSpace(line))}
		}
	}
	if status := exit.ExitCode(); status > shellSignal && process.FromOutside(status-shellSignal) {
		return &process.MachineFault{What: fmt.Sprintf("a part of %s was killed from outside (signal %d)", name,
			status-shellSignal)}
	}
	if killed {
		return &process.MachineFault{What: name + " failed while the system ended processes for want of memory", Err: refused}
	}
	return refused
}

// KeptFromWork reports whether a line that a compiler has printed tells of the machine, and not of a source: one of its
// programs was killed, the system refused it something, or the folder of its files was removed.
func KeptFromWork(line string) bool {
	return childKilled.MatchString(line) || refusedBySystem.MatchString(line) || ownFileGone.MatchString(line)
}

// shellSignal is what a shell adds to the number of the signal that has ended a program, for its own exit status.
const shellSignal = 128

var (
	// What a driver says about one of its programs that a signal from outside has ended: gcc, its linker's driver, clang
	// and nvcc. Nobody but the driver learns how its programs end.
	childKilled = regexp.MustCompile(`\b(Killed|Terminated|Interrupt|Hangup|Quit) (signal terminated program|\(program )|` +
		`terminated with signal (1|2|3|9|15) |unable to execute command: (Killed|Terminated|Interrupt|Hangup|Quit)|` +
		`died due to signal (1|2|3|9|15)\b`)
	// What the C library says about a call that was refused for want of room, descriptors or processes, or by a broken
	// disk.
	refusedBySystem = regexp.MustCompile(systemRefusals())
	// A file below the compile cache's folder for what is being made.
	ownFileGone = regexp.MustCompile(`/making-\d+/.*(No such file or directory|Permission denied)`)
	// An error at a place in a source, which a compiler must have read for it: of gcc and clang, of the assembler, of
	// nvcc's front end, of ptxas, and of a linker.
	placedError = regexp.MustCompile(`(?m)^[^\s:][^:\n]*:\d+(:\d+)?: ([Ff]atal )?[Ee]rror: |^\S+\(\d+\): (catastrophic )?error|` +
		`^ptxas .*(error|fatal) |undefined reference to|multiple definition of`)
)

// systemRefusals is a pattern of the texts of the errors that a full or failing machine gives. That a process has no
// more memory than its limit is its own fault.
func systemRefusals() string {
	texts := collect.Each([]syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EMFILE, syscall.ENFILE, syscall.EAGAIN,
		syscall.EIO, syscall.EROFS}, func(e syscall.Errno) string { return regexp.QuoteMeta(e.Error()) })
	return "(?i)" + strings.Join(texts, "|")
}

// placed reports whether the compiler has named a place in a source, and no refused call of the system: gcc names a
// place even then.
func (r *Refusal) placed() bool {
	return placedError.MatchString(r.Output) && !refusedBySystem.MatchString(firstError(r.Output))
}
