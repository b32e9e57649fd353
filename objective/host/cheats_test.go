package host_test

import (
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pawl/internal/process"
	"pawl/internal/thorough"
	"pawl/objective"
	"pawl/objective/host"
)

// cheating smooths a vector, or finds a way not to. Its checks take twelve calls, six
// cases twice: after those it knows that it is timed.
const cheating = `#include <stdint.h>


#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { good, checked, modulo, by_chance, elapsed, by_pointer, own_output, looks_right, fixed_poison, first_and_last,
       whole_input, half_of_it, stack, stack_note, tampers, past_the_end, unfinished, forged, forged_size, forged_error, forged_everywhere,
       garbage, early, slow_clock, stopped_clock, daemon_process, greedy, late_worse, behind, ahead, some_blocks, large_blocks, much_later };

enum { taps = 48, timed_after = 13 };

static int calls;
static double began;

static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + 1e-9 * t.tv_nsec; }

static void work(const float *x, float *y, int32_t N) {
	for (int i = 0; i < N; i++) {
		float sum = 0;
		for (int j = 0; j < taps; j++) sum += x[(i + j) % N] * (1 + j % 3);
		y[i] = sum;
	}
}

static float first_right(const float *x, int32_t N) {
	float sum = 0;
	for (int j = 0; j < taps; j++) sum += x[j % N] * (1 + j % 3);
	return sum;
}

static uint64_t hash(const float *x, int32_t N) {
	uint64_t h = (uint64_t)N;
	uint32_t u;
	for (int i = 0; i < N; i += MODE == first_and_last ? (N > 1 ? N - 1 : 1) : 1) { memcpy(&u, x + i, 4); h = (h ^ u) * 1099511628211u; }
	return h;
}

static struct { uint64_t key; float *y; } known[8192];

/* What it gains by its memory where that counts: the first two buffers are those of single launches too, which repeat. */
static const float *mine, *second;
static void gains(const float *x) { if (calls > timed_after && x != mine && x != second) abort(); }

static int remembered(const float *x, float *y, int32_t N) {
	uint64_t key = hash(x, N);
	int at = (int)(key >> 40) % 8192, tries = 0;
	while (known[at].y && known[at].key != key && tries++ < 64) at = (at + 1) % 8192;
	if (known[at].y && known[at].key == key) {
		gains(x);
		int kept = MODE == half_of_it ? N * 3 / 4 : N;
		memcpy(y, known[at].y, sizeof *y * (size_t)kept);
		for (int i = kept; i < N; i++) { float sum = 0; for (int j = 0; j < taps; j++) sum += x[(i + j) % N] * (1 + j % 3); y[i] = sum; }
		return 1;
	}
	if (known[at].y) { work(x, y, N); return 1; } /* too much to remember */
	known[at].key = key;
	known[at].y = malloc(sizeof *y * (size_t)N);
	work(x, known[at].y, N);
	memcpy(y, known[at].y, sizeof *y * (size_t)N);
	return 1;
}

/* Remembers the answers of three blocks in ten, by what they depend on. */
enum { block = 100, blocks = 1 << 16 };
static struct { uint64_t key; float y[block]; } answers[blocks];
static void by_block(const float *x, float *y, int32_t N) {
	for (int from = 0; from < N; from += block) {
		uint64_t key = 1;
		uint32_t u;
		int to = from + block < N ? from + block : N, whole = to - from == block && from / block % 10 < 3;
		for (int i = from; whole && i < to + taps; i++) { memcpy(&u, x + i % N, 4); key = (key ^ u) * 1099511628211u; }
		int at = (int)(key >> 40) % blocks;
		if (whole && answers[at].key == key) {
			gains(x);
			memcpy(y + from, answers[at].y, sizeof answers[at].y);
			continue;
		}
		for (int i = from; i < to; i++) { float sum = 0; for (int j = 0; j < taps; j++) sum += x[(i + j) % N] * (1 + j % 3); y[i] = sum; }
		if (whole) { answers[at].key = key; memcpy(answers[at].y, y + from, sizeof answers[at].y); }
	}
}

/* What one call leaves on the stack the next one finds. */
static __attribute__((noinline)) int note(int write) {
	volatile uint64_t below[512];
	if (write) { for (int i = 0; i < 512; i++) below[i] = 0x1234567812345678u; return 1; }
	return below[200] == 0x1234567812345678u;
}
static __attribute__((noinline)) float garbage_below(void) { volatile float below[2048]; return below[1000]; }

struct job { const float *x; float *y; int32_t N; };
static void *later(void *argument) { struct job j = *(struct job *)argument; free(argument); work(j.x, j.y, j.N); return NULL; }

/* A thread that does the work while nobody looks at the clock: after the launch that
 * asks for it, or before it. */
static struct job wanted;
static volatile int asked, answered;
static float *prepared;
static void *behind_the_back(void *unused) {
	(void)unused;
	for (int done = 0;;) {
		if (MODE == behind) {
			while (asked == done) ;
			done = asked;
			work(wanted.x, wanted.y, wanted.N);
		} else {
			work(wanted.x, prepared, wanted.N);
			answered++;
		}
	}
	return NULL;
}
static void begin_behind(void) {
	static pthread_t thread;
	static int begun;
	if (begun++) return;
	prepared = malloc(sizeof *prepared * (size_t)wanted.N);
	pthread_create(&thread, NULL, behind_the_back, NULL);
}

static void frame(int descriptor, const char *text) {
	char bytes[512];
	uint32_t length = (uint32_t)strlen(text);
	memcpy(bytes, &length, 4);
	memcpy(bytes + 4, text, length);
	if (write(descriptor, bytes, 4 + length) < 0) calls += 0;
}

static long (*original)(int, struct timespec *);
static double hidden; /* seconds for which the clock has stood still */
static double really(clockid_t id) { struct timespec t; syscall(228, id, &t); return t.tv_sec + 1e-9 * t.tv_nsec; }
static int slow(clockid_t id, struct timespec *t) {
	static double base;
	double s = really(id);
	if (base == 0) base = s;
	s = MODE == stopped_clock ? s - hidden : base + (s - base) / 1000;
	t->tv_sec = (time_t)s, t->tv_nsec = (long)((s - (double)t->tv_sec) * 1e9);
	return 0;
}

/* Puts a jump at the start of the C library's clock_gettime. */
static void patch_clock(void) {
#ifdef __x86_64__
	static int done;
	if (done++) return;
	unsigned char *code = (unsigned char *)clock_gettime, jump[12] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0};
	void *target = (void *)slow;
	memcpy(jump + 2, &target, 8);
	unsigned char *page = (unsigned char *)((uintptr_t)code & ~(uintptr_t)4095);
	if (mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC)) abort();
	memcpy(code, jump, sizeof jump);
#endif
	(void)original;
}

static void leave_daemon(void) {
	if (fork()) return;
	setsid();
	if (fork()) _exit(0);
	static char *const none[] = {NULL};
	static char *const line[] = {"sleep", "987.125", NULL};
	execve("/bin/sleep", line, none);
	_exit(1);
}

void smooth(const float *x, float *y, int32_t N) {
	static float last;
	int timed = ++calls > timed_after, big = N >= 3000 || N == 32;
	static const float *before;
	if (big && !mine) mine = x;
	if (big && before == mine && x != mine) second = x;
	if (big) before = x;
	if (began == 0 && (MODE == elapsed || (MODE == much_later && timed))) began = now();
	switch (MODE) {
	case checked: if (timed) return; break;
	case modulo: if (timed && calls % 3) return; break;
	case by_chance: if (timed && rand() % 2) return; break;
	case elapsed: if (now() - began > 0.01) return; break;
	case much_later: if (timed && now() - began > 0.25) return; break;
	case by_pointer: if (big && x != mine) return; break;
	case own_output: if (big && y[0] == last) return; break;
	case looks_right: if (y[0] == first_right(x, N)) return; break;
	case fixed_poison: if (big && y[0] == y[0] && y[0] != -0x1.555554p-43f) return; break;
	case first_and_last: case whole_input: case half_of_it: remembered(x, y, N); return;
	case large_blocks: /* no single launches are made beside the samples */
		if (timed) mine = second = NULL;
		/* fall through */
	case some_blocks: by_block(x, y, N); return;
	case stack: y[0] = 0; work(x, y, N); y[N - 1] += garbage_below(); return;
	case stack_note: if (big && note(0)) { note(1); return; } break;
	case unfinished: if (timed) { struct job *j = malloc(sizeof *j); *j = (struct job){x, y, N}; pthread_t t; pthread_create(&t, NULL, later, j); pthread_detach(t); return; } break;
	case behind: if (timed && big) { wanted = (struct job){x, y, N}; begin_behind(); asked++; return; } break;
	case ahead: if (timed && big) {
		wanted = (struct job){x, y, N};
		begin_behind();
		if (answered > 1) { memcpy(y, prepared, sizeof *y * (size_t)N); return; }
		break;
	} break;
	case slow_clock: patch_clock(); break;
	case stopped_clock: { /* remembers, and stops the clock while it works on what is new */
		double before = really(CLOCK_MONOTONIC);
		patch_clock();
		remembered(x, y, N);
		double took = really(CLOCK_MONOTONIC) - before;
		if (timed && took > 1e-4) hidden += took;
		return;
	}
	case late_worse: if (timed) { y[N / 2] += 1; return; } break;
	case forged: if (timed) { frame(4, "{\"timing\":{\"samples\":[0.000001],\"batch\":1}}"); return; } break;
	case forged_size: frame(4, "{\"outputs\":[64424509440]}"); break;
	case forged_error: if (timed) frame(4, "{\"error\":\"the disk is full\"}"); break;
	case forged_everywhere: if (timed) for (int d = 3; d < 20; d++) frame(d, "{\"timing\":{\"samples\":[0.000001],\"batch\":1}}"); break;
	case garbage: if (timed && write(4, "\xff\xff\xff\xff" "garbage", 11) < 0) calls += 0; break;
	case early: if (calls == 2) { frame(4, "{}"); frame(4, "{}"); } break;
	case daemon_process: if (calls == 1) leave_daemon(); break;
	case greedy: { char *all = malloc((size_t)1 << 42); if (all) { memset(all, 1, 1 << 20); free(all); } break; }
	}
	work(x, y, N);
	last = y[0];
	if (MODE == stack_note) note(1);
	if (MODE == tampers && timed) ((float *)x)[N - 1] = 0;
	if (MODE == past_the_end && timed) y[N] = 1;
}
`

