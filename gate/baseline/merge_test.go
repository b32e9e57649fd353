package baseline

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// gitIn runs git in a folder, apart from the user's own settings.
func gitIn(t *testing.T, dir string, arguments ...string) (string, error) {
	t.Helper()
	cmd := exec.Command("git",
		append([]string{"-c", "user.name=Tester", "-c", "user.email=tester@example.com"}, arguments...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "GIT_CONFIG_NOSYSTEM=1")
	output, err := cmd.CombinedOutput()
	return string(output), err
}

// Two branches that move different entries, one of them by an acceptance, are merged by
// git alone, and what comes out is whole.
func TestGitMergesDifferentEntries(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "baseline.json")
	must := func(arguments ...string) {
		t.Helper()
		if output, err := gitIn(t, dir, arguments...); err != nil {
			t.Fatalf("git %v: %v: %s", arguments, err, output)
		}
	}
	change := func(message string, change func(*File)) {
		t.Helper()
		if err := Update(path, func(f *File) error { change(f); return nil }); err != nil {
			t.Fatal(err)
		}
		must("add", "baseline.json")
		must("commit", "-q", "-m", message)
	}
	at := func(kernel string, median float64, source string) Entry {
		e := example(kernel, median)
		e.Source, e.Archive = source, "archive of "+source
		e.Measured = time.Date(2026, 8, int(100*median)%28+1, 0, 0, 0, 0, time.UTC)
		return e
	}
	must("init", "-q", "-b", "main")
	change("first", func(f *File) {
		for _, kernel := range []string{"add", "matmul", "scale"} {
			f.Put(at(kernel, 2, kernel+" 1"))
		}
	})
	must("checkout", "-q", "-b", "theirs")
	change("matmul is faster", func(f *File) { f.Put(at("matmul", 1.5, "matmul 2")) })
	must("checkout", "-q", "main")
	change("add is slower", func(f *File) {
		f.Accept(at("add", 2.05, "add 2"),
			Acceptance{Reason: "more precise", Time: time.Date(2026, 8, 9, 0, 0, 0, 0, time.UTC)})
	})
	must("merge", "-q", "--no-edit", "theirs")

	f, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	for kernel, median := range map[string]float64{"add": 2.05, "matmul": 1.5, "scale": 2} {
		if e, _ := f.Find(at(kernel, 1, "").Key); e.Median != median || e.Archive != "archive of "+e.Source {
			t.Errorf("%s: %v, %q", kernel, e.Median, e.Archive)
		}
	}
	if add := f.of(at("add", 1, "").Key); add.Best == nil || add.Best.Median != 2 || len(add.Accepted) != 1 {
		t.Errorf("%+v", add)
	}

	// Both move the same entry: git alone reports a conflict.
	must("checkout", "-q", "-b", "also")
	change("scale is faster", func(f *File) { f.Put(at("scale", 1.8, "scale 2")) })
	must("checkout", "-q", "main")
	change("scale is faster still", func(f *File) { f.Put(at("scale", 1.7, "scale 3")) })
	if output, err := gitIn(t, dir, "merge", "-q", "--no-edit", "also"); err == nil ||
		!strings.Contains(output, "CONFLICT") {
		t.Errorf("%v: %s", err, output)
	}
}

func TestMerge(t *testing.T) {
	file := func(change func(*File)) *File {
		f := New()
		f.Put(example("scale", 2))
		if change != nil {
			change(f)
		}
		return f
	}
	base := file(nil)
	key := example("scale", 2).Key
	accepted := func(median float64, release bool) func(*File) {
		return func(f *File) {
			e := example("scale", median)
			e.Source, e.Archive = "accepted", "text"
			f.Accept(e, Acceptance{Reason: "more precise", Release: release})
		}
	}
	faster := func(f *File) { f.Put(example("scale", 1.5)) }
	for name, c := range map[string]struct {
		ours, theirs *File
		median, best float64
		trail        int
		chosen       bool
	}{
		"neither moved":      {file(nil), file(nil), 2, 0, 0, false},
		"ours moved":         {file(faster), file(nil), 1.5, 0, 0, false},
		"theirs is accepted": {file(nil), file(accepted(2.1, false)), 2.1, 2, 1, false},
		"theirs a release":   {file(nil), file(accepted(3, true)), 3, 0, 1, false},
		"a loss and a gain":  {file(accepted(2.1, false)), file(faster), 1.5, 0, 1, true},
		"two losses":         {file(accepted(2.1, false)), file(accepted(2.2, false)), 2.1, 2, 2, true},
		"ours is removed":    {New(), file(nil), 0, 0, 0, false},
		"theirs is removed":  {file(nil), New(), 0, 0, 0, false},
		"both are removed":   {New(), New(), 0, 0, 0, false},
		"removed, and moved": {New(), file(faster), 1.5, 0, 0, false},
	} {
		merged, chosen := Merge(base, c.ours, c.theirs)
		var e Baseline
		if found := merged.of(key); found != nil {
			e = *found
		}
		best, _ := merged.FindBest(key)
		if e.Median != c.median || best.Median != c.best || len(e.Accepted) != c.trail || (len(chosen) == 1) != c.chosen {
			t.Errorf("%s: %v, best %v, %d acceptances, %v", name, e.Median, best.Median, len(e.Accepted), chosen)
		}
		if e.Source == "accepted" && e.Archive != "text" {
			t.Errorf("%s: its sources are lost", name)
		}
	}
	both, _ := Merge(New(), file(nil), func() *File { f := New(); f.Put(example("add", 1)); return f }())
	if len(both.Entries) != 2 || both.Entries[0].Kernel != "add" {
		t.Errorf("%+v", both.Entries)
	}
}

// A gain binds when another build has shown it, to the smaller of both; the same build again says
// nothing, and a merge keeps what is provisional.
func TestAGainIsProvisional(t *testing.T) {
	gain := func(binary string, median, share float64) Entry {
		e := example("scale", median)
		e.Source, e.Binary, e.Gain, e.Archive = binary, binary, share, "archive of "+binary
		return e
	}
	f := New()
	f.Put(example("scale", 2))
	key := example("scale", 2).Key
	was, _ := Merge(f, f, f)
	for range 2 {
		if f.Gained(gain("lucky", 1.5, 0.25)) {
			t.Error("one build binds")
		}
	}
	text, err := f.Text()
	if err != nil {
		t.Fatal(err)
	}
	if f, err = Parse("f", text); err != nil {
		t.Fatal(err)
	}
	merged, _ := Merge(was, f, was)
	if e, _ := merged.Latest(key); e.Archive != "archive of lucky" || merged.of(key).Median != 2 {
		t.Errorf("%+v", merged)
	}
	if !merged.Gained(gain("usual", 1.8, 0.1)) {
		t.Error("two builds do not bind")
	}
	if e, _ := merged.Find(key); e.Binary != "usual" || e.Gain != 0 || merged.of(key).Provisional != nil {
		t.Errorf("%+v", merged)
	}
	merged.Gained(gain("usual", 1.8, 0.2))
	if !merged.Gained(gain("faster still", 0.9, 0.6)) {
		t.Error("two builds do not bind")
	}
	if e, _ := merged.Latest(key); e.Binary != "faster still" || e.Gain < 0.49 || e.Gain > 0.51 ||
		e.Archive != "archive of faster still" {
		t.Errorf("%+v", merged)
	}
	if f.Lost(key); f.of(key).Provisional != nil {
		t.Errorf("%+v", f)
	}
}
