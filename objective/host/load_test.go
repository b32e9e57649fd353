package host_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pawl/objective"
	"pawl/objective/host"
)

// unloadable is code that cannot be linked or loaded, by its parameter.
const unloadable = `
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#if MODE == 1
float scale_by(float); /* nobody defines it */
#elif MODE == 2
extern float factor;
#define scale_by(x) ((x) * factor)
#elif MODE == 3
static __thread volatile char large[1 << 26] __attribute__((tls_model("initial-exec")));
static float scale_by(float x) { large[(int)x] = 1; return x; }
#elif MODE == 4
static void wrong(void) __attribute__((constructor));
static void wrong(void) { *(volatile int *)8 = 1; }
#elif MODE == 5
static void wrong(void) __attribute__((constructor));
static void wrong(void) { exit(0); }
#elif MODE == 6
static void wrong(void) __attribute__((constructor));
static void wrong(void) { for (;;) sleep(1000); }
#elif MODE == 7
static void (*choose(void))(void) { abort(); }
void chosen(void) __attribute__((ifunc("choose")));
#define scale_by(x) (chosen(), (x))
#elif MODE == 8
#define add another_name
#endif
#if MODE == 0 || MODE >= 4 && MODE <= 6 || MODE == 8
#define scale_by(x) (x)
#endif
void add(const float *a, const float *b, float *c, int32_t N) {
	for (int i = 0; i < N; i++) c[i] = scale_by(a[i] + b[i]);
}
#undef add
`

var unloadableFiles = map[string]string{
	"kernel.yaml": strings.Replace(strings.Replace(addManifest,
		`good, crash, divide, aborts, exits, hangs, overrun, underrun, overread, flood, child, escaped, tampers, zeros, unwritten, stale, chatty, overflow_stack, scribbles, closes, nonsense, "1; touch pwned"`,
		"0, 1, 2, 3, 4, 5, 6, 7, 8", 1), "default: good", "default: 0", 1),
	"add.c": unloadable, "reference.c": addReference,
}

// A point whose code does not link, or does not load, or dies while it is loaded,
// fails; the next one is measured.
func TestWhatCannotBeLoadedFailsThePoint(t *testing.T) {
	b := open(t, unloadableFiles, host.Options{})
	for _, test := range []struct {
		mode, reason, detail string
		stage                objective.Stage
	}{
		{"1", objective.CompileError, "scale_by", objective.Compile},
		{"2", objective.CompileError, "factor", objective.Compile},
		{"3", "cannot be loaded", "TLS", objective.Fuzz},
		{"4", "crashed", "SIGSEGV", objective.Fuzz},
		{"5", "exited", "status 0", objective.Fuzz},
		{"6", "hung", "", objective.Fuzz},
		{"7", "aborted", "", objective.Fuzz},
		{"8", objective.CompileError, "add", objective.Compile},
	} {
		if spares(test.mode, "2", "5", "7") { // one that is undefined, and constructors that end it otherwise
			continue
		}
		measuring := b
		if test.reason == "hung" {
			measuring = b.hurried(t)
		}
		outcome := measuring.measure(t, "MODE="+test.mode, 0)
		if f := outcome.Failure; f == nil || f.Stage != test.stage || f.Reason != test.reason ||
			!strings.Contains(f.Detail, test.detail) {
			t.Errorf("mode %s: %v, not %s: %s with %q", test.mode, f, test.stage, test.reason, test.detail)
		}
	}
	if outcome := b.measure(t, "MODE=0", 0); outcome.Failure != nil {
		t.Errorf("the right one: %v", outcome.Failure)
	}
}

// A library that is there when the kernel is linked and gone when it is loaded.
func TestAMissingLibraryFailsThePoint(t *testing.T) {
	libraries := t.TempDir()
	library := filepath.Join(libraries, "libgone.so")
	build := exec.Command("cc", "-shared", "-fPIC", "-o", library, "-x", "c", "-")
	build.Stdin = strings.NewReader("float factor = 1;")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	files := map[string]string{"add.c": unloadable, "reference.c": addReference}
	files["kernel.yaml"] = unloadableFiles["kernel.yaml"] + "flags: [-L" + libraries +
		", \"-Wl,--no-as-needed\", -lgone]\n"
	b := open(t, files, host.Options{})
	prepared, err := b.Prepare(t.Context(), b.at(t, "MODE=0"))
	if err != nil || prepared.Failure != nil {
		t.Fatal(err, prepared.Failure)
	}
	if err := os.Remove(library); err != nil {
		t.Fatal(err)
	}
	outcome, err := b.Measure(t.Context(), prepared, 0)
	if err != nil {
		t.Fatal(err)
	}
	if f := outcome.Failure; f == nil || f.Reason != "cannot be loaded" || !strings.Contains(f.Detail, "libgone.so") {
		t.Errorf("%v", f)
	}
}
