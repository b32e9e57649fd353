//go:build !linux

package monitor

import (
	"fmt"
	"runtime"
)

// load has nothing to load: the management library is used on Linux only.
func load(string) (library, error) {
	return nil, unavailable(fmt.Errorf("watching a GPU is not supported on %s", runtime.GOOS))
}
