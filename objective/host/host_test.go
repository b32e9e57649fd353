package host_test

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pawl/internal/kerneltest"
	"pawl/internal/process"
	"pawl/internal/thorough"
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

// misbehaving adds two vectors, or does what its parameter says.
const misbehaving = `
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum { good, crash, divide, aborts, exits, hangs, overrun, underrun, overread, flood, child, escaped,
       tampers, zeros, unwritten, stale, chatty, overflow_stack, scribbles, closes };

static int calls;

static int deeper(int n) { volatile char space[4096]; space[0] = (char)n; return n > 0 ? deeper(n + 1) + space[0] : 0; }

void add(const float *a, const float *b, float *c, int32_t N) {
	calls++;
	if (MODE == zeros) { memset(c, 0, sizeof *c * (size_t)N); return; }
	if (MODE == unwritten) N--;
	if (MODE == stale && calls > 1) return;
	for (int i = 0; i < N; i++) c[i] = a[i] + b[i];
	switch (MODE) {
	case crash: *(volatile int *)8 = 1; break;
	case divide: { volatile int zero = 0; c[0] = (float)(100 / zero); break; }
	case aborts: fprintf(stderr, "assertion failed\n"); abort();
	case exits: exit(0);
	case hangs: for (;;) sleep(1000);
	case overrun: c[N] = 1; break;
	case underrun: c[-1] = 1; break;
	case overread: { volatile float x = a[N]; (void)x; break; }
	case flood: for (;;) puts("a line of sixty characters that nobody will ever want to read");
	case child: if (fork() == 0) { for (;;) sleep(1000); } break;
	case escaped: if (fork() == 0) { setsid(); signal(SIGTERM, SIG_IGN); signal(SIGHUP, SIG_IGN); for (;;) sleep(1000); } for (;;) sleep(1000);
	case tampers: ((float *)a)[0] = 0; break;
	case chatty: puts("hello"); break;
	case scribbles: if (write(4, "garbage garbage garbage", 23) < 0) abort(); break;
	case closes: close(3); close(4); break;
	case overflow_stack: calls = deeper(1); break;
	}
}
`

const addReference = `#include <stdint.h>
void add(const float *a, const float *b, float *c, int32_t N) {
	for (int i = 0; i < N; i++) c[i] = (float)((double)a[i] + (double)b[i]);
}`

const addManifest = `
name: add
entry: add
source: {host: add.c}
reference: {host: reference.c}
params:
  MODE: {values: [good, crash, divide, aborts, exits, hangs, overrun, underrun, overread, flood, child, escaped, tampers, zeros, unwritten, stale, chatty, overflow_stack, scribbles, closes, nonsense, "1; touch pwned"], default: good}
  THREADS: {values: [1, 4096], default: 1}
workloads:
  small: {N: 1000}
args:
  - {name: a, type: f32, shape: [N]}
  - {name: b, type: f32, shape: [N]}
  - {name: c, type: f32, shape: [N], out: true}
  - {name: N, type: i32, value: N}
fuzz: {N: [1, 7, 64, 1000]}
tolerance: {atol: 1e-6, rtol: 1e-6}
launch: {threads: THREADS}
`

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
	k, err := kernels.Load(folder(t, files), kernels.Host)
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

var addFiles = map[string]string{"kernel.yaml": addManifest, "add.c": misbehaving, "reference.c": addReference}

// A point that hangs costs a share of the budget, and not all that a slow default may take.
func TestHangCostsAShareOfTheBudget(t *testing.T) {
	b := open(t, addFiles, host.Options{}).with(t, objective.Options{RunTimeout: time.Hour, Budget: 10 * time.Second})
	b.measure(t, "", 0)
	failure := b.measure(t, "MODE=hangs", 0).Failure
	wanted := regexp.MustCompile(`^no answer after [\d.]+s .*; the default answers within [\d.]+ m?s$`)
	if failure == nil || failure.Reason != "hung" || !wanted.MatchString(failure.Detail) {
		t.Errorf("%v", failure)
	}
}

