package includes

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// tree writes files below a folder and returns it.
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

func scan(dir string, flags ...string) ([]File, error) {
	scanner, err := Below(dir)
	if err != nil {
		return nil, err
	}
	scanner.Flags(flags)
	if err := scanner.Add("k.cu"); err != nil {
		return nil, err
	}
	return scanner.Files()
}

func filesOf(t *testing.T, dir string, flags ...string) []string {
	t.Helper()
	files, err := scan(dir, flags...)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	return names
}

func TestIncludesAreFollowed(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		flags []string
		want  []string
	}{
		"alone": {map[string]string{"k.cu": "int x;", "b.h": ""}, nil, []string{"k.cu"}},
		"quoted": {map[string]string{"k.cu": `#include "b.h"`, "b.h": `# include"c.h"`, "c.h": ""}, nil,
			[]string{"b.h", "c.h", "k.cu"}},
		"angle": {map[string]string{"k.cu": "#include <b.h>\n#include <cuda_fp16.h>", "b.h": ""}, nil,
			[]string{"b.h", "k.cu"}},
		"cycle": {map[string]string{"k.cu": `#include "b.h"`, "b.h": `#include "k.cu"`}, nil, []string{"b.h", "k.cu"}},
		"folders": {map[string]string{"k.cu": `#include "d/b.h"`, "d/b.h": `#include "c.h"`, "d/c.h": "", "c.h": ""},
			nil, []string{"c.h", "d/b.h", "d/c.h", "k.cu"}},
		"-I": {map[string]string{"k.cu": "#include <b.h>", "d/b.h": ""}, []string{"-Id"}, []string{"d/b.h", "k.cu"}},
		"-I apart": {
			map[string]string{"k.cu": "#include <b.h>", "d/b.h": ""},
			[]string{"-O3", "-I", "e,d"},
			[]string{"d/b.h", "k.cu"},
		},
		"long": {
			map[string]string{"k.cu": "#include <b.h>", "d/b.h": ""},
			[]string{"--include-path=d"},
			[]string{"d/b.h", "k.cu"},
		},
		"-include": {map[string]string{"k.cu": "", "b.h": ""}, []string{"-include", "b.h"}, []string{"b.h", "k.cu"}},
		"options": {
			map[string]string{"k.cu": "", "options": "-O1"},
			[]string{"--options-file=options"},
			[]string{"k.cu", "options"},
		},
		"spliced":    {map[string]string{"k.cu": "#inc\\\nlude \\\r\n \"b.h\"", "b.h": ""}, nil, []string{"b.h", "k.cu"}},
		"in comment": {map[string]string{"k.cu": "/* x */ #include \"b.h\"", "b.h": ""}, nil, []string{"b.h", "k.cu"}},
		"computed": {map[string]string{"k.cu": "#include HEADER", "b.h": "", "d/c.h": "", ".git/config": ""}, nil,
			[]string{"b.h", "d/c.h", "k.cu"}},
		"oddly": {map[string]string{
			"k.cu":  "#/* why */include \"b.h\"\n#embed \"t.bin\"\n\".incbin \\\"m.bin\\\"\"",
			"b.h":   "",
			"t.bin": "",
			"m.bin": "",
			"o.bin": "",
		}, nil, []string{"b.h", "k.cu", "m.bin", "t.bin"}},
		"output": {map[string]string{"k.cu": "#include HEADER", "table": "", "tuning/studies.db": "", "tuning/k.h": ""},
			nil, []string{"k.cu", "table"}},
		"folder": {map[string]string{"k.cu": `#include "d"`, "d/c.h": ""}, nil, []string{"k.cu"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := filesOf(t, tree(t, test.files), test.flags...)
			if !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func TestIncludesOutsideTheFolder(t *testing.T) {
	other := tree(t, map[string]string{"b.h": ""})
	dir := tree(t, map[string]string{"k.cu": "#include <b.h>"})
	want := []string{filepath.Join(other, "b.h"), "k.cu"}
	if got := filesOf(t, dir, "-isystem", other); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestAMissingSourceIsAnError(t *testing.T) {
	if files, err := scan(t.TempDir()); err == nil {
		t.Errorf("got %v", files)
	}
}

func TestInNeverLeavesTheFolder(t *testing.T) {
	dir := tree(t, map[string]string{"in/k.cu": "#include \"../b.h\"\n#include \"/b.h\"", "b.h": "", "in/c.h": ""})
	scanner := In(os.DirFS(filepath.Join(dir, "in")), nil)
	scanner.Flags([]string{"-I..", "-include", filepath.Join(dir, "b.h")})
	if err := scanner.Add("k.cu"); err != nil {
		t.Fatal(err)
	}
	if files, err := scanner.Files(); err != nil || len(files) != 1 {
		t.Errorf("got %v, %v", files, err)
	}
}

func FuzzIncludes(f *testing.F) {
	f.Add("#include \"b.h\"\n#include <c.h>\n#include X\n#inc\\\nlude \"\x00\"")
	dir := f.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "b.h"), []byte(`#include "k.cu"`), 0o644); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(filepath.Join(dir, "k.cu"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		files, err := scan(dir)
		if err != nil {
			t.Fatalf("no text may break the key: %v", err)
		}
		if len(files) == 0 || string(files[0].Content) != text {
			t.Error("the source itself is not among the files")
		}
	})
}
