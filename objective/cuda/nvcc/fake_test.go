package nvcc

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"pawl/internal/kerneltest"
	"pawl/internal/process"
	"pawl/objective/worker"
)

// fakeVersion is how a program must answer to pass for nvcc.
const fakeVersion = `case "$1" in --version) echo "Cuda compilation tools, release 13.0, V13.0.88"; exit;; esac
`

// fakeNVCC returns a toolchain whose nvcc is a shell script. It stands in only
// where a real one cannot be made to fail.
func fakeNVCC(t *testing.T, body string) *Toolchain {
	t.Helper()
	path := filepath.Join(t.TempDir(), "nvcc")
	if err := kerneltest.WriteProgram(path, "#!/bin/sh\n"+fakeVersion+body); err != nil {
		t.Fatal(err)
	}
	tool, err := Find(t.Context(), only(map[string]string{"NVCC": path, "NVCC_CCBIN": path}))
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

// only is an environment of the given variables.
func only(variables map[string]string) func(string) string {
	return func(name string) string { return variables[name] }
}

// output is shell text that copies a file to where nvcc was told to write.
const output = `while [ "$1" != -o ]; do shift; done; cp "$from" "$2"
`

// said is what a fake prints like ptxas about a kernel.
const said = `echo "ptxas info    : Compiling entry function 'k' for 'sm_90'
ptxas info    : Used 24 registers, used 1 barriers, 64 bytes smem" >&2
`

// copies is a fake that succeeds with a given cubin.
func copies(t *testing.T, cubin []byte) string {
	t.Helper()
	from := filepath.Join(t.TempDir(), "cubin")
	if err := os.WriteFile(from, cubin, 0o644); err != nil {
		t.Fatal(err)
	}
	return "from=" + from + "\n" + said + output
}

func TestNothingOfAHangingCompilerStays(t *testing.T) {
	c := newCompiler(t,
		fakeNVCC(t, "(sleep 1000 & echo $! >$TMPDIR/new; mv $TMPDIR/new $TMPDIR/pid; wait) & wait\n"))
	var content []byte
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		for ctx.Err() == nil {
			files, _ := filepath.Glob(filepath.Join(c.Cache.Dir(), "making-*", "scratch", "pid"))
			for _, file := range files {
				content, _ = os.ReadFile(file)
				cancel(process.ErrTime) // as the clock would, but not before the child is there
			}
			time.Sleep(time.Millisecond)
		}
	}()
	if _, err := c.Compile(ctx, source(t, "")); !errors.Is(err, process.ErrTime) {
		t.Fatalf("got %v", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		t.Fatal(err)
	}
	for range 5000 { // init collects it, some time after the kill
		state, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil && syscall.Kill(pid, 0) != nil || strings.Contains(string(state), ") Z ") {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("process %d, which the compiler forked, is still there", pid)
	_ = syscall.Kill(pid, syscall.SIGKILL)
}

func TestTimeout(t *testing.T) {
	c := newCompiler(t, fakeNVCC(t, "sleep 1000\n"))
	c.Timeout = 50 * time.Millisecond
	if _, err := c.Compile(t.Context(), source(t, "")); !errors.Is(err, process.ErrTime) {
		t.Errorf("got %v", err)
	}
}

func TestFailuresThatAreNotThePoints(t *testing.T) {
	for name, test := range map[string]struct{ body, message string }{
		"full disk":    {`echo "cc1plus: fatal error: error writing: No space left on device" >&2; exit 1`, "No space left"},
		"no cubin":     {"exit 0", "without a cubin"},
		"no ELF":       {copies(t, []byte("garbage")), "not a cubin"},
		"other ELF":    {copies(t, elfFile(62, nil)), "machine 62"},
		"other kernel": {copies(t, elfFile(190, map[string]string{".text.other": "code"})), "does not have"},
		"silent": {strings.Replace(copies(t, elfFile(190, map[string]string{".text.k": "code"})), said, "", 1),
			"no figures"},
		"no gcc": {`echo "nvcc fatal   : Failed to preprocess host compiler properties." >&2; exit 1`, "host compiler"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := newCompiler(t, fakeNVCC(t, test.body+"\n")).Compile(t.Context(), source(t, ""))
			var refused *worker.Refusal
			if err == nil || errors.As(err, &refused) || !strings.Contains(err.Error(), test.message) {
				t.Errorf("got %v", err)
			}
			if full := process.FaultOfMachine(err) != nil; full != (name == "full disk") {
				t.Errorf("a full disk: %t", full)
			}
		})
	}
}

func TestDamagedReportsAreMadeAgain(t *testing.T) {
	c := newCompiler(t, fakeNVCC(t, copies(t, elfFile(190, map[string]string{".text.k": "code"}))))
	unit := source(t, "")
	first := compileUnit(t, c, unit)
	if want := (Resources{Registers: 24, Barriers: 1, StaticShared: 64}); first.Kernels["k"] != want {
		t.Fatalf("%+v", first)
	}
	beside := filepath.Join(filepath.Dir(first.Path), reportName)
	for name, damage := range map[string]func() error{
		"gone":      func() error { return os.Remove(beside) },
		"truncated": func() error { return os.Truncate(beside, 100) },
		"changed": func() error {
			text, err := os.ReadFile(beside)
			if err != nil {
				return err
			}
			return os.WriteFile(beside, []byte(strings.Replace(string(text), "24", "25", 1)), 0o644)
		},
	} {
		if err := damage(); err != nil {
			t.Fatal(name, err)
		}
		again := compileUnit(t, c, unit)
		if again.Hit || again.Digest != first.Digest || again.Kernels["k"] != first.Kernels["k"] {
			t.Errorf("%s: %+v", name, again)
		}
		if !compileUnit(t, c, unit).Hit {
			t.Errorf("%s: not in the cache afterwards", name)
		}
	}
}

// Everything that the cubin depends on is in the key, and nothing else.
func TestKey(t *testing.T) {
	c := newCompiler(t, fakeNVCC(t, ""))
	dir := tree(t, map[string]string{"k.cu": `#include "b.h"`, "b.h": "", "unused.h": ""})
	base := Unit{
		Dir:          dir,
		Source:       "k.cu",
		Architecture: "sm_90",
		Defines:      []Define{{"A", "1"}, {"B", "2"}},
		Flags:        []string{"-O3"},
	}
	key := func(change func(*Unit)) string {
		t.Helper()
		unit := base
		change(&unit)
		k, err := c.key(unit)
		if err != nil {
			t.Fatal(err)
		}
		return k.String()
	}
	same := key(func(*Unit) {})
	write := func(name, content string) func(*Unit) {
		return func(*Unit) {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if key(write("unused.h", "x")) != same {
		t.Error("a file that nothing includes changed the key")
	}
	moved := tree(t, map[string]string{"k.cu": `#include "b.h"`, "b.h": ""})
	if key(func(u *Unit) { u.Dir = moved }) != same {
		t.Error("the place of the folder changed the key")
	}
	for name, change := range map[string]func(*Unit){
		"architecture": func(u *Unit) { u.Architecture = "sm_90a" },
		"value":        func(u *Unit) { u.Defines = []Define{{"A", "1"}, {"B", "3"}} },
		"order":        func(u *Unit) { u.Defines = []Define{{"B", "2"}, {"A", "1"}} },
		"flags":        func(u *Unit) { u.Flags = []string{"-O2"} },
		"moved flag":   func(u *Unit) { u.Flags = []string{"-O3", "-DA"} },
	} {
		if key(change) == same {
			t.Errorf("%s: the key stayed", name)
		}
	}
	if key(write("b.h", "int x;")) == same {
		t.Error("an include changed and the key stayed")
	}
	c.Tool.(*Toolchain).about += "another host compiler"
	if key(write("b.h", "")) == same {
		t.Error("the compiler changed and the key stayed")
	}
}

func TestMissingSourceIsAnError(t *testing.T) {
	c := newCompiler(t, fakeNVCC(t, ""))
	if _, err := c.Compile(t.Context(),
		Unit{Dir: t.TempDir(), Source: "k.cu", Architecture: "sm_90"}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestNoShellText(t *testing.T) {
	c := newCompiler(t, fakeNVCC(t, "exit 1\n"))
	unit := source(t, "")
	unit.Flags = []string{"-DX=$(touch pwned)"}
	if _, err := c.Compile(t.Context(), unit); err == nil || !strings.Contains(err.Error(), "shell") {
		t.Errorf("got %v", err)
	}
}

func TestDefinesFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "defines.h")
	if err := writeDefines(path, []Define{{"A", `1\`}, {"B", "x, y"}}, ""); err != nil {
		t.Fatal(err)
	}
	// The blank line takes the backslash of A.
	if got, _ := os.ReadFile(path); string(got) != "#define A 1\\\n\n#define B x, y\n\n" {
		t.Errorf("got %q", got)
	}
	var refused *worker.Refusal
	if err := writeDefines(path, []Define{{"A", "1\n#error"}}, ""); !errors.As(err, &refused) {
		t.Errorf("a line break: %v", err)
	}
}

// tree writes files below a folder and returns it.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
