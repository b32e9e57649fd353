package kernels

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A kernel is judged by the rules of another one, whatever its own manifest says: the reference with
// what it includes, the tolerance, the shapes; its own code and parameters stay.
func TestJudgedBy(t *testing.T) {
	const manifest = `name: scale
entry: scale
source: {host: kernel.c}
reference: {host: reference.c}
params:
  BLOCK: {values: [1, 2], default: 1}
host: {flags: ["-DX=1"]}
workloads: {small: {N: 16}}
args:
  - {name: x, type: f32, shape: [N]}
  - {name: y, type: f32, shape: [N], out: true}
  - {name: N, type: i32, value: N}
fuzz: {N: [1, 7]}
tolerance: {atol: 1e-6, rtol: 1e-6}
`
	load := func(change func(map[string]string)) *Kernel {
		t.Helper()
		files := map[string]string{
			ManifestName: manifest, "kernel.c": "// the kernel\n", "reference.c": "#include \"factor.h\"\n",
			"factor.h": "#define FACTOR 2\n",
		}
		change(files)
		folder := t.TempDir()
		for name, content := range files {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		k, err := Load(folder, Host)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	base := load(func(map[string]string) {})
	edit := func(file, from, to string) func(map[string]string) {
		return func(files map[string]string) { files[file] = strings.Replace(files[file], from, to, 1) }
	}
	for name, c := range map[string]struct {
		change func(map[string]string)
		judged bool
		want   []string
	}{
		"nothing":            {func(map[string]string) {}, false, nil},
		"the source":         {edit("kernel.c", "the", "a faster"), false, nil},
		"a parameter":        {edit(ManifestName, "default: 1", "default: 2"), false, nil},
		"another workload":   {edit(ManifestName, "N: 16}", "N: 16}, large: {N: 99}"), false, nil},
		"a wider tolerance":  {edit(ManifestName, "atol: 1e-6", "atol: 0.999"), true, []string{"tolerance"}},
		"in a section":       {edit(ManifestName, `["-DX=1"]`, `["-DX=1"], tolerance: {atol: 0.5, rtol: 0.5}`), true, []string{"tolerance"}},
		"fewer shapes":       {edit(ManifestName, "[1, 7]", "[1]"), true, []string{"fuzz"}},
		"other sizes":        {edit(ManifestName, "N: 16", "N: 1"), true, []string{"workloads"}},
		"the reference":      {edit("reference.c", "factor", "./factor"), true, []string{"reference"}},
		"what that includes": {edit("factor.h", "2", "0"), true, nil},
	} {
		k := load(c.change)
		files, changed, err := k.JudgedBy(base, k.Dir, base.Dir)
		if err != nil || (len(files) > 0) != c.judged || !slices.Equal(changed, c.want) {
			t.Errorf("%s: %d files, %v, %v", name, len(files), changed, err)
		}
		if !c.judged {
			continue
		}
		folder := t.TempDir()
		for _, f := range files {
			path := filepath.Join(folder, f.Name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, f.Content, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		k, err = Load(folder, Host)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		factor, err := os.ReadFile(filepath.Join(folder, rulesFolder, "factor.h"))
		if err != nil || string(factor) != "#define FACTOR 2\n" || k.Tolerance != base.Tolerance ||
			!slices.Equal(k.Fuzz["N"], base.Fuzz["N"]) || k.Workloads[0].Dims["N"] != 16 || k.Flags[len(k.Flags)-1] != "-DX=1" {
			t.Errorf("%s: %+v, %v", name, k, err)
		}
	}
}
