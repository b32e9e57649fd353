package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"pawl/internal/kerneltest"
)

// A compiler and a kernel that print what a terminal or GitHub would execute are
// quoted wherever they are printed.
func TestHostileWordsAreQuoted(t *testing.T) {
	t.Parallel()
	const evil = "\x1b[2J\n::error::evil"
	dir := t.TempDir()
	if err := writeExamples(dir); err != nil {
		t.Fatal(err)
	}
	kernel := fmt.Sprintf("#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\nvoid scale(const float *x, "+
		"float *y, int32_t N) {\n"+
		"\tfor (int i = 0; i < N; i++) y[i] = 2 * x[i];\n\tif (BLOCK == 1) { fputs(%q, stderr); abort(); }\n}\n", evil)
	compiler := "#!/bin/sh\ncase \"$*\" in *BLOCK=2*) printf 'x.c:1:1: error: " + strings.ReplaceAll(evil, "\n", `\n`) +
		"\\n' >&2; exit 1;; esac\nexec cc \"$@\"\n"
	for name, content := range map[string]string{"scale/scale.c": kernel, "evil-cc": compiler} {
		if err := kerneltest.WriteProgram(filepath.Join(dir, name), content); err != nil {
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
