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

func openEffects(support uintptr) (e effects, err error) {
	if e.mode, err = purego.Dlsym(support, "pawl_mode"); err != nil {
		return e, err
	}
	if e.heap, err = purego.Dlsym(support, "pawl_heap"); err != nil {
		return e, err
	}
	usual, _, _ := purego.SyscallN(e.mode)
	e.usual = uint64(usual)
	return e, nil
}

// The bits of a mode: see pawl_mode.
const (
	flushes  = 1
	rounding = 3 << 1
)

// of adds to a result what is there after its launch.
func (e effects) of(result *worker.Result) {
	heap, _, _ := purego.SyscallN(e.heap)
	mode, _, _ := purego.SyscallN(e.mode)
	result.Heap = int64(heap)
	var changed []string
	if differs := uint64(mode) ^ e.usual; differs != 0 {
		if differs&flushes != 0 {
			changed = append(changed, "subnormal numbers are taken for zeros, as with -ffast-math")
		}
		if differs&rounding != 0 {
			changed = append(changed, "numbers are rounded in another way")
		}
		if differs&^(flushes|rounding) != 0 {
			changed = append(changed, "other exceptions trap, or the precision differs")
		}
	}
	result.Mode = strings.Join(changed, "; ")
}
