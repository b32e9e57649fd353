package preflight

import (
	"io"
	"os"
	"path/filepath"
	"time"

	"pawl/internal/escape"
	"pawl/internal/page"
)

// fileName is that of a report, in the folder of its kernel and workload.
const fileName = "preflight.json"

// JSON writes the report for programs.
func (r *Report) JSON(w io.Writer) error { return page.JSON(w, "pawl check", 1, r) }

// Write keeps a report below the folder of the studies and returns the file's path.
func (r *Report) Write(out string) (string, error) {
	path := filepath.Join(out, escape.FileName(r.Kernel), escape.FileName(r.Workload), fileName)
	return path, page.WriteFile(path, r.JSON)
}

// Kept is a report that was written, and when.
type Kept struct {
	Report
	When time.Time
}

// ReadAll returns the reports below the folder of the studies, by kernel and workload. Files that
// are none are left out: the folder holds other people's files, too.
func ReadAll(out string) []Kept {
	var all []Kept
	paths, _ := filepath.Glob(filepath.Join(out, "*", "*", fileName)) // the pattern is well formed
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		kept := Kept{When: info.ModTime()}
		text, err := os.ReadFile(path)
		if err == nil && page.ReadJSON(text, "pawl check", 1, &kept.Report) == nil && len(kept.Steps) > 0 {
			all = append(all, kept)
		}
	}
	return all
}
