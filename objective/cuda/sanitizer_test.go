package cuda

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pawl/internal/executable"
	"pawl/objective"
	"pawl/objective/worker"
)

func TestFindSanitizer(t *testing.T) {
	place := func(folder string) string {
		root := t.TempDir()
		dir := filepath.Join(root, folder)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := executable.Write(filepath.Join(dir, sanitizerProgram), "#!/bin/sh\n"); err != nil {
			t.Fatal(err)
		}
		return root
	}
	path, bin, own := place(""), place("bin"), place("compute-sanitizer")
	for name, test := range map[string]struct {
		variables map[string]string
		want      string
	}{
		"path":       {map[string]string{"PATH": t.TempDir() + ":" + path}, path},
		"toolkit":    {map[string]string{"PATH": path, "CUDA_HOME": bin}, filepath.Join(bin, "bin")},
		"own folder": {map[string]string{"CUDA_PATH": own}, filepath.Join(own, "compute-sanitizer")},
	} {
		getenv := func(name string) string { return test.variables[name] }
		b := &Backend{options: Options{Getenv: getenv}}
		tools, err := b.Sanitized(t.Context())
		if err != nil || len(tools) != 4 {
			t.Errorf("%s: %v, %v", name, tools, err)
			continue
		}
		for i, tool := range []string{"memcheck", "racecheck", "initcheck", "synccheck"} {
			under := strings.Join(tools[i].Backend.(*Backend).under, " ")
			if !strings.HasPrefix(under, filepath.Join(test.want, sanitizerProgram)+" --tool "+tool) ||
				!strings.Contains(tools[i].Name, tool) || tools[i].Slowdown < 2 {
				t.Errorf("%s: %+v under %s", name, tools[i], under)
			}
		}
		if b.under != nil {
			t.Error("the backend itself runs under the tool")
		}
	}
}

func TestNoSanitizerIsSaid(t *testing.T) {
	if _, err := os.Stat("/usr/local/cuda"); err == nil {
		t.Skip("this machine has a toolkit where nobody names one")
	}
	_, err := findSanitizer(func(string) string { return "" })
	if !errors.Is(err, objective.ErrNoSanitizer) || !strings.Contains(err.Error(), "install") {
		t.Errorf("got %v", err)
	}
}

// rigUnder is a rig whose workers run under a tool in a folder: it runs its command
// line, as compute-sanitizer does, and then some shell.
func rigUnder(t *testing.T, home, shell string) *rig {
	t.Helper()
	script := "#!/bin/sh\nwhile [ \"${1#-}\" != \"$1\" ]; do shift 2; done\n\"$@\"\n" + shell + "\n"
	if err := executable.Write(filepath.Join(home, sanitizerProgram), script); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, settings{})
	r.backend.options.Getenv = func(name string) string { return map[string]string{"PATH": home}[name] }
	tools, err := r.backend.Sanitized(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r.backend = tools[0].Backend.(*Backend)
	return r
}

// A whole case under a tool that runs the worker: the protocol gets through, a
// finding is the kernel's fault at that case, and the next case has a new worker.
func TestCaseUnderATool(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ says, want string }{
		"clean":   {"========= ERROR SUMMARY: 0 errors", ""},
		"finding": {"========= Invalid __shared__ read of size 16 bytes", "Invalid __shared__ read"},
	} {
		t.Run(name, func(t *testing.T) {
			r := rigUnder(t, t.TempDir(), "echo '"+test.says+"'")
			p := r.prepare("")
			for range 2 {
				found, err := r.Tester.Try(t.Context(), p, slices.Values(r.Tester.QuickCases(p.Point)[:1]), nil)
				switch {
				case err != nil || found.Checked != 1:
					t.Errorf("%+v, %v", found, err)
				case test.want == "" && found.Failure != nil:
					t.Error(found.Failure)
				case test.want != "" &&
					(found.Failure == nil || found.Failure.Reason != string(worker.SanitizerFinding) ||
						!strings.Contains(found.Failure.Detail, test.want)):
					t.Errorf("got %v", found.Failure)
				}
			}
		})
	}
}

// A tool that reports at the end of the process only cannot say which case it was:
// they are tried again one by one.
func TestToolThatReportsAtTheEnd(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	processes := filepath.Join(home, "processes")
	// The fourth process is the one that runs the third case alone.
	r := rigUnder(t, home, "echo x >> "+processes+"\ncase $(wc -l < "+processes+") in "+
		"1|4) echo '========= RACECHECK SUMMARY: 1 hazard displayed';; "+
		"*) echo '========= RACECHECK SUMMARY: 0 hazards displayed';; esac")
	p := r.prepare("")
	cases := r.Tester.QuickCases(p.Point)
	found, err := r.Tester.Try(t.Context(), p, slices.Values(cases), nil)
	if err != nil || found.Failure == nil || found.Failure.Reason != string(worker.SanitizerFinding) {
		t.Fatalf("%+v, %v", found, err)
	}
	if found.Checked != 3 || found.Case.String() != cases[2].String() {
		t.Errorf("blamed %s after %d cases, want %s", found.Case, found.Checked, cases[2])
	}
}
