package host_test

import (
	"maps"
	"runtime"
	"strings"
	"testing"

	"pawl/objective/host"
)

// toldLast works in the last launch of a sample only, and in single ones. The loop that makes the launches keeps its
// counter and their number in registers that a function it calls must save.
const toldLast = `#include <stdint.h>
__attribute__((used)) static uint64_t saved[6];
static int calls;

__attribute__((used)) static void work(const float *x, float *y, int32_t N) {
	int last = 0;
	for (int i = 0; i < 6; i++)
		for (int j = 0; j < i; j++) last |= saved[i] == saved[j] && saved[i] - 1 < 1 << 20;
	if (++calls > 13 && !last) return; /* six cases twice are checked first */
	for (int i = 0; i < N; i++) {
		float sum = 0;
		for (int j = 0; j < 48; j++) sum += x[(i + j) % N] * (1 + j % 3);
		y[i] = sum;
	}
}

__attribute__((naked)) void smooth(const float *x, float *y, int32_t N) {
	__asm__("mov %rbx, saved(%rip)\n mov %rbp, saved+8(%rip)\n mov %r12, saved+16(%rip)\n"
		"mov %r13, saved+24(%rip)\n mov %r14, saved+32(%rip)\n mov %r15, saved+40(%rip)\n jmp work");
}
`

// No kernel knows which of the timed launches is compared.
func TestAKernelThatKnowsTheLastLaunchIsWrong(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("it reads the registers of amd64")
	}
	files := maps.Clone(cheatingFiles)
	files["smooth.c"] = toldLast
	files["kernel.yaml"] = strings.Replace(files["kernel.yaml"], "-O1", "-O1, -Wno-unused-parameter", 1)
	b := open(t, files, host.Options{})
	outcome, err := b.Sample(t.Context(), b.prepare(t, "MODE=good"), 5)
	if err != nil || outcome.Failure == nil || outcome.Failure.Reason != "wrong while it was timed" {
		t.Errorf("%v, %v, %v", outcome.Failure, outcome.Samples, err)
	}
}