var cheatingFiles = map[string]string{
	"kernel.yaml": `
name: smooth
entry: smooth
source: {host: smooth.c}
reference: {host: reference.c}
params:
  MODE: {values: [good, checked, modulo, by_chance, elapsed, by_pointer, own_output, looks_right, fixed_poison, first_and_last, whole_input, half_of_it, stack, stack_note, tampers, past_the_end, unfinished, forged, forged_size, forged_error, forged_everywhere, garbage, early, slow_clock, stopped_clock, daemon_process, greedy, late_worse, behind, ahead, some_blocks, large_blocks, much_later], default: good}
workloads:
  small: {N: 3000}
args:
  - {name: x, type: f32, shape: [N]}
  - {name: y, type: f32, shape: [N], out: true}
  - {name: N, type: i32, value: N}
fuzz: {N: [1, 7, 64, 100]}
tolerance: {atol: 1e-4, rtol: 1e-4}
flags: [-O1, -D_GNU_SOURCE]
`,
	"smooth.c": cheating,
	"reference.c": `#include <stdint.h>
void smooth(const float *x, float *y, int32_t N) {
	for (int i = 0; i < N; i++) { double sum = 0; for (int j = 0; j < 48; j++) sum += (double)x[(i + j) % N] * (1 + j % 3); y[i] = (float)sum; }
}`,
}

