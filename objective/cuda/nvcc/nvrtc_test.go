package nvcc

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pawl/internal/process"
	"pawl/objective/worker"
)

// brokenLibrary is a libnvrtc whose compilation does what its text says.
const brokenLibrary = `
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>
int nvrtcVersion(int *major, int *minor) { *major = 13; *minor = 0; return 0; }
const char *nvrtcGetErrorString(int code) { (void)code; return "NVRTC_ERROR_INTERNAL_ERROR"; }
int nvrtcCreateProgram(void **p, const char *s, const char *n, int c, void *h, void *i) { (void)s; (void)n; (void)c; (void)h; (void)i; *p = NULL; return 0; }
int nvrtcGetProgramLogSize(void *p, size_t *size) { (void)p; *size = 1; return 0; }
int nvrtcGetProgramLog(void *p, char *log) { (void)p; *log = 0; return 0; }
int nvrtcGetCUBINSize(void *p, size_t *size) { (void)p; *size = 0; return 0; }
int nvrtcGetCUBIN(void *p, char *cubin) { (void)p; (void)cubin; return 0; }
int nvrtcCompileProgram(void *p, int n, void *o) { (void)p; (void)n; (void)o; BEHAVIOUR; return 11; }
`

func brokenNVRTC(t *testing.T, behavior string) *Library {
	t.Helper()
	path := filepath.Join(t.TempDir(), "libnvrtc.so.13")
	cc := exec.Command("cc", "-x", "c", "-shared", "-fPIC", "-o", path, "-")
	cc.Stdin = strings.NewReader(strings.Replace(brokenLibrary, "BEHAVIOUR", behavior, 1))
	if output, err := cc.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	library, err := FindNVRTC(t.Context(), only(map[string]string{"NVRTC": path}))
	if err != nil {
		t.Fatal(err)
	}
	if library.Version() != "nvrtc 13.0" {
		t.Errorf("version %s", library.Version())
	}
	return library
}

// Whatever the library does to its process, it costs one compilation.
func TestBrokenNVRTCHarmsOnlyItsProcess(t *testing.T) {
	for name, test := range map[string]struct {
		behavior string
		refused  bool // and not an error of the machinery
		message  string
	}{
		"crashes":    {"*(volatile int *)8 = 1", true, "NVRTC itself crashed: SIGSEGV"},
		"aborts":     {"abort()", true, "NVRTC itself crashed: SIGABRT"},
		"exits":      {"_exit(0)", false, "without a cubin"},
		"complains":  {"", false, "NVRTC_ERROR_INTERNAL_ERROR"},
		"says 6":     {"return 6", true, "no reason"},
		"says 5":     {"return 5", false, "flags"},
		"no machine": {"return 0", false, "not a cubin"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := newCompiler(t, brokenNVRTC(t, test.behavior)).Compile(t.Context(), source(t, ""))
			var refused *worker.Refusal
			if err == nil || errors.As(err, &refused) != test.refused || !strings.Contains(err.Error(), test.message) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestHangingNVRTCIsKilled(t *testing.T) {
	c := newCompiler(t, brokenNVRTC(t, "for (;;) sleep(1000)"))
	c.options.Timeout = 100 * time.Millisecond
	if _, err := c.Compile(t.Context(), source(t, "")); !errors.Is(err, process.ErrTime) {
		t.Errorf("got %v", err)
	}
}

func TestRequestsAreChecked(t *testing.T) {
	if status, message := serve(strings.NewReader("garbage")); status != statusBroken || message == "" {
		t.Errorf("%d, %q", status, message)
	}
	if os.Getenv(libraryVariable) != "" {
		t.Error("this process is a compiler itself")
	}
}
