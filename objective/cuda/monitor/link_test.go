//go:build linux && cgo

package monitor

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pawl/internal/thorough"
)

// TestProgramsStartWithoutTheLibrary links a program as distributions do that bind
// every symbol at the start, and runs it here, where there usually is no driver. It
// must reach main.
func TestProgramsStartWithoutTheLibrary(t *testing.T) {
	if testing.Short() {
		t.Skip("links programs")
	}
	for _, flags := range thorough.Some([][]string{
		{"-ldflags", "-linkmode external -extldflags '-Wl,-z,now'"},
		// With go-nvml, and the flag of the package comment. The toolchain's own -z now comes first on the command
		// line; the last one counts.
		{"-tags", "nvml", "-ldflags", "-linkmode external -extldflags '-Wl,-z,now -Wl,-z,lazy'"},
	}, 1) {
		program := filepath.Join(t.TempDir(), "program")
		arguments := append([]string{"build", "-o", program}, flags...)
		if output, err := exec.Command("go", append(arguments, "./testdata/unwatched")...).CombinedOutput(); err != nil {
			t.Fatalf("%q: linking: %v\n%s", flags, err, output)
		}
		output, err := exec.Command(program).CombinedOutput()
		if err != nil || !strings.HasPrefix(string(output), "main has run:") {
			t.Errorf("%q: %v\n%s", flags, err, output)
		}
	}
}
