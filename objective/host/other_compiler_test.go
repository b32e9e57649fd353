package host_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pawl/internal/process"
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
	for _, kind := range []string{"-c", "-shared"} {
		t.Run(kind, func(t *testing.T) { checkedAsSources(t, kind) })
	}
}

func checkedAsSources(t *testing.T, kind string) {
	// The name that a library gives itself may be that of one which is loaded already.
	b := open(t, byCommand(`[cc, -O2, -fPIC, "-Wl,-soname,libm.so.6", "-DMODE={MODE}", `+kind+`, -o, "{OUT}", add.c]`),
		host.Options{})
	for _, test := range []struct{ mode, stage, reason, detail string }{
		{"crash", "fuzz", "crashed", "SIGSEGV"},
		{"overrun", "fuzz", "out of bounds", "just past the end of c"},
		{"zeros", "fuzz", "wrong result", "c[0] is 0"},
		{"tampers", "fuzz", "modified an input", "a"},
		{"nonsense", "compile", "compile error", "nonsense"},
		{`"1; touch pwned"`, "compile", "compile error", ""},
	} {
		if kind == "-shared" && spares(test.mode, "crash", "overrun", "tampers", "nonsense") {
			continue // the same object, linked
		}
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
	good, _, _ := b.backend.Compile(t.Context(), b.at(t, "MODE=good"))
	wrong, _, _ := b.backend.Compile(t.Context(), b.at(t, "MODE=zeros"))
	if good.Digest == "" || good.Digest == wrong.Digest || !good.Hit {
		t.Errorf("%+v and %+v", good, wrong)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(good.Path), "*"))
	if err != nil || len(left) != 2 { // the module and its digest
		t.Error(left, err)
	}
}

// A library of Rust is loaded as Rust has linked it.
func TestARustLibraryIsCalled(t *testing.T) {
	if _, err := exec.LookPath("rustc"); err != nil {
		t.Skip("no rustc")
	}
	files := byCommand(`[rustc, --crate-type=cdylib, -C, panic=abort, -o, "{OUT}", add.rs]`)
	files["kernel.yaml"] = strings.Replace(files["kernel.yaml"], "object: add.c", "object: add.rs", 1)
	files["add.rs"] = `#[no_mangle]
pub unsafe extern "C" fn add(a: *const f32, b: *const f32, c: *mut f32, n: i32) {
    for i in 0..n as usize {
        *c.add(i) = *a.add(i) + *b.add(i);
    }
}
`
	b := open(t, files, host.Options{})
	if outcome := b.measure(t, "MODE=good", 0); outcome.Failure != nil || len(outcome.Samples) < 5 {
		t.Errorf("%v, %d samples", outcome.Failure, len(outcome.Samples))
	}
}

// The values of a point are in the compiler's environment too; a compiler may lie in the kernel's folder. What it makes
// is kept, until a file changes that it may have read.
func TestObjectCompilersHaveAnEnvironment(t *testing.T) {
	files := byCommand(`[./compile.sh, "{OUT}"]`)
	files["compile.sh"] = "#!/bin/sh\nexec cc -O2 -fPIC -DMODE=$MODE -c -o \"$1\" add.c\n"
	dir := folder(t, files)
	if err := os.Chmod(filepath.Join(dir, "compile.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	compiled := openCache(t, t.TempDir())
	compile := func() objective.Binary {
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
		binary, failure, err := b.Compile(t.Context(), k.Default())
		if failure != nil || err != nil {
			t.Fatal(failure, err)
		}
		return binary
	}
	first, again := compile(), compile()
	if first.Hit || first.Digest != again.Digest || !again.Hit {
		t.Errorf("compiled %+v, then %+v", first, again)
	}
	if err := os.WriteFile(filepath.Join(dir, "other.c"), []byte("/* it may be included */"), 0o644); err != nil {
		t.Fatal(err)
	}
	if compile().Hit {
		t.Error("not compiled after a file of the same kind came")
	}
}

// A command that makes something else, or nothing, and one that is not there.
func TestObjectsThatCannotBeLinked(t *testing.T) {
	for command, want := range map[string]string{
		`[cc, -nostartfiles, -o, "{OUT}", reference.c]`:              "made a program",
		`[cc, -shared, -fPIC, -Dadd=plus, -o, "{OUT}", reference.c]`: "a shared library without the function add",
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

// A command that compiles writes its output, and reaches neither the kernel's folder nor this process.
func TestACompilerCannotReachOthers(t *testing.T) {
	if err := process.Restricts(); err != nil {
		t.Skip(err)
	}
	t.Setenv("GITHUB_TOKEN", "never-to-be-seen")
	files := byCommand(`[sh, compile.sh, "{OUT}", "-DMODE={MODE}"]`)
	files["compile.sh"] = `
tries() { if "$@" 2>/dev/null; then echo "error: $* worked" >&2; exit 1; fi; }
tries sh -c 'echo >> add.c'
tries sh -c 'echo >> reference.c'
tries cat /proc/$PPID/environ
tries dd if=/proc/$PPID/mem of=/dev/null count=1
tries kill -0 $PPID
tries touch "$HOME/pawl-was-here"
tries touch /dev/shm/pawl-was-here
tries sh -c 'env | grep never-to-be-seen'
cc -O2 -fPIC "$2" -c -o "$1" add.c && touch "$TMPDIR/temporary"
`
	if outcome := open(t, files, host.Options{}).measure(t, "MODE=good", 0); outcome.Failure != nil {
		t.Error(outcome.Failure)
	}
}
