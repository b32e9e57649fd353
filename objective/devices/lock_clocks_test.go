package devices

import (
	"context"
	"testing"

	"pawl/kernels"
	"pawl/objective/platform"
)

// locks is a device whose clocks can be held.
type locks struct {
	platform.Installation
	restored int
}

func (l *locks) LockClocks(context.Context, int) func() { return func() { l.restored++ } }

func TestClocksAreRestoredOnce(t *testing.T) {
	l := &locks{}
	m := &Machine{installed: map[string]platform.Installation{kernels.CUDA: l}}
	restore := m.LockClocks(t.Context(), &kernels.Kernel{Backend: kernels.CUDA}, 1500, nil)
	restore()
	restore()
	if l.restored != 1 {
		t.Errorf("restored %d times", l.restored)
	}
}
