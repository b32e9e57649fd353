package host

import (
	"strings"

	"github.com/ebitengine/purego"

	"pawl/objective/worker"
)

// effects find what a kernel leaves behind beside its results: what it has allocated, and how the
// processor computes afterwards.
type effects struct {
	mode, heap uintptr // functions of the support
	usual      uint64  // the mode before a kernel was loaded
}

// now is the mode at the moment.
func (e effects) now() uint64 {
	mode, _, _ := purego.SyscallN(e.mode)
	return uint64(mode)
}

// The bits of a mode: see pawl_mode.
const (
	flushes  = 1
	rounding = 3 << 1
)

// of adds to a result what is there after its launch.
func (e effects) of(result *worker.Result) {
	heap, _, _ := purego.SyscallN(e.heap)
	result.Heap = int64(heap)
	var changed []string
	differs := e.now() ^ e.usual
	if differs&flushes != 0 {
		changed = append(changed, "subnormal numbers are taken for zeros, as with -ffast-math")
	}
	if differs&rounding != 0 {
		changed = append(changed, "numbers are rounded in another way")
	}
	if differs&^(flushes|rounding) != 0 {
		changed = append(changed, "other exceptions trap, or the precision differs")
	}
	result.Mode = strings.Join(changed, "; ")
}
