package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl/internal/executable"
)

// written returns what a file holds after writes through an output.
func written(t *testing.T, texts ...string) string {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	o := &output{file: f}
	for _, text := range texts {
		if n, err := io.WriteString(o, text); err != nil || n != len(text) {
			t.Fatal(n, err)
		}
	}
	content, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestOutputIsText(t *testing.T) {
	for _, test := range []struct {
		name  string
		texts []string
		want  string
	}{
		{"our own lines stay", []string{"a: 1 µs\n", "  b\tc\n", "\n"}, "a: 1 µs\n  b\tc\n\n"},
		{"an escape sequence", []string{"failed: \x1b[31mred\x1b[0m\n"}, "failed: \\x1b[31mred\\x1b[0m\n"},
		{"a command on a line of its own", []string{"failed: x\n::error::y\n"}, "failed: x\n\\::error::y\n"},
		{"a command behind blanks", []string{"failed:\n \t::add-mask::y\n"}, "failed:\n \t\\::add-mask::y\n"},
		{"a command in a write of its own", []string{"x\n", "::error::y\n"}, "x\n\\::error::y\n"},
		{"two colons in the middle of a line", []string{"std", "::vector\n"}, "std::vector\n"},
		{"the title of the window", []string{"\x1b]0;x\x07"}, `\x1b]0;x\a`},
		{"a bar of another line", []string{"right\rwrong\n"}, "right\\rwrong\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := written(t, test.texts...); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// A compiler and a kernel that print what a terminal or GitHub would execute are
// quoted wherever they are printed.
func TestHostileWordsAreQuoted(t *testing.T) {
	const evil = "\x1b[2J\n::error::evil"
	dir := t.TempDir()
	if err := writeExamples(dir); err != nil {
		t.Fatal(err)
	}
	kernel := fmt.Sprintf("#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\nvoid scale(const float *x, float *y, int32_t N) {\n"+
		"\tfor (int i = 0; i < N; i++) y[i] = 2 * x[i];\n\tif (BLOCK == 1) { fputs(%q, stderr); abort(); }\n}\n", evil)
	compiler := "#!/bin/sh\ncase \"$*\" in *BLOCK=2*) printf 'x.c:1:1: error: " + strings.ReplaceAll(evil, "\n", `\n`) + "\\n' >&2; exit 1;; esac\nexec cc \"$@\"\n"
	for name, content := range map[string]string{"scale/scale.c": kernel, "evil-cc": compiler} {
		if err := executable.Write(filepath.Join(dir, name), content); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range []string{
		"tune scale --trials 6 --rounds 3 --sampler grid", "studies show", "report --json",
		"bench scale --at BLOCK=1", "bench scale --at BLOCK=2", "fuzz scale --at BLOCK=1", "gate scale",
	} {
		cmd := asPawl(t, dir, strings.Fields(line)...)
		cmd.Env = append(cmd.Env, "CC=./evil-cc")
		output, _ := cmd.CombinedOutput() // most of them rightly fail
		if strings.ContainsRune(string(output), '\x1b') || strings.Contains(string(output), "\n::") {
			t.Errorf("pawl %s printed\n%q", line, output)
		}
		if !strings.Contains(string(output), "evil") && !strings.Contains(string(output), `\x1b[2J`) {
			t.Errorf("pawl %s does not show what was said\n%s", line, output)
		}
	}
}
