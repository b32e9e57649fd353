package report

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pawl/studies"
)

// The command that a page names for applying a winner is one that is not refused for what the page knows.
func TestApplyingNamesWhatIsMissing(t *testing.T) {
	s := &Summary{Study: studies.Study{ID: 7}, Suggestion: &Suggestion{}, Across: &Across{Workloads: []AcrossWorkload{
		{Workload: "large", Result: AcrossUnmeasured},
	}}}
	if got := s.applying(); got != "pawl studies across 7 && pawl apply 7 --manifest" {
		t.Error(got)
	}
	s.Suggestion.Header = "k.h"
	if got := s.applying(); got != "pawl apply 7" {
		t.Error(got)
	}
}

// What no header can say is not suggested, and the page says so.
func TestValueThatNoHeaderHolds(t *testing.T) {
	study, initial, winner := hostileStudy(t, "a /* b")
	folder := t.TempDir()
	s := confirmed(t, study, initial, winner)
	files, err := WriteAll(folder, s)
	if err != nil || s.Suggestion != nil || len(files.Written) != 3 {
		t.Fatalf("%+v, %v, %v", s.Suggestion, files, err)
	}
	content, err := os.ReadFile(filepath.Join(folder, MarkdownName))
	if err != nil || !strings.Contains(string(content), "cannot stand in a header") {
		t.Errorf("%v\n%s", err, content)
	}
}

// Two headers in one file are an error, not a mixture; the same one twice is none.
func TestTwoHeadersDoNotMix(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for _, name := range []string{"first", "second"} {
		study, initial, winner := hostileStudy(t, name)
		study.Kernel = name
		if _, err := WriteAll(folder, confirmed(t, study, initial, winner)); err != nil {
			t.Fatal(err)
		}
	}
	compile := func(source string, flags ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "cc", append(flags, "-fsyntax-only", "-x", "c", "-")...)
		cmd.Dir, cmd.Stdin = folder, strings.NewReader(source)
		output, err := cmd.CombinedOutput()
		return string(output), err
	}
	const first, second = "#include \"first_small.h\"\n", "#include \"second_small.h\"\n"
	if output, err := compile(first + first + "int MODE;\n"); err != nil {
		t.Errorf("the same header twice: %v\n%s", err, output)
	}
	for name, try := range map[string]func() (string, error){
		"two headers":      func() (string, error) { return compile(first + second) },
		"a define as well": func() (string, error) { return compile(first, "-DMODE=other") },
	} {
		if output, err := try(); err == nil || !strings.Contains(output, "MODE is defined before") {
			t.Errorf("%s: %v\n%s", name, err, output)
		}
	}
}

// A record or a study with the name of a path stays in its folder.
func TestNamesStayInTheFolder(t *testing.T) {
	for _, name := range []string{"../../x", "/etc/x", "..", "a/b", "x\x00y", strings.Repeat("n", 300)} {
		study, initial, winner := hostileStudy(t, "b")
		study.Kernel, study.Workload = name, name
		parent := t.TempDir()
		folder := filepath.Join(parent, "one", "two")
		files, err := WriteAll(folder, confirmed(t, study, initial, winner))
		if err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		for _, path := range files.Written {
			if filepath.Dir(path) != folder {
				t.Errorf("%q is written to %s", name, path)
			}
		}
		if entries, err := os.ReadDir(parent); err != nil || len(entries) != 1 {
			t.Errorf("%q: %v beside the folder, %v", name, entries, err)
		}
	}
}

// A verdict below apply leaves no header, not even an older study's, and no
// instructions; a file that we did not write stays.
func TestNothingToApplyLeavesNoHeader(t *testing.T) {
	folder := t.TempDir()
	good, noise := summary(t, examplePast(t, 10, 1)), summary(t, examplePast(t, 10, 0.04))
	if _, err := WriteAll(folder, good); err != nil {
		t.Fatal(err)
	}
	header := filepath.Join(folder, headerName(good.Study))
	if noise.Advice.Verdict != Keep || noise.Evidence == nil {
		t.Fatalf("verdict %q", noise.Advice.Verdict)
	}
	files, err := WriteAll(folder, noise)
	if err != nil || files.Removed != header {
		t.Errorf("removed %q, %v", files.Removed, err)
	}
	if _, err := os.Stat(header); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the header of the earlier study is still there: %v", err)
	}
	for _, name := range []string{MarkdownName, HTMLName} {
		content, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil || strings.Contains(string(content), "Apply it") || strings.Contains(string(content), "-D") {
			t.Errorf("%s says how to apply noise (%v)", name, err)
		}
	}
	if err := os.WriteFile(header, []byte("/* mine */\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if files, err = WriteAll(folder, noise); err != nil || files.Removed != "" {
		t.Errorf("removed %q, which pawl did not write (%v)", files.Removed, err)
	}
}

// A replay writes no header, whatever its record says about compilers.
func TestReplaySuggestsNoCommand(t *testing.T) {
	study, initial, winner := hostileStudy(t, "b")
	study.Backend = "replay"
	study.Environment.Build.Compiler = []string{"sh", "-c", "touch evil"}
	if s := confirmed(t, study, initial, winner); s.Suggestion != nil ||
		!strings.Contains(Withheld(s), "Nothing was compiled here") || action(s) != "nothing" {
		t.Errorf("%+v, %s", s.Suggestion, action(s))
	}
}