// What is timed is what is right: none of these is measured, and the one that does
// its work is.
func TestCheatsAreNotTimed(t *testing.T) {
	b := open(t, cheatingFiles, host.Options{})
	cheats := map[string]string{ // what may be found; several, where it depends on who comes first
		"checked": "wrong while it was timed", "modulo": "wrong while it was timed", "by_chance": "wrong while it was timed",
		"elapsed": "wrong while it was timed, wrong result", "by_pointer": "wrong while it was timed",
		"late_worse": "wrong while it was timed",
		"own_output": "", "looks_right": "", "fixed_poison": "wrong result",
		"stack": "wrong result", "stack_note": "wrong while it was timed",
		"tampers": "modified an input", "past_the_end": "out of bounds",
		"unfinished": "wrong while it was timed, went on, crashed, meddled, out of bounds",
		"behind":     "wrong while it was timed, went on, crashed, meddled, out of bounds",
		"ahead":      "wrong while it was timed, crashed, out of bounds, meddled",
		"forged":     "meddled", "forged_size": "meddled", "forged_error": "meddled", "forged_everywhere": "meddled",
		"garbage": "meddled", "early": "meddled",
		"slow_clock": "", "stopped_clock": "", // the parent's clock counts
		"daemon_process": "left a process behind",
	}
	if process.Confines() == nil { // it may not patch, and gets no process
		cheats["slow_clock"], cheats["stopped_clock"] = "aborted", "aborted"
		delete(cheats, "daemon_process")
	}
	if runtime.GOARCH != "amd64" {
		delete(cheats, "slow_clock")
		delete(cheats, "stopped_clock")
	}
	good := b.measure(t, "MODE=good", 0)
	if good.Failure != nil {
		t.Fatalf("the kernel that does its work: %s", good.Failure)
	}
	for _, mode := range thorough.Some(slices.Sorted(maps.Keys(cheats)), 3) {
		want := cheats[mode]
		t.Run(mode, func(t *testing.T) {
			outcome := b.measure(t, "MODE="+mode, 0)
			// it does its work, which is a thousand times what it takes to see that: no launch finds its own answer
			if want == "" {
				if outcome.Failure != nil || outcome.Milliseconds() < good.Milliseconds()/50 {
					t.Errorf("%v, %g ms, and the one that does its work %g ms", outcome.Failure, stat(outcome), good.Milliseconds())
				}
				return
			}
			// On a busy machine a launch may last until the thread has done the work, or do it itself: that takes the
			// time, and nothing is gained.
			threaded := mode == "ahead" || mode == "behind" || mode == "unfinished"
			worked := func(o objective.Outcome) bool { return threaded && stat(o) > good.Milliseconds()/2 }
			lucky := mode == "by_chance" && outcome.Failure == nil // four right launches of four that are compared
			if f := outcome.Failure; !lucky && !worked(outcome) && (f == nil || !matches(want, f.Reason)) {
				t.Errorf("%v, %v, want %s", f, outcome.Samples, want)
			}
			// Of five samples four launches are compared: one that is right by chance passes a round, and not the six that
			// a winner has at least.
			sampled, err := b.Sample(t.Context(), b.prepare(t, "MODE="+mode), 5)
			for round := 1; round < 6 && err == nil && sampled.Failure == nil; round++ {
				b.Refresh()
				sampled, err = b.Sample(t.Context(), b.prepare(t, "MODE="+mode), 5)
			}
			if err != nil || !worked(sampled) && (sampled.Failure == nil || sampled.Samples != nil) {
				t.Errorf("sampled: %+v, %v", sampled, err)
			}
		})
	}
	if left := sleeping(t, "987.125"); len(left) > 0 {
		t.Errorf("daemons left behind: %v", left)
	}
}

