package host_test

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pawl/internal/kerneltest"
	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/cache"
	"pawl/objective/host"
	"pawl/objective/worker"
	"pawl/space"
)

func TestMain(m *testing.M) {
	worker.Main(map[string]func() worker.Device{host.DeviceName: host.NewDevice})
	// The race detector lets every process sleep a second before it ends.
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	var err error
	if compiled, err = os.MkdirTemp("", "pawl-host-test-"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(compiled)
	os.Exit(code)
}

// compiled is the folder of the compile cache of all tests that damage nothing in it.
var compiled string

func openCache(t *testing.T, dir string) *cache.Cache {
	t.Helper()
	c, err := cache.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// folder writes a kernel's files and returns their folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

type bench struct {
	*objective.Evaluator
	kernel   *kernels.Kernel
	workload kernels.Workload
	space    *space.Space
	backend  *host.Backend
}

func open(t *testing.T, files map[string]string, options host.Options) *bench {
	t.Helper()
	return openWith(t, files, options, objective.Options{})
}

func openWith(t *testing.T, files map[string]string, options host.Options, how objective.Options) *bench {
	t.Helper()
	return openFolder(t, folder(t, files), options, how)
}

// openFolder opens a kernel whose files are there, as they are now.
func openFolder(t *testing.T, dir string, options host.Options, how objective.Options) *bench {
	t.Helper()
	k, err := kernels.Load(dir, kernels.Host)
	if err != nil {
		t.Fatal(err)
	}
	w, err := k.Workload("")
	if err != nil {
		t.Fatal(err)
	}
	s, err := k.Space(w)
	if err != nil {
		t.Fatal(err)
	}
	if options.Toolchain == nil {
		if options.Toolchain, err = host.FindToolchain(t.Context(), os.Getenv); err != nil {
			t.Fatal(err)
		}
	}
	if options.Cache == nil {
		options.Cache = openCache(t, compiled)
	}
	backend, err := host.New(t.Context(), k, s, options)
	if err != nil {
		t.Fatal(err)
	}
	how.RunTimeout = 6 * time.Second
	return (&bench{nil, k, w, s, backend}).with(t, how)
}

// again has an evaluator that knows nothing yet. No test needs as many samples as a study.
func (b *bench) again(t *testing.T, allowed time.Duration) *bench {
	t.Helper()
	return b.with(t, objective.Options{RunTimeout: allowed})
}

func (b *bench) with(t *testing.T, how objective.Options) *bench {
	t.Helper()
	how.Stopping.Time = cmp.Or(how.Stopping.Time, 50*time.Millisecond)
	e := objective.NewEvaluator(b.kernel, b.workload, b.backend, how)
	t.Cleanup(e.Close)
	return &bench{e, b.kernel, b.workload, b.space, b.backend}
}

// hurried is for kernels that hang.
func (b *bench) hurried(t *testing.T) *bench { return b.again(t, time.Second) }

func (b *bench) at(t *testing.T, text string) space.Point {
	t.Helper()
	partial, err := space.ParsePoint(text)
	if err != nil {
		t.Fatal(err)
	}
	p, err := b.space.Complete(partial)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (b *bench) measure(t *testing.T, text string, incumbent float64) objective.Outcome {
	t.Helper()
	prepared, err := b.Prepare(t.Context(), b.at(t, text))
	if err != nil {
		t.Fatal(err)
	}
	outcome, err := b.Measure(t.Context(), prepared, incumbent)
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

func TestPreflightNamesTheLimit(t *testing.T) {
	b := open(t, addFiles, host.Options{Cores: 2})
	outcome := b.measure(t, "THREADS=4096", 0)
	if f := outcome.Failure; f == nil || f.Stage != objective.Preflight ||
		!strings.Contains(f.Detail, "4096 threads, this machine has 2 cores") {
		t.Errorf("got %v", f)
	}
	if outcome.Spent.Compile != 0 {
		t.Error("an infeasible point was compiled")
	}
}

func TestShortKernelsAreBatched(t *testing.T) {
	b := open(t, addFiles, host.Options{})
	outcome := b.measure(t, "MODE=good", 0)
	if outcome.Batch < 10 {
		t.Errorf("batch %d for a kernel of about a hundred nanoseconds", outcome.Batch)
	}
	if ms := outcome.Milliseconds(); ms <= 0 || ms > 0.1 {
		t.Errorf("%g ms per launch for a thousand additions", ms)
	}
}

func TestHopelessPointsGetFewSamples(t *testing.T) {
	b := open(t, addFiles, host.Options{})
	outcome := b.measure(t, "MODE=good", 1e-9)
	if outcome.Stop != objective.Hopeless || len(outcome.Samples) != 5 {
		t.Errorf("%s after %d samples", outcome.Stop, len(outcome.Samples))
	}
}

func TestSecondCompileComesFromTheCache(t *testing.T) {
	b := open(t, addFiles, host.Options{Cache: openCache(t, t.TempDir())})
	for i, want := range []bool{false, true} {
		prepared, err := b.Prepare(t.Context(), b.at(t, "MODE=good"))
		if err != nil {
			t.Fatal(err)
		}
		if prepared.Spent.CacheHit != want {
			t.Errorf("compile %d: hit %t", i, prepared.Spent.CacheHit)
		}
	}
}

func TestIncludesArePartOfTheKey(t *testing.T) {
	files := map[string]string{
		"kernel.yaml": addManifest, "reference.c": addReference,
		"add.c": "#include \"inner.h\"\n" + misbehaving,
		"inner.h": "#define INNER 1\nstatic int inner(void) { return INNER; }\nint use_inner(void);\nint use_inner(void) " +
			"{ return inner(); }\n",
		"unused.h": "",
	}
	b := open(t, files, host.Options{})
	digest := func() string {
		b := openFolder(t, b.kernel.Dir, host.Options{}, objective.Options{})
		p, err := b.Prepare(t.Context(), b.at(t, "MODE=good"))
		if err != nil || p.Failure != nil {
			t.Fatal(err, p.Failure)
		}
		return p.Binary.Digest
	}
	before := digest()
	header := filepath.Join(b.kernel.Dir, "inner.h")
	content, _ := os.ReadFile(header)
	if err := os.WriteFile(header, []byte(strings.Replace(string(content), "INNER 1", "INNER 2", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if digest() == before {
		t.Error("an include changed and the old binary came from the cache")
	}
}

func TestBrokenOracleIsAnError(t *testing.T) {
	for name, reference := range map[string]string{
		"does not compile": "void add(",
		"gives NaN":        strings.Replace(addReference, "(double)a[i]", "0.0 / 0.0 * (double)a[i]", 1),
		"crashes":          strings.Replace(addReference, "c[i] =", "*(volatile float *)8 =", 1),
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"kernel.yaml": addManifest, "add.c": misbehaving, "reference.c": reference}
			b := open(t, files, host.Options{})
			prepared, err := b.Prepare(t.Context(), b.at(t, "MODE=good"))
			if name == "does not compile" {
				if err == nil {
					t.Error("prepared with a reference that does not compile")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if outcome, err := b.Measure(t.Context(), prepared, 0); err == nil {
				t.Errorf("got %+v, want an error", outcome)
			}
		})
	}
}

func TestNoCompiler(t *testing.T) {
	_, err := host.FindToolchain(t.Context(), func(string) string { return "no-such-compiler" })
	if err == nil || !strings.Contains(err.Error(), "no-such-compiler") {
		t.Errorf("got %v", err)
	}
}

func TestCompilerThatHangsIsKilledAndLeavesNothing(t *testing.T) {
	dir, temporary := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temporary)
	script := filepath.Join(dir, "slow")
	// Answers --version and compiles the support code, but goes round for ever on kernels, with a process of its own,
	// with its work half done.
	content := "#!/bin/sh\ncase \"$*\" in *--version*) echo slow 1.0; exit;; *MODE*-shared*) echo half " +
		">$TMPDIR/left.s; while :; do sleep 1; done;; esac\nexec cc \"$@\"\n"
	if err := kerneltest.WriteProgram(script, content); err != nil {
		t.Fatal(err)
	}
	toolchain, err := host.FindToolchain(t.Context(), func(string) string { return script })
	if err != nil {
		t.Fatal(err)
	}
	options := host.Options{Toolchain: toolchain, Cache: openCache(t, t.TempDir())}
	open(t, addFiles, options) // compiles the support code, in a minute
	options.CompileTimeout = 3 * time.Second
	b := open(t, addFiles, options)
	prepared, err := b.Prepare(context.Background(), b.at(t, "MODE=good"))
	if err != nil {
		t.Fatal(err)
	}
	if f := prepared.Failure; f == nil || f.Reason != objective.CompileTimeout {
		t.Errorf("got %v", f)
	}
	if _, err := os.Stat(filepath.Join(temporary, "left.s")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the compiler's temporary file is still there: %v", err)
	}
}
