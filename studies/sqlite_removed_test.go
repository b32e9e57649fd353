package studies

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl/search/trial"
)

// Somebody removes the folder, or the file, or puts another one there while a study is recorded: it
// is noticed at the next record, what was recorded before is kept, and can be renamed to where it was.
func TestWhatARemovedFileHadIsKept(t *testing.T) {
	for name, remove := range map[string]func(path string) error{
		"folder":   func(path string) error { return os.RemoveAll(filepath.Dir(path)) },
		"file":     os.Remove,
		"replaced": func(path string) error { return os.Rename(path+".other", path) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "out", "studies.db")
			store, err := Open(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			id, err := store.Create(t.Context(), exampleStudy())
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path+".other", []byte("x"), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := remove(path); err != nil {
				t.Fatal(err)
			}
			for range 2 { // said again, done once
				err = store.Finish(t.Context(), id, trial.Conclusion{Ended: trial.TrialsDone})
				if err == nil ||
					!strings.Contains(err.Error(),
						"was removed or replaced while it was in use; what was recorded is at "+path+".rescued-") {
					t.Fatalf("got %v", err)
				}
			}
			kept, err := filepath.Glob(path + ".rescued-*")
			if err != nil || len(kept) != 1 {
				t.Fatalf("kept %v, %v", kept, err)
			}
			store.Close() // as the process does that says so
			if err := os.Rename(kept[0], path); err != nil {
				t.Fatal(err)
			}
			again, err := OpenExisting(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			defer again.Close()
			if study, err := again.Study(t.Context(), id); err != nil || study.Kernel != "k" || study.Ended != "" {
				t.Errorf("got %+v, %v", study, err)
			}
		})
	}
}
