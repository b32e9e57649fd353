package host_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/host"
)

// byCommand is the misbehaving kernel, compiled by a command of the manifest.
func byCommand(command string) map[string]string {
	files := maps.Clone(addFiles)
	files["kernel.yaml"] = strings.Replace(addManifest, "source: {host: add.c}",
		"source: {object: add.c}\ncompile: "+command, 1)
	return files
}

// What another compiler made is checked, guarded and timed as what the C compiler makes is, and what goes wrong costs
// one trial.
func TestObjectsAreCheckedAsSourcesAre(t *testing.T) {
	b := open(t, byCommand(`[cc, -O2, -fPIC, "-DMODE={MODE}", -c, -o, "{OUT}", add.c]`), host.Options{})
	for _, test := range []struct{ mode, stage, reason, detail string }{
		{"crash", "fuzz", "crashed", "SIGSEGV"},
		{"overrun", "fuzz", "out of bounds", "just past the end of c"},
		{"zeros", "fuzz", "wrong result", "c[0] is 0"},
		{"tampers", "fuzz", "modified an input", "a"},
		{"nonsense", "compile", "compile error", "nonsense"},
		{`"1; touch pwned"`, "compile", "compile error", ""},
	} {
		f := b.measure(t, "MODE="+test.mode, 0).Failure
		if f == nil || string(f.Stage) != test.stage || f.Reason != test.reason || !strings.Contains(f.Detail, test.detail) {
			t.Errorf("%s: got %v, want %s: %s with %q", test.mode, f, test.stage, test.reason, test.detail)
		}
	}
	if outcome := b.measure(t, "MODE=good", 0); outcome.Failure != nil || len(outcome.Samples) < 5 {
		t.Errorf("%v, %d samples", outcome.Failure, len(outcome.Samples))
	}
	if _, err := os.Stat(filepath.Join(b.kernel.Dir, "pwned")); err == nil {
		t.Error("a shell was involved")
	}
	if build := b.backend.Facts().Environment.Build; build == nil || build.Compile[0] != "cc" {
		t.Errorf("built by %+v", build)
	}
}

// The values of a point are in the compiler's environment too; a compiler may lie in the kernel's folder. What it makes
// is kept, until a file changes that it may have read.
func TestObjectCompilersHaveAnEnvironment(t *testing.T) {
	files := byCommand(`[./compile.sh, "{OUT}"]`)
	files["compile.sh"] = "#!/bin/sh\necho run >> runs\nexec cc -O2 -fPIC -DMODE=$MODE -c -o \"$1\" add.c\n"
	dir := folder(t, files)
	if err := os.Chmod(filepath.Join(dir, "compile.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	compiled := openCache(t, t.TempDir())
	compile := func() (objective.Binary, int) {
		k, err := kernels.Load(dir, kernels.Host)
		if err != nil {
			t.Fatal(err)
		}
		s, err := k.Space(k.Workloads[0])
		if err != nil {
			t.Fatal(err)
		}
		toolchain, err := host.FindToolchain(t.Context(), os.Getenv)
		if err != nil {
			t.Fatal(err)
		}
		b, err := host.New(t.Context(), k, s, host.Options{Cache: compiled, Toolchain: toolchain})
		if err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(filepath.Join(dir, "runs")) // it was asked for its version
		binary, failure, err := b.Compile(t.Context(), k.Default())
		if failure != nil || err != nil {
			t.Fatal(failure, err)
		}
		runs, _ := os.ReadFile(filepath.Join(dir, "runs"))
		return binary, strings.Count(string(runs), "run")
	}
	first, runs := compile()
	again, more := compile()
	if runs != 1 || more != 0 || first.Digest != again.Digest || !again.Hit {
		t.Errorf("compiled %d times, then %d times", runs, more)
	}
	if err := os.WriteFile(filepath.Join(dir, "other.c"), []byte("/* it may be included */"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, runs = compile(); runs != 1 {
		t.Errorf("compiled %d times after a file of the same kind came", runs)
	}
}

// A command that makes something else, or nothing, and one that is not there.
func TestObjectsThatCannotBeLinked(t *testing.T) {
	for command, want := range map[string]string{
		`[cc, -shared, -fPIC, -DMODE=0, -o, "{OUT}", add.c]`: "a program or a shared library",
		`["true", "{OUT}"]`:          "compile has not written {OUT}",
		`[cp, reference.c, "{OUT}"]`: "",
	} {
		b := open(t, byCommand(command), host.Options{})
		f := b.measure(t, "MODE=good", 0).Failure
		if f == nil || f.Stage != objective.Compile || !strings.Contains(f.Detail, want) {
			t.Errorf("%s: %v", command, f)
		}
	}
	k, err := kernels.Load(folder(t, byCommand(`[no-such-compiler, "{OUT}"]`)), kernels.Host)
	if err != nil {
		t.Fatal(err)
	}
	toolchain, err := host.FindToolchain(t.Context(), os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	compiled := openCache(t, t.TempDir())
	s, err := k.Space(k.Workloads[0])
	if err != nil {
		t.Fatal(err)
	}
	_, err = host.New(t.Context(), k, s, host.Options{Cache: compiled, Toolchain: toolchain})
	if err == nil || !strings.Contains(err.Error(), "compiled by no-such-compiler, which is not on this machine") {
		t.Error(err)
	}
}
