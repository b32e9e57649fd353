package ci

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pawl/gate/baseline"
	"pawl/internal/kerneltest"
)

// publication is that of every test.
func publication() Publication {
	return Publication{Baseline: "results/baseline.json", Branch: "main", Pause: time.Millisecond}
}

// scratch is a bare remote and a clone of it.
type scratch struct {
	*testing.T
	remote, work string
}

// start makes a repository whose main has two entries, and goes into a clone of it.
func start(t *testing.T) *scratch {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	s := &scratch{t, filepath.Join(home, "remote.git"), ""}
	s.git(home, "init", "--quiet", "--bare", "-b", "main", s.remote)
	s.work = s.clone("work")
	s.write("kernels/k.c", "first")
	s.write(".gitignore", "results/*\n!results/baseline.json\n")
	s.move("a", 2, "b", 3)
	s.happened(1, "first")
	s.git(s.work, "checkout", "--quiet", "-b", "main")
	s.git(s.work, "add", "--force", ".")
	s.git(s.work, "commit", "--quiet", "-m", "first")
	s.git(s.work, "push", "--quiet", "origin", "main")
	t.Chdir(s.work)
	return s
}

func (s *scratch) clone(name string) string {
	s.Helper()
	folder := filepath.Join(filepath.Dir(s.remote), name)
	s.git(filepath.Dir(s.remote), "clone", "--quiet", s.remote, folder)
	return folder
}

func (s *scratch) git(folder string, arguments ...string) string {
	s.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=T", "-c", "user.email=t@example.org"}, arguments...)...)
	cmd.Dir = folder
	output, err := cmd.CombinedOutput()
	if err != nil {
		s.Fatalf("git %v: %v\n%s", arguments, err, output)
	}
	return strings.TrimSpace(string(output))
}

func (s *scratch) write(name, text string) {
	s.Helper()
	path := filepath.Join(s.work, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), kerneltest.WriteProgram(path, text)); err != nil {
		s.Fatal(err)
	}
}

// entry is a measured kernel.
func entry(kernel string, median float64) baseline.Entry {
	return baseline.Entry{
		Key: baseline.Key{Device: "D", Kernel: kernel, Workload: "small", Type: "f32"}, Origin: kernel, Dims: "N=1",
		Point: "B=1",
		Figures: baseline.Figures{Median: median, P50: median, P95: median, P99: median,
			Samples: baseline.Samples{{median}}},
		Measured: clock(int(1000 * median)),
	}
}

func clock(second int) time.Time {
	return time.Date(2026, 11, 16, 3, 0, 0, 0, time.UTC).Add(time.Duration(second) * time.Second)
}

// move makes kernels' times the baseline of the clone.
func (s *scratch) move(pairs ...any) {
	s.Helper()
	err := baseline.Update(filepath.Join(s.work, "results/baseline.json"), func(f *baseline.File) error {
		for i := 0; i < len(pairs); i += 2 {
			median, ok := pairs[i+1].(float64)
			if !ok {
				median = float64(pairs[i+1].(int))
			}
			f.Put(entry(pairs[i].(string), median))
		}
		return nil
	})
	if err != nil {
		s.Fatal(err)
	}
}

// happened adds a line to the history of the clone.
func (s *scratch) happened(second int, reason string) {
	s.Helper()
	err := baseline.AppendHistory(filepath.Join(s.work, "results/history.jsonl"),
		[]baseline.Event{{Time: clock(second), Key: entry("a", 1).Key, Reason: reason}})
	if err != nil {
		s.Fatal(err)
	}
}

// rival pushes an entry and a line from another clone.
func (s *scratch) rival(second int, pairs ...any) string {
	s.Helper()
	other := &scratch{s.T, s.remote, s.clone(fmt.Sprint("rival", second))}
	other.move(pairs...)
	other.happened(second, "rival")
	other.git(other.work, "commit", "--quiet", "-a", "-m", "rival")
	return other.work
}

// program puts a script before git; $real is git itself, and $command the first word that
// is no option.
func (s *scratch) program(script string) {
	s.Helper()
	real, err := exec.LookPath("git")
	if err != nil {
		s.Fatal(err)
	}
	folder := s.TempDir()
	text := fmt.Sprintf("#!/bin/sh\nreal=%s\ncommand=\nfor word; do case $word in push|fetch|ls-remote|commit-tree) "+
		"command=$word;; esac; done\n%s\nexec $real \"$@\"\n", real, script)
	if err := kerneltest.WriteProgram(filepath.Join(folder, "git"), text); err != nil {
		s.Fatal(err)
	}
	s.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// hook is a script that the remote runs.
func (s *scratch) hook(name, script string) {
	s.Helper()
	if err := kerneltest.WriteProgram(filepath.Join(s.remote, "hooks", name), "#!/bin/sh\n"+script+"\n"); err != nil {
		s.Fatal(err)
	}
}

// medians are what main of the remote has now.
func (s *scratch) medians() map[string]float64 {
	s.Helper()
	f, err := baseline.Parse("remote", []byte(s.git(s.remote, "show", "main:results/baseline.json")))
	if err != nil {
		s.Fatal(err)
	}
	all := map[string]float64{}
	for _, e := range f.Entries {
		all[e.Kernel] = e.Median
	}
	return all
}

// reasons are those of the history on main of the remote.
func (s *scratch) reasons() (all []string) {
	s.Helper()
	path := filepath.Join(s.TempDir(), "history")
	if err := os.WriteFile(path, []byte(s.git(s.remote, "show", "main:results/history.jsonl")+"\n"), 0o644); err != nil {
		s.Fatal(err)
	}
	events, damaged, err := baseline.ReadHistory(path)
	if err != nil || damaged > 0 {
		s.Fatalf("%d damaged, %v", damaged, err)
	}
	for _, e := range events {
		all = append(all, e.Reason)
	}
	return all
}

func (s *scratch) commits() int {
	s.Helper()
	return len(strings.Fields(s.git(s.remote, "rev-list", "main")))
}
