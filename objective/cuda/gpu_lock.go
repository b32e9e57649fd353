package cuda

import (
	"context"
	"fmt"
	"path/filepath"

	"pawl/internal/page"
)

// gpuLock keeps other pawl processes of this machine off a GPU. It is a lock on
// a file named after the GPU, and it goes with the process, however that ends.
type gpuLock struct{ path string }

func newGPULock(dir, uuid string) gpuLock {
	return gpuLock{filepath.Join(dir, "pawl-"+uuid+".lock")}
}

// take waits for the lock. Waiting is called once if that takes long.
func (l gpuLock) take(ctx context.Context, waiting func()) (release func(), err error) {
	file, err := page.Hold(ctx, l.path, waiting)
	if err != nil {
		return nil, fmt.Errorf("locking the GPU: %w", err)
	}
	return func() { file.Close() }, nil
}