func TestEachMisbehaviorCostsOneTrial(t *testing.T) {
	b := open(t, addFiles, host.Options{})
	hurried := b.hurried(t)
	harmless := []string{"good", "chatty"}
	if process.Confines() == nil { // it gets no process, and keeps its pipes
		harmless = append(harmless, "child", "closes")
	}
	for _, test := range []struct {
		mode   string
		stage  objective.Stage
		reason string
		detail string
	}{
		{"crash", objective.Fuzz, "crashed", "SIGSEGV"},
		{"divide", objective.Fuzz, "crashed", "SIGFPE"},
		{"aborts", objective.Fuzz, "aborted", "assertion failed"},
		{"exits", objective.Fuzz, "exited", "status 0"},
		{"hangs", objective.Fuzz, "hung", ""},
		{"overrun", objective.Fuzz, "out of bounds", "just past the end of c"},
		{"underrun", objective.Fuzz, "out of bounds", "4 bytes before the start of c"},
		{"overread", objective.Fuzz, "out of bounds", "just past the end of a"},
		{"flood", objective.Fuzz, "flooded its output", ""},
		{"child", objective.Fuzz, "left a process behind", ""},
		{"escaped", objective.Fuzz, "hung", ""},
		{"tampers", objective.Fuzz, "modified an input", "a"},
		{"zeros", objective.Fuzz, "wrong result", "c[0] is 0"},
		{"unwritten", objective.Fuzz, "wrong result", "1 of"},
		{"stale", objective.Fuzz, "wrong result", ""},
		{"overflow_stack", objective.Fuzz, "crashed", "SIGSEGV"},
		{"scribbles", objective.Fuzz, "meddled with the worker's pipes", ""},
		{"closes", objective.Fuzz, "exited", "bad file descriptor"},
		{"nonsense", objective.Compile, "compile error", "nonsense"},
		{`"1; touch pwned"`, objective.Compile, "compile error", ""},
	} {
		// another signal, and another end of a buffer, are told the same way
		if slices.Contains(harmless, test.mode) || spares(test.mode, "divide", "overflow_stack", "underrun",
			"overread", "escaped", "unwritten") {
			continue
		}
		t.Run(test.mode, func(t *testing.T) {
			measuring := b
			if test.reason == "hung" {
				measuring = hurried
			}
			outcome := measuring.measure(t, "MODE="+test.mode, 0)
			f := outcome.Failure
			if f == nil || f.Stage != test.stage || f.Reason != test.reason || !strings.Contains(f.Detail, test.detail) {
				t.Fatalf("got %v, want %s: %s with %q", f, test.stage, test.reason, test.detail)
			}
			if len(outcome.Samples) > 0 {
				t.Errorf("%d samples of a failed point", len(outcome.Samples))
			}
		})
	}
	for _, mode := range thorough.Some(harmless, 2) {
		outcome := b.measure(t, "MODE="+mode, 0)
		if outcome.Failure != nil || len(outcome.Samples) < 5 {
			t.Errorf("%s: %v, %d samples", mode, outcome.Failure, len(outcome.Samples))
		}
	}
	if _, err := os.Stat("pwned"); err == nil {
		t.Error("a shell was involved")
	}
	hurried.Close()
	if left := processesOf(t); len(left) > 0 {
		t.Errorf("processes left behind: %v", left)
	}
}

// processesOf returns the living processes that were started from this test's
// binary, workers and what they forked, other than this one and the oracle.
func processesOf(t *testing.T) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	links, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, link := range links {
		target, err := os.Readlink(link)
		if err != nil || target != self {
			continue
		}
		environ, _ := os.ReadFile(filepath.Join(filepath.Dir(link), "environ"))
		if strings.Contains(string(environ), "PAWL_WORKER=") {
			found = append(found, filepath.Dir(link))
		}
	}
	if len(found) == 1 {
		return nil // the oracle's worker lives as long as the evaluator
	}
	return found
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
