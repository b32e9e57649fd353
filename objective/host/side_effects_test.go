package host_test

import (
	"regexp"
	"runtime"
	"strings"
	"testing"

	"pawl/objective/host"
)

// lingering doubles a vector, and leaves something behind.
const lingering = `
#include <fenv.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif
enum { good, leaks, leaks_much, keeps, flushes, rounds };
static void *volatile kept;
void twice(const float *x, float *y, int32_t N) {
	for (int i = 0; i < N; i++) y[i] = 2 * x[i];
	switch (MODE) {
	case leaks: kept = malloc(100); break;
	case leaks_much: kept = malloc(1 << 20); memset(kept, 1, 4096); break;
	case keeps: if (!kept) kept = malloc(1000); free(malloc(5000)); break;
#ifdef __SSE__
	case flushes: _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON); break;
#endif
	case rounds: fesetround(FE_UPWARD); break;
	}
}
`

// What a kernel leaves behind beside its results is named, and fails nobody.
func TestWhatIsLeftBehindIsNoted(t *testing.T) {
	t.Parallel()
	wants := map[string]string{
		"good": "", "keeps": "", "rounds": "numbers are rounded in another way",
		"leaks": "every launch leaves memory allocated, 1", "leaks_much": "every launch leaves memory allocated, 10",
		"flushes": "subnormal numbers are taken for zeros",
	}
	if runtime.GOARCH != "amd64" {
		delete(wants, "flushes")
	}
	if runtime.GOOS != "linux" { // its C library does not say what is allocated
		delete(wants, "leaks")
		delete(wants, "leaks_much")
	}
	files := map[string]string{
		"kernel.yaml": regexp.MustCompile(`values: .*`).ReplaceAllString(untidyFiles["kernel.yaml"],
			"values: [good, leaks, leaks_much, keeps, flushes, rounds], default: good}"),
		"reference.c": untidyFiles["reference.c"], "twice.c": lingering,
	}
	b := open(t, files, host.Options{})
	for mode, want := range wants {
		if spares(mode, "keeps", "leaks_much", "flushes") {
			continue
		}
		p := b.prepare(t, "MODE="+mode)
		if failure, err := b.Verify(t.Context(), p); failure != nil || err != nil {
			t.Errorf("%s: %v, %v", mode, failure, err)
		}
		if note := b.Tester.Note(p.Point); (note == "") != (want == "") || !strings.Contains(note, want) {
			t.Errorf("%s: noted %q, want %q", mode, note, want)
		}
		outcome, err := b.Sample(t.Context(), p, 1)
		if err != nil || outcome.Failure != nil || !strings.Contains(outcome.Evidence.Noted, want) {
			t.Errorf("%s: %+v, %v, %v", mode, outcome.Evidence, outcome.Failure, err)
		}
	}
}
