package baseline

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestMain lets the test binary stand for other gates: with the variable set it adds
// entries to a baseline, one at a time.
func TestMain(m *testing.M) {
	path := os.Getenv("PAWL_TEST_BASELINE")
	if path == "" {
		os.Exit(m.Run())
	}
	for i := range perProcess {
		err := Update(path, func(f *File) error {
			f.Put(example(fmt.Sprintf("kernel-%d-%d", os.Getpid(), i), 2))
			return nil
		})
		if err == nil {
			err = AppendHistory(HistoryPath(path), []Event{{Key: example("any", 1).Key}})
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

const perProcess = 10

// Several processes change one baseline at the same time, and nothing is lost. A lock
// that a killed one left behind is in nobody's way.
func TestGatesAtTheSameTimeLoseNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results", "baseline.json")
	if err := New().WriteResults(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".lock", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	const processes = 6
	var wg sync.WaitGroup
	for range processes {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "PAWL_TEST_BASELINE="+path)
			if output, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, output)
			}
		})
	}
	wg.Wait()
	f, err := Read(path)
	if err != nil || len(f.Entries) != processes*perProcess {
		t.Errorf("%d entries of %d, %v", len(f.Entries), processes*perProcess, err)
	}
	events, damaged, err := ReadHistory(HistoryPath(path))
	if err != nil || len(events) != processes*perProcess || damaged > 0 {
		t.Errorf("%d events, %d damaged, %v", len(events), damaged, err)
	}
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(files) != 2 {
		t.Errorf("left behind: %v, %v", files, err)
	}
}

// An error in the change writes nothing.
func TestAChangeThatFailsWritesNothing(t *testing.T) {
	path := written(t)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	err = Update(path, func(f *File) error {
		f.Put(example("another", 1))
		return fmt.Errorf("no")
	})
	if after, _ := os.ReadFile(path); err == nil || !strings.Contains(err.Error(), "no") ||
		string(after) != string(before) {
		t.Errorf("%v", err)
	}
}
