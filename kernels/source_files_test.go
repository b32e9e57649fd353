package kernels

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// tree writes a folder of files.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const plainManifest = `name: scale
entry: scale
source: {host: scale.c, cuda: scale.cu}
reference: {host: reference.c}
params:
  BLOCK: {values: [1, 2], default: 1}
workloads:
  small: {N: 4}
args:
  - {name: y, type: f32, shape: [N], out: true}
`

func TestFilesOfAKernel(t *testing.T) {
	for _, test := range []struct {
		name  string
		flags string // more of the manifest
		files map[string]string
		want  []string // beside the manifest and reference.c
	}{
		{"neither results nor notes", "", map[string]string{
			"scale.c": "", "tuning/studies.db": "x", "tuning/scale_small.h": "x", "results/baseline.json": "{}",
			"notes.md": "see scale.c",
		}, []string{"scale.c"}},
		{"another backend's sources", "",
			map[string]string{"scale.c": "", "scale.cu": `#include "tile.cuh"`, "tile.cuh": ""},
			[]string{"scale.c", "scale.cu", "tile.cuh"}},
		{"includes of includes", "", map[string]string{
			"scale.c": "#include \"lib/a.h\"\n", "lib/a.h": " # include <b.h> /* a comment */\n",
			"lib/b.h": "#include \"../c.h\"\n", "c.h": "#include \"scale.c\"\n", "d.h": "",
		}, []string{"c.h", "lib/a.h", "lib/b.h", "scale.c"}},
		{"written oddly", "", map[string]string{
			"scale.c": "#\\\ninclude /* why */ \"a.h\"\n%:include <b.h>\n#embed \"table.bin\"\n__asm__(\".incbin " +
				"\\\"more.bin\\\"\");\n", "a.h": "", "b.h": "", "table.bin": "", "more.bin": "", "other.bin": "",
		}, []string{"a.h", "b.h", "more.bin", "scale.c", "table.bin"}},
		{"a macro may mean any source", "", map[string]string{
			"scale.c": "#include FILE\n", "one.h": "", "deep/two.inc": "", "notes.md": "", ".git/x.h": "",
			"tuning/studies.db": "", "tuning/scale_small.h": "",
		}, []string{"deep/two.inc", "one.h", "scale.c"}},
		{"what flags name", "flags: [-Ilib, -include, first.h, -imacros=second.h]\n", map[string]string{
			"scale.c": `#include "a.h"`, "lib/a.h": "", "first.h": "", "second.h": "", "lib/unused.h": "",
		}, []string{"first.h", "lib/a.h", "scale.c", "second.h"}},
		{"not there", "",
			map[string]string{"scale.c": "#include <math.h>\n#include \"missing.h\"\n#include \"/etc/hostname\"\n#include " +
				"\"../../x\"\n"}, []string{"scale.c"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.files["kernel.yaml"] = plainManifest + test.flags
			test.files["reference.c"] = ""
			k, err := Load(tree(t, test.files), Host)
			if err != nil {
				t.Fatal(err)
			}
			files, err := k.Files()
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, file := range files {
				got = append(got, file.Name)
			}
			slices.Sort(got)
			want := append([]string{"kernel.yaml", "reference.c"}, test.want...)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%q, not %q", got, want)
			}
		})
	}
}

// The folder of a kernel is where people work: what else lies there changes
// nothing, and a pipe that nobody writes to does not stop anything.
func TestDigestIgnoresWhatIsNotTheKernels(t *testing.T) {
	dir := tree(t,
		map[string]string{"kernel.yaml": plainManifest, "scale.c": "#include FILE\n", "reference.c": "", "tile.h": ""})
	digest := func() string {
		t.Helper()
		k, err := Load(dir, Host)
		if err != nil {
			t.Fatal(err)
		}
		text, err := k.Digest()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	before := digest()
	outside := tree(t, map[string]string{"secret.h": "x"})
	for name, make := range map[string]func(path string) error{
		"pipe.h":        func(path string) error { return syscall.Mkfifo(path, 0o644) },
		"away.h":        func(path string) error { return os.Symlink(filepath.Join(outside, "secret.h"), path) },
		".#scale.c":     func(path string) error { return os.Symlink("me@machine.1234:1700000000", path) },
		"round.h":       func(path string) error { return os.Symlink("round.h", path) },
		"unreadable.md": func(path string) error { return os.WriteFile(path, nil, 0) },
	} {
		if err := make(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		if got := digest(); got != before {
			t.Errorf("%s changes the digest", name)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "tile.h"), []byte("int x;"), 0o644); err != nil {
		t.Fatal(err)
	}
	if digest() == before {
		t.Error("a changed include leaves the digest as it was")
	}
}

func TestAPipeIsNoManifestAndNoSource(t *testing.T) {
	for _, name := range []string{"kernel.yaml", "scale.c", "reference.c"} {
		dir := tree(t, map[string]string{"kernel.yaml": plainManifest, "scale.c": "", "reference.c": ""})
		path := filepath.Join(dir, name)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(path, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(dir, Host); err == nil {
			t.Errorf("%s is a pipe and was accepted", name)
		}
	}
}

// All units for all backends, and what they find in folders of includes, belong to the kernel.
func TestUnitsAndFoldersOfIncludesBelongToTheKernel(t *testing.T) {
	k, err := Load("../docs/gallery/particles", Host)
	if err != nil {
		t.Fatal(err)
	}
	files, err := k.Files()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
	}
	want := []string{"force.c", "force.cu", "include/particle.h", "kernel.yaml", "move.c", "move.cu", "reference.c",
		"reference.cu"}
	if !slices.Equal(names, want) {
		t.Errorf("got %q", names)
	}
	depends, _, err := k.Depends()
	if err != nil || len(depends) != len(want) {
		t.Errorf("%d files, %v", len(depends), err)
	}
}
