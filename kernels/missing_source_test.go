package kernels

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file that is named and not there is said in a person's words.
func TestAMissingSource(t *testing.T) {
	dir := t.TempDir()
	manifest := "name: a\nentry: a\nsource: {host: a.c}\nreference: {host: b.c}\nparams:\n" +
		"  B: {values: [1, 2], default: 1}\nworkloads:\n  w: {N: 4}\nargs:\n  - {name: x, type: f32, shape: [N]}\n" +
		"  - {name: y, type: f32, shape: [N], out: true}\n"
	if err := os.WriteFile(filepath.Join(dir, ManifestName), []byte(manifest), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir, Host); err == nil || !strings.HasSuffix(err.Error(), `.c": no such file or directory`) {
		t.Errorf("%v", err)
	}
}
