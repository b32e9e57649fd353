package cuda

import (
	"fmt"
	"os"
	"testing"

	"pawl/objective/worker"
)

// roleVariable makes the test binary something else than the tests.
const roleVariable = "PAWL_TEST_ROLE"

// roles are what the test binary can be beside the tests and a worker. The
// imaginary driver is found by the loader, which looks at its variable when a
// process starts: whoever opens the driver is a process of its own.
var roles = map[string]func() error{
	"nvcc":     fakeNVCC,
	"gpus":     printGPUs,
	"hold":     holdGPU,
	"trial":    hangInTrial,
	"point":    measurePoint,
	"support":  checkSupport,
	"platform": describePlatform,
}

func TestMain(m *testing.M) {
	worker.Main(map[string]func() worker.Device{DeviceName: NewDevice})
	// The race detector lets every process sleep a second before it ends.
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	if role, known := roles[os.Getenv(roleVariable)]; known {
		if err := role(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	code := m.Run()
	removeImaginary()
	os.Exit(code)
}
