package check

import (
	"fmt"
	"os"

	"pawl/internal/process"
	"pawl/kernels"
	"pawl/objective/cache"
)

// Module is the file of a compiled kernel; Support is loaded beside it by devices that
// need one. File and SupportFile are the digests of their bytes. Functions are those of a launch,
// in order; none where they are called as the manifest says.
type Module struct {
	Path        string             `json:"-"`
	Support     string             `json:"-"`
	File        string             `json:"-"`
	SupportFile string             `json:"-"`
	Functions   []kernels.Function `json:"functions,omitempty"`
}

// Access returns an access that has the module's files, and no others of the compile cache: answers lie there too.
func (m Module) Access(a *process.Access) *process.Access { return a.Reading(m.Path, m.Support) }

// Damage is the error of a compiled file that is not what was compiled.
type Damage struct {
	Path, What string
	// Used says that it was what was compiled before a worker used it, Gone that it was removed.
	Used, Gone bool
}

func (d *Damage) Error() string {
	return fmt.Sprintf("the compiled file %s %s: find out who writes to the compile cache", d.Path, d.What)
}

// Damaged returns what happened to a module's files, nil where they are what was compiled: what is
// checked, what is timed and what is suggested must be the same machine code. It is called before a
// worker loads them and again after they were last used. A damaged file is removed, so that it is
// compiled again, whatever the compile cache says of it.
func (m Module) Damaged(used bool) error {
	for path, digest := range map[string]string{m.Path: m.File, m.Support: m.SupportFile} {
		if path == "" || digest == "" {
			continue
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return &Damage{path, "is gone", used, true}
		}
		if found := cache.Digest(content); found != digest {
			_ = os.Remove(path) // where that fails, compiling it again says so
			return &Damage{path,
				fmt.Sprintf("was changed: its digest is %.12s, that of what was compiled %.12s", found, digest), used, false}
		}
	}
	return nil
}
