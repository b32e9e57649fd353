package host

import (
	"context"
	"debug/elf"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pawl/internal/collect"
	"pawl/kernels"
	"pawl/objective/cache"
	"pawl/objective/worker"
	"pawl/space"
)

// objectCompiler is the program that a manifest has compile its source, of any language that makes C symbols.
type objectCompiler struct {
	command []string // with names in braces
	// version is the first line that it prints about itself; empty where it does not.
	version string
}

// findObjectCompiler looks for the program; nil where the C compiler compiles.
func findObjectCompiler(ctx context.Context, k *kernels.Kernel, dir string) (*objectCompiler, error) {
	if len(k.Compile) == 0 {
		return nil, nil
	}
	program := k.Compile[0]
	if strings.ContainsRune(program, filepath.Separator) && !filepath.IsAbs(program) {
		program = filepath.Join(dir, program) // as the command finds it, which runs there
	}
	if _, err := exec.LookPath(program); err != nil {
		return nil, fmt.Errorf("kernel %s is compiled by %s, which is not on this machine", k.Name, k.Compile[0])
	}
	found := &objectCompiler{command: append([]string{program}, k.Compile[1:]...)}
	printed, err := (&worker.Compiler{Program: []string{program}, Dir: dir}).Run(ctx, 30*time.Second, nil, "--version")
	if err == nil {
		found.version, _, _ = strings.Cut(strings.TrimSpace(printed.Stdout), "\n")
	}
	return found, ctx.Err()
}

// object builds the shared object of a point from what another compiler makes. A shared library stays as it is, under
// the cache's name: the call to it is a part of the support. The key has all files that the compiler may read from the
// kernel's folder, because nobody here knows what its language includes.
func (b *Backend) object(ctx context.Context, point space.Point) (cache.Entry, error) {
	values := kernels.ObjectValues(point, b.options.Constants)
	environment := collect.Each(slices.Sorted(maps.Keys(values)), func(name string) string {
		return name + "=" + values[name]
	})
	call := unit(b.kernel, "", point, b.kernel.Launch.Steps...)
	t := b.options.Toolchain
	key := func() (*cache.Key, error) {
		key := cache.NewKey().
			Add("backend", DeviceName).
			Add("compiler", b.compiler.version+"\n"+strings.Join(t.Command, " ")+"\n"+t.Version).
			Add("processor", b.device+"\n"+instructions()).
			Add("command", strings.Join(b.compiler.command, "\x00")).
			Add("environment", strings.Join(environment, "\x00")).
			Add("call", string(call))
		files, err := b.kernel.Files()
		for _, file := range files {
			key.Add("file "+file.Name, string(file.Content))
		}
		return key, err
	}
	return b.cached(ctx, key, func(path string) error {
		made := filepath.Join(filepath.Dir(path), "object.o")
		defer os.Remove(made)
		values[kernels.ObjectFile] = made
		line := kernels.CommandLine(b.compiler.command, values)
		compiler := worker.Compiler{Program: line[:1], Dir: b.dir, Scratch: filepath.Dir(path), Environment: environment}
		if _, err := compiler.Run(ctx, b.options.CompileTimeout, nil, line[1:]...); err != nil {
			return err
		}
		library, err := b.isLibrary(made)
		if err != nil {
			return &worker.Refusal{Output: "error: " + err.Error()}
		}
		if library {
			return os.Rename(made, path)
		}
		_, err = t.run(ctx, b.options.CompileTimeout, b.dir, filepath.Dir(path), call, slices.Concat([]string{"-O2"},
			b.linking, []string{"-shared", "-fPIC", "-o", path, "-x", "c", "-", "-x", "none", made}, libraries)...)
		return err
	})
}

// caller is what the support calls a shared library by. Each function is found in that library, by its handle: a
// function of the same name elsewhere is never taken for it.
func (b *Backend) caller() []byte {
	var text strings.Builder
	for _, step := range b.kernel.Launch.Steps {
		fmt.Fprintf(&text, "#define %[1]s (*pawl_entry_%[1]s)\n", step.Entry)
	}
	text.Write(unit(b.kernel, "", space.Point{}, b.kernel.Launch.Steps...))
	text.WriteString("void *pawl_bind(void *library, void *(*find)(void *, const char *)) {\n")
	for _, step := range b.kernel.Launch.Steps {
		fmt.Fprintf(&text, "\tif (!(pawl_entry_%[1]s = find(library, \"%[1]s\")))\n\t\treturn 0;\n", step.Entry)
	}
	text.WriteString("\treturn pawl_call;\n}\n")
	return []byte(text.String())
}

// isLibrary says whether a command has made a shared library and nothing that has to be linked, or what is wrong with
// what it has made.
func (b *Backend) isLibrary(path string) (bool, error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false, fmt.Errorf("compile has not written {%s}", kernels.ObjectFile)
	}
	file, err := elf.Open(path)
	if err != nil {
		return false, nil // a static library, or no ELF at all: the linker says so
	}
	defer file.Close()
	symbols, _ := file.DynamicSymbols() // of an object there are none
	for _, step := range b.kernel.Launch.Steps {
		exported := func(s elf.Symbol) bool { return s.Name == step.Entry && s.Section != elf.SHN_UNDEF }
		if file.Type != elf.ET_REL && !slices.ContainsFunc(symbols, exported) {
			return false, fmt.Errorf("compile made a program, or a shared library without the function %s", step.Entry)
		}
	}
	return file.Type != elf.ET_REL, nil
}
