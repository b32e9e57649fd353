package studies

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// ErrBusy says that another process is running the study.
var ErrBusy = errors.New("another pawl process is running this study")

// Lock makes this process the only one that runs a study. The lock is a byte
// of a file beside the database, and it goes with the process, however that
// ends.
func (s *Store) Lock(study int64) (unlock func(), err error) {
	file, err := os.OpenFile(s.path+".lock", os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("locking study %d: %w", study, err)
	}
	region := unix.Flock_t{Type: unix.F_WRLCK, Whence: 0, Start: study, Len: 1}
	if err := unix.FcntlFlock(file.Fd(), lockCommand, &region); err != nil {
		file.Close()
		if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
			return nil, fmt.Errorf("study %d: %w", study, ErrBusy)
		}
		return nil, fmt.Errorf("locking study %d: %w", study, err)
	}
	return func() { file.Close() }, nil
}
