//go:build linux && cgo

package monitor

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestProgramsStartWithoutTheLibrary links a program as distributions do that bind
// every symbol at the start, and runs it here, where there usually is no driver. It
// must reach main.
func TestProgramsStartWithoutTheLibrary(t *testing.T) {
	if testing.Short() {
		t.Skip("links programs")
	}
	for name, flags := range map[string][]string{
		"as usual": {"-ldflags", "-linkmode external -extldflags '-Wl,-z,now'"},
		// The toolchain's own -z now comes first on the command line; the last one counts.
		"go-nvml, with the flag of the package comment": {"-tags", "nvml", "-ldflags",
			"-linkmode external -extldflags '-Wl,-z,now -Wl,-z,lazy'"},
	} {
		program := filepath.Join(t.TempDir(), "program")
		arguments := append([]string{"build", "-o", program}, flags...)
		if output, err := exec.Command("go", append(arguments, "./testdata/unwatched")...).CombinedOutput(); err != nil {
			t.Fatalf("%s: linking: %v\n%s", name, err, output)
		}
		output, err := exec.Command(program).CombinedOutput()
		if err != nil || !strings.HasPrefix(string(output), "main has run:") {
			t.Errorf("%s: %v\n%s", name, err, output)
		}
	}
}
