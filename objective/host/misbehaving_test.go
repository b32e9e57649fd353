package host_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pawl/internal/process"
	"pawl/internal/thorough"
	"pawl/objective"
	"pawl/objective/host"
)

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
		// another signal, and another end of a buffer, are reported in the same way
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