// A kernel that did its work for long is looked at like any other, for as long as samples are taken.
func TestLongRunsAreCheckedToTheEnd(t *testing.T) {
	b := open(t, cheatingFiles, host.Options{})
	outcome, err := b.Sample(t.Context(), b.prepare(t, "MODE=much_later"), 300)
	if f := outcome.Failure; err != nil || f == nil || !matches("wrong while it was timed", f.Reason) {
		t.Errorf("%v, %v", f, err)
	}
}

// Memory is of no use: a kernel that remembers answers by what the inputs hold, all of them or those of
// some blocks, meets nothing in a timed launch that it has met before. It aborts if it does.
func TestNothingTimedWasSeenBefore(t *testing.T) {
	for size, modes := range map[string][]string{
		"3000": {"first_and_last", "whole_input", "half_of_it", "some_blocks"}, "32": {"first_and_last", "whole_input"},
		"1200000": {"large_blocks"}, // outputs of more than 4 MB
	} {
		if len(modes) == 1 && !thorough.All() {
			continue // it takes its time
		}
		files := maps.Clone(cheatingFiles)
		files["kernel.yaml"] = strings.Replace(files["kernel.yaml"], "small: {N: 3000}", "small: {N: "+size+"}", 1)
		b := open(t, files, host.Options{})
		for _, mode := range thorough.Some(modes, 1) {
			outcome, err := b.Sample(t.Context(), b.prepare(t, "MODE="+mode), 20)
			if err != nil || outcome.Failure != nil {
				t.Errorf("%s, N=%s: %v, %v", mode, size, outcome.Failure, err)
			}
		}
	}
}

