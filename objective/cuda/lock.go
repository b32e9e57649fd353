package cuda

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// gpuLock keeps other pawl processes of this machine off a GPU. It is a lock on
// a file named after the GPU, and it goes with the process, however that ends.
type gpuLock struct{ path string }

func newGPULock(dir, uuid string) gpuLock {
	return gpuLock{filepath.Join(dir, "pawl-"+uuid+".lock")}
}

const (
	lockInterval = 20 * time.Millisecond
	// patience is how long to wait before saying why nothing happens.
	patience = time.Second
)

// take waits for the lock. Waiting is called once if that takes long.
func (l gpuLock) take(ctx context.Context, waiting func()) (release func(), err error) {
	file, err := l.open()
	if err != nil {
		return nil, fmt.Errorf("locking the GPU: %w", err)
	}
	start, announced := time.Now(), false
	for {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return func() { file.Close() }, nil
		case !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR):
			file.Close()
			return nil, fmt.Errorf("locking the GPU: %w", err)
		}
		if !announced && time.Since(start) > patience {
			announced = true
			waiting()
		}
		select {
		case <-ctx.Done():
			file.Close()
			return nil, context.Cause(ctx)
		case <-time.After(lockInterval):
		}
	}
}

// open returns the lock's file. Reading is enough for a lock, and works on a file
// of another user; but asking to create what another user has made is refused in
// folders like /tmp, so that comes second.
func (l gpuLock) open() (*os.File, error) {
	file, err := os.Open(l.path)
	if !errors.Is(err, fs.ErrNotExist) {
		return file, err
	}
	return os.OpenFile(l.path, os.O_RDONLY|os.O_CREATE, 0o644)
}
