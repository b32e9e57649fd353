package objective

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"pawl/internal/process"
	"pawl/objective/check"
)

// EndedPawl is the reason of a point that is not tried any more.
const EndedPawl = "pawl ended while it ran"

// mostEnds is how often in a row pawl may end while a point runs. Once it may have been killed by somebody else. Where
// kernels are confined they cannot reach pawl, and it takes many kills.
func mostEnds() int {
	if process.Confines() == nil {
		return 25
	}
	return 2
}

// startedPattern are the names of notes beside a compiled kernel, each of which somebody holds locked
// as long as it runs there.
const startedPattern = "started-*"

// endedPawl is the error of a kernel that does not run any more.
type endedPawl struct {
	times int
	notes string
}

func (e *endedPawl) Error() string {
	return fmt.Sprintf("%d times; remove %s to try it again", e.times, e.notes)
}

// noteStart notes, beside its file, that a compiled kernel is about to run in this process's care, until
// ended is called. A note that nobody holds is of a process that ended meanwhile: with enough of them
// the kernel has failed, and does not run. Where no note can be written nothing is known.
func noteStart(m check.Module) (ended func(), err error) {
	folder := filepath.Dir(m.Path)
	pattern := filepath.Join(folder, startedPattern)
	var left []string
	notes, _ := filepath.Glob(pattern) // a pattern that is right
	for _, path := range notes {
		if file := lockNote(os.Open(path)); file != nil {
			file.Close()
			left = append(left, path)
		}
	}
	if len(left) >= mostEnds() {
		return nil, &endedPawl{len(left), pattern}
	}
	note := lockNote(os.CreateTemp(folder, startedPattern))
	if note == nil {
		return func() {}, nil
	}
	return func() {
		for _, path := range append(left, note.Name()) { // it has run to its end now
			_ = os.Remove(path)
		}
		note.Close()
	}, nil
}

// lockNote returns a note that nobody else holds, locked; else nil.
func lockNote(file *os.File, err error) *os.File {
	if err != nil {
		return nil
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		file.Close()
		return nil
	}
	return file
}
