package nvcc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"pawl/kernels/includes"
	"pawl/objective/worker"
)

// Relocatable is the flag for code that is linked with that of other units.
const Relocatable = "-rdc=true"

// Build runs nvcc. The defines go through a file, because nvcc splits -D at
// commas and hands it to a shell, which executes what stands in $( ).
func (t *Toolchain) Build(ctx context.Context, allowed time.Duration, unit Unit,
	scratch, output string) (Built, error) {
	if err := safeForShell(slices.Concat([]string{unit.Dir, unit.Source, scratch}, unit.Units, unit.Flags)); err != nil {
		return Built{}, err
	}
	defines := filepath.Join(scratch, "defines.h")
	constants, err := constants(unit)
	if err != nil {
		return Built{}, err
	}
	if err := writeDefines(defines, unit.Defines, constants); err != nil {
		return Built{}, err
	}
	source, err := filepath.Abs(filepath.Join(unit.Dir, unit.Source))
	if err != nil {
		return Built{}, err
	}
	if len(unit.Instances) > 0 || unit.Checks != "" {
		if source, err = writeAddresses(unit, source, scratch, hostAddresses); err != nil {
			return Built{}, err
		}
	}
	flags := append([]string{"-lineinfo", "-Xptxas", "-v", "-include", defines}, unit.Flags...)
	run := func(arguments ...string) (string, error) {
		arguments = append([]string{"-cubin", ArchitectureFlag(unit.Architecture)}, arguments...)
		return t.run(ctx, allowed, unit, scratch, arguments)
	}
	var built Built
	if len(unit.Units) == 0 {
		built.Log, err = run(append(flags, "-o", output, source)...)
	} else {
		built.Log, err = link(run, flags, append([]string{source}, unit.Units...), scratch, output)
	}
	if err != nil {
		return Built{}, err
	}
	if len(unit.Instances) == 0 {
		return built, nil
	}
	built.Names, err = t.names(ctx, allowed, unit, scratch, output)
	return built, err
}

// link compiles each source on its own and links them. It returns what ptxas said about every
// one, and behind it what the linker did: it has the last word on a kernel's registers and
// stack, because it knows what the kernel calls.
func link(run func(arguments ...string) (string, error), flags, sources []string,
	scratch, output string) (log string, err error) {
	var parts []string
	for i, source := range sources {
		part := filepath.Join(scratch, fmt.Sprintf("unit%d.cubin", i))
		said, err := run(slices.Concat([]string{Relocatable}, flags, []string{"-o", part, source})...)
		if err != nil {
			return "", err
		}
		log += said
		parts = append(parts, part)
	}
	said, err := run(slices.Concat([]string{"-dlink", "-Xnvlink", "-v", "-o", output}, parts)...)
	return log + said, err
}

// run runs nvcc in the folder of a unit and returns what it printed. Its own failure (an option or an architecture that
// it does not know, no host compiler) is no refused source: it fails for every point.
func (t *Toolchain) run(ctx context.Context, allowed time.Duration, unit Unit, scratch string,
	arguments []string) (string, error) {
	command := worker.Compiler{Program: []string{t.Path}, Dir: unit.Dir, Scratch: scratch}
	printed, err := command.Run(ctx, allowed, nil, arguments...)
	if refused, ok := errors.AsType[*worker.Refusal](err); ok && strings.HasPrefix(refused.Error(), "nvcc fatal") {
		err = errors.New(refused.Error() + "; check the manifest's flags and the toolkit's version")
	}
	return printed.Stdout + printed.Stderr, err
}

// safeForShell refuses text that the shell inside nvcc would expand.
func safeForShell(texts []string) error {
	for _, text := range texts {
		if strings.ContainsAny(text, "$`\n") {
			return fmt.Errorf("nvcc would hand %q to a shell: remove $, ` and line breaks from it", text)
		}
	}
	return nil
}

// writeDefines writes a header that defines macros. A blank line follows each,
// so that a backslash at the end of one cannot swallow the next.
func writeDefines(path string, defines []Define, constants string) error {
	var text strings.Builder
	for _, d := range defines {
		if strings.ContainsAny(d.Name+d.Value, "\n\r") {
			return &worker.Refusal{Output: fmt.Sprintf("error: the value of %s holds a line break", d.Name)}
		}
		fmt.Fprintf(&text, "#define %s %s\n\n", d.Name, d.Value)
	}
	text.WriteString(constants)
	return os.WriteFile(path, []byte(text.String()), 0o644)
}

// constants are the integers among the defines that a pragma of the source unrolls by, as
// constants of the same names: macros mean nothing there.
func constants(unit Unit) (text string, err error) {
	files, err := readFiles(unit)
	if err != nil {
		return "", err
	}
	for _, f := range files {
		for _, name := range includes.Unrolled(f.Content) {
			at := slices.IndexFunc(unit.Defines, func(d Define) bool { return d.Name == name })
			if at < 0 || strings.Contains(text, "#define "+name+" ") {
				continue
			}
			if _, err := strconv.ParseInt(unit.Defines[at].Value, 10, 64); err == nil {
				text += includes.Constant(name, unit.Defines[at].Value)
			}
		}
	}
	return text, nil
}
