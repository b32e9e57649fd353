package objective

import (
	"fmt"
	"os"
	"strings"

	"pawl/kernels"
)

// SourcesChangedError says that a kernel's sources are not what they were when it was loaded: what would be measured
// next is another kernel.
type SourcesChangedError struct {
	Kernel string
	// Folder is where the sources are, Gone that it is not there any more.
	Folder string
	Gone   bool
	// Files are those that changed, named relative to the folder where they are inside.
	Files []string
}

func (e *SourcesChangedError) Error() string {
	if e.Gone {
		return fmt.Sprintf("the folder of kernel %s, %s, was removed while it was measured", e.Kernel, e.Folder)
	}
	return fmt.Sprintf("the sources of kernel %s changed while it was measured (%s): what was measured before cannot be "+
		"compared with what would follow", e.Kernel, strings.Join(e.Files, ", "))
}

// sources are a kernel's files as they were when it was loaded.
type sources struct {
	kernel  *kernels.Kernel
	watched *kernels.Watched
	err     error // why nothing is known about them
}

func newSources(k *kernels.Kernel) *sources {
	s := &sources{kernel: k}
	s.watched, s.err = k.Watch()
	return s
}

// unchanged returns a *SourcesChangedError where a file is not what it was. It is called after whatever reads the
// files, so that nothing counts that may have read others.
func (s *sources) unchanged() error {
	if s.err != nil {
		return s.err
	}
	files := s.watched.Changed()
	if len(files) == 0 {
		return nil
	}
	_, gone := os.Stat(s.kernel.Dir)
	return &SourcesChangedError{Kernel: s.kernel.Name, Folder: s.kernel.Dir, Gone: gone != nil, Files: files}
}

// lateRead reports whether files are read after a point was compiled: a reference in Python, and answers in files.
func (s *sources) lateRead() bool { return s.kernel.PythonReference() || s.kernel.Answered() }