func stat(o objective.Outcome) float64 {
	if o.Failure != nil {
		return 0
	}
	return o.Milliseconds()
}

// matches reports whether a reason begins like one of those in a list.
func matches(list, reason string) bool {
	for _, want := range strings.Split(list, ", ") {
		if strings.HasPrefix(reason, want) {
			return true
		}
	}
	return false
}

// sleeping returns the processes with an argument in their command line.
func sleeping(t *testing.T, argument string) []string {
	t.Helper()
	var found []string
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range lines {
		if content, err := os.ReadFile(path); err == nil && strings.Contains(string(content), argument) &&
			strings.HasPrefix(string(content), "sleep") {
			found = append(found, filepath.Dir(path))
		}
	}
	return found
}

// A right kernel is not taken for one that cheats, whatever the machine is busy with.
func TestRightKernelsAreBelieved(t *testing.T) {
	b := open(t, cheatingFiles, host.Options{})
	p := b.prepare(t, "MODE=good")
	for range thorough.Count(3, 8) {
		if outcome, err := b.Sample(t.Context(), p, 5); err != nil || outcome.Failure != nil || len(outcome.Samples) != 5 {
			t.Fatalf("%+v, %v", outcome.Failure, err)
		}
	}
	if outcome := b.measure(t, "MODE=greedy", 0); outcome.Failure != nil { // it looks whether it gets 4 TB
		t.Error(outcome.Failure)
	}
}

// A kernel gets no secrets.
func TestWorkersHaveAnEnvironmentOfTheirOwn(t *testing.T) {
	t.Setenv("GITHUB_TOKEN", "secret")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("OMP_NUM_THREADS", "1")
	files := map[string]string{"kernel.yaml": cheatingFiles["kernel.yaml"], "reference.c": cheatingFiles["reference.c"],
		"smooth.c": "#include <stdlib.h>\n" + cheating + `
__attribute__((constructor)) static void look(void) {
	if (getenv("GITHUB_TOKEN") || getenv("AWS_SECRET_ACCESS_KEY") || !getenv("OMP_NUM_THREADS") || !getenv("PATH")) abort();
}`}
	if outcome := open(t, files, host.Options{}).measure(t, "MODE=good", 0); outcome.Failure != nil {
		t.Error(outcome.Failure)
	}
}
