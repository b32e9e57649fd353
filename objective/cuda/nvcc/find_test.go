package nvcc

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl/internal/kerneltest"
)

// toolkit writes a toolkit whose nvcc prints a release, and returns its root.
func toolkit(t *testing.T, release string) string {
	t.Helper()
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\n" + strings.Replace(fakeVersion, "13.0.88", release, 1)
	if err := kerneltest.WriteProgram(filepath.Join(root, "bin", "nvcc"), script); err != nil {
		t.Fatal(err)
	}
	return root
}

func TestFindPrefersWhatTheUserNames(t *testing.T) {
	named, home, path, onPath := toolkit(t, "1.0.0"), toolkit(t, "2.0.0"), toolkit(t, "3.0.0"), toolkit(t, "4.0.0")
	variables := map[string]string{
		"NVCC": filepath.Join(named, "bin", "nvcc"), "CUDA_HOME": home, "CUDA_PATH": path,
		"NVCC_CCBIN": filepath.Join(named, "bin", "nvcc"), // anything that answers --version
		"PATH":       t.TempDir() + string(filepath.ListSeparator) + filepath.Join(onPath, "bin"),
	}
	for _, test := range []struct{ without, want string }{
		{"", "1.0.0"}, {"NVCC", "2.0.0"}, {"CUDA_HOME", "3.0.0"}, {"CUDA_PATH", "4.0.0"},
	} {
		delete(variables, test.without)
		tool, err := Find(t.Context(), only(variables))
		if err != nil {
			t.Fatal(err)
		}
		if tool.Version() != "nvcc "+test.want {
			t.Errorf("without %s: %s, want %s", test.without, tool.Version(), test.want)
		}
	}
}

func TestFindSaysWhatToDo(t *testing.T) {
	liar := toolkit(t, "none")
	if err := kerneltest.WriteProgram(filepath.Join(liar, "bin", "nvcc"), "#!/bin/sh\necho hello\n"); err != nil {
		t.Fatal(err)
	}
	good := filepath.Join(toolkit(t, "13.0.88"), "bin", "nvcc")
	for name, test := range map[string]struct {
		variables map[string]string
		want      error
		message   string
	}{
		"not there": {map[string]string{"NVCC": "/no/such/nvcc"}, ErrNoCompiler, "/no/such/nvcc"},
		"not nvcc":  {map[string]string{"NVCC": filepath.Join(liar, "bin", "nvcc")}, nil, "not nvcc"},
		"no gcc":    {map[string]string{"NVCC": good, "NVCC_CCBIN": "/no/such/gcc"}, ErrNoHostCompiler, "/no/such/gcc"},
	} {
		_, err := Find(t.Context(), only(test.variables))
		if err == nil || !strings.Contains(err.Error(), test.message) || (test.want != nil && !errors.Is(err, test.want)) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
