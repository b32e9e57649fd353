//go:build linux

package host_test

import (
	"fmt"
	"maps"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"pawl/internal/process"
	"pawl/objective/host"
)

// waitingFiles adds 1,500 numbers around each, on one core: by itself, after a pause of 2 ms, or by a thread on
// the same core that the caller makes way for.
var waitingFiles = map[string]string{
	"kernel.yaml": `
name: around
entry: around
source: {host: around.c}
reference: {host: reference.c}
params:
  MODE: {values: [works, pauses, delegates], default: works}
workloads:
  small: {N: 3000}
args:
  - {name: x, type: f32, shape: [N]}
  - {name: y, type: f32, shape: [N], out: true}
  - {name: N, type: i32, value: N}
fuzz: {N: [1, 7, 64, 100]}
tolerance: {atol: 1e-1, rtol: 1e-2}
flags: [-O1, -D_GNU_SOURCE, -pthread]
`,
	"around.c": `#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <time.h>
enum { works, pauses, delegates };
static const float *volatile from; static float *volatile to; static volatile int32_t size;
static volatile int asked, done;
static void work(const float *x, float *y, int32_t N) {
	for (int i = 0; i < N; i++) { float sum = 0; for (int j = 0; j < 1500; j++) sum += x[(i + j) % N]; y[i] = sum; }
}
static void *works_for_it(void *unused) {
	for (;;) { while (done == asked) sched_yield(); work(from, to, size); done = asked; }
	return unused;
}
void around(const float *x, float *y, int32_t N) {
	static pthread_t thread;
	static int begun;
	if (!begun++) {
		cpu_set_t core;
		CPU_ZERO(&core);
		CPU_SET(CORE, &core);
		sched_setaffinity(0, sizeof core, &core); /* the thread has it too */
		if (MODE == delegates) pthread_create(&thread, NULL, works_for_it, NULL);
	}
	if (MODE == pauses) nanosleep(&(struct timespec){0, 2000000}, NULL);
	if (MODE != delegates) { work(x, y, N); return; }
	from = x, to = y, size = N, asked++;
	while (done != asked) sched_yield();
}
`,
	"reference.c": `#include <stdint.h>
void around(const float *x, float *y, int32_t N) {
	for (int i = 0; i < N; i++) { double sum = 0; for (int j = 0; j < 1500; j++) sum += x[(i + j) % N]; y[i] = (float)sum; }
}`,
}

// What others do with a core is not the kernel's time. What it waits for by itself is, and what its threads do.
func TestWaitingForACoreIsNotCounted(t *testing.T) {
	if process.Confines() != nil {
		t.Skip("nothing says that a kernel has no process that works for it")
	}
	var all, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		t.Fatal(err)
	}
	core := 0
	for !all.IsSet(core) {
		core++
	}
	one.Set(core)
	files := maps.Clone(waitingFiles)
	files["kernel.yaml"] = strings.Replace(files["kernel.yaml"], "flags: [", fmt.Sprintf("flags: [-DCORE=%d, ", core), 1)
	b := open(t, files, host.Options{})
	alone := b.measure(t, "MODE=works", 0)
	if alone.Failure != nil {
		t.Fatal(alone.Failure)
	}
	const others = 4
	for range others {
		busy := exec.CommandContext(t.Context(), "sh", "-c", "while :; do :; done")
		if err := busy.Start(); err != nil {
			t.Fatal(err)
		}
		defer busy.Wait()
		defer busy.Process.Kill()
		if err := unix.SchedSetaffinity(busy.Process.Pid, &one); err != nil {
			t.Fatal(err)
		}
	}
	least := alone.Milliseconds() / 2
	for mode, limits := range map[string][2]float64{
		"works": {least, alone.Milliseconds() * others / 2}, "pauses": {2, 1e9}, "delegates": {least, 1e9},
	} {
		if spares(mode, "pauses") { // like a thread's, it is time in which the caller does not work
			continue
		}
		outcome := b.measure(t, "MODE="+mode, 0)
		if took := stat(outcome); took < limits[0] || took > limits[1] {
			t.Errorf("%s: %v, %g ms, want %v; alone it takes %g", mode, outcome.Failure, took, limits, alone.Milliseconds())
		}
	}
}
