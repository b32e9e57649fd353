package cuda

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl/objective"
)

func TestFindSanitizer(t *testing.T) {
	place := func(folder string) string {
		root := t.TempDir()
		dir := filepath.Join(root, folder)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, sanitizerProgram), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		return root
	}
	path, bin, own := place(""), place("bin"), place("compute-sanitizer")
	for name, test := range map[string]struct {
		variables map[string]string
		want      string
	}{
		"path":       {map[string]string{"PATH": t.TempDir() + ":" + path, "CUDA_HOME": bin}, path},
		"toolkit":    {map[string]string{"CUDA_HOME": bin}, filepath.Join(bin, "bin")},
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
			if !strings.HasPrefix(under, filepath.Join(test.want, sanitizerProgram)+" --tool "+tool) || !strings.Contains(tools[i].Name, tool) || tools[i].Slowdown < 2 {
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
