package host_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"pawl/objective"
	"pawl/objective/host"
)

// killedVariable names a compile cache, for a process that measures a kernel until it is killed.
const killedVariable = "PAWL_TEST_KILLED"

// A point that pawl has ended with again and again is not run any more. What somebody else may have killed is, and
// after that it is forgotten.
func TestAPointThatEndsPawlIsSkipped(t *testing.T) {
	place := os.Getenv(killedVariable)
	child := place != ""
	if !child {
		place = t.TempDir()
	}
	b := open(t, addFiles, host.Options{Cache: openCache(t, place)})
	if child {
		b.measure(t, "MODE=hangs", 0)
		return
	}
	b = b.hurried(t)
	notes := filepath.Join(filepath.Dir(b.prepare(t, "MODE=hangs").Binary.Path), "started-*")
	end := func() {
		killed := exec.Command(os.Args[0], "-test.run=^TestAPointThatEndsPawlIsSkipped$")
		killed.Env = append(os.Environ(), killedVariable+"="+place, "TMPDIR="+t.TempDir())
		if err := killed.Start(); err != nil {
			t.Fatal(err)
		}
		for begun := time.Now(); count(notes) == 0; time.Sleep(time.Millisecond) {
			if time.Since(begun) > time.Minute {
				t.Fatal("it never ran")
			}
		}
		if err := killed.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = killed.Wait() // it was killed
	}
	end()
	if f := b.measure(t, "MODE=hangs", 0).Failure; f == nil || f.Reason != "hung" || count(notes) > 0 {
		t.Errorf("after one end: %v, %d notes", f, count(notes))
	}
	end()
	for count(notes) < 25 { // what a killed process leaves
		note, err := os.CreateTemp(filepath.Dir(notes), "started-*")
		if err != nil {
			t.Fatal(err)
		}
		note.Close()
	}
	if f := b.measure(t, "MODE=hangs", 0).Failure; f == nil || f.Reason != objective.EndedPawl {
		t.Errorf("after many: %v", f)
	}
	if f := b.measure(t, "MODE=good", 0).Failure; f != nil {
		t.Errorf("another point: %v", f)
	}
}

func count(pattern string) int {
	found, _ := filepath.Glob(pattern)
	return len(found)
}
