package kernels

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pawl/kernels/document"
	"pawl/space"
)

const good = `name: scale
summary: y = a * x
entry: scale
source: {host: scale.c, cuda: scale.cu}
reference: {host: reference.c, cuda: reference.cu}
params:
  BLOCK: {values: [64, 16, 32], default: 32}
  MODE: {values: [plain, unrolled], default: plain}
  FAST: {values: [false, true], default: false}
let:
  TILES: cdiv(N, BLOCK)
  BYTES: 4 * N
constraints:
  - "BLOCK <= N"
  - TILES > 0
workloads:
  small: {N: 100}
  large: {N: 100000}
args:
  - {name: x, type: f32, shape: [N], fill: uniform}
  - {name: y, type: f32, shape: [N], out: true, align: 64}
  - {name: a, type: f32, value: "1 / sqrt(N)"}
  - {name: n, type: i32, value: N}
fuzz: {N: [1, 7, 100]}
tolerance: {atol: 1e-6, rtol: 0}
launch: {grid: [TILES], block: [BLOCK], shared: BYTES, threads: 1}
work: {flops: N, bytes: 2 * BYTES}
flags: [-O2]
host:
  flags: [-O3]
`

func TestManifest(t *testing.T) {
	k, err := parse("kernel.yaml", []byte(good), Host)
	if err != nil {
		t.Fatal(err)
	}
	if k.Source != "scale.c" || k.Flags[0] != "-O3" || len(k.Workloads) != 2 || k.Workloads[0].Name != "small" {
		t.Errorf("%+v", k)
	}
	w, err := k.Workload("")
	if err != nil {
		t.Fatal(err)
	}
	s, err := k.Space(w)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Default().String(); got != "BLOCK=32,FAST=false,MODE=plain" {
		t.Errorf("default %s", got)
	}
	bindings, err := k.Bind(w.Dims)
	if err != nil {
		t.Fatal(err)
	}
	if bindings[0].Count != 100 || bindings[1].Align != 64 || bindings[2].Value != 0.1 || bindings[3].Integer != 100 {
		t.Errorf("%+v", bindings)
	}
	cuda, err := parse("kernel.yaml", []byte(good), CUDA)
	if err != nil || cuda.Source != "scale.cu" || cuda.Flags[0] != "-O2" {
		t.Errorf("%+v, %v", cuda, err)
	}
}

// No kernel is built without optimization unless its manifest says so.
func TestFlagsOptimizeUnlessTheySayOtherwise(t *testing.T) {
	for _, test := range []struct{ flags, host, cuda string }{
		{"", "-O2", "-O3"},
		{"flags:", "-O2", "-O3"},
		{"flags: []", "-O2", "-O3"},
		{"flags: [-march=native, -Wall]", "-O2 -march=native -Wall", "-O3 -march=native -Wall"},
		{"flags: [-O0]", "-O0", "-O0"},
		{"flags: [-g, -Ofast]", "-g -Ofast", "-g -Ofast"},
		{"flags: [-O]", "-O", "-O"},
		{"flags: [--optimize=1]", "--optimize=1", "--optimize=1"},
		{"flags: [-G]", "-G", "-G"},
		{"flags: [-Xlinker, -O1]", "-O2 -Xlinker -O1", "-O3 -Xlinker -O1"},
		{"flags: [-Xptxas=-v, -O1]", "-Xptxas=-v -O1", "-Xptxas=-v -O1"},
		{"flags: [-DLEVEL=-O0, -GNU]", "-O2 -DLEVEL=-O0 -GNU", "-O3 -DLEVEL=-O0 -GNU"},
		{"flags: [-O1]\ncuda: {flags: []}", "-O1", "-O3"},
		{"flags: [-O1]\nhost: {flags: [-g]}", "-O2 -g", "-O1"},
	} {
		text := strings.Replace(good, "flags: [-O2]\nhost:\n  flags: [-O3]\n", test.flags+"\n", 1)
		for backend, want := range map[string]string{Host: test.host, CUDA: test.cuda} {
			k, err := parse("kernel.yaml", []byte(text), backend)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(k.Flags, " "); got != want {
				t.Errorf("%q for %s: %s, want %s", test.flags, backend, got, want)
			}
		}
	}
}

// A parameter in braces stands for its value; what nothing is left of is left out.
func TestParametersInFlags(t *testing.T) {
	with := func(flags string) (*Kernel, error) {
		return parse("kernel.yaml",
			[]byte(strings.Replace(good, "flags: [-O2]\nhost:\n  flags: [-O3]\n", "flags: "+flags+"\n", 1)), Host)
	}
	k, err := with(`["-O{FAST}", "--block={BLOCK}x{BLOCK}", "{MODE}", "-DX={}", "{1}"]`)
	if err != nil {
		t.Fatal(err)
	}
	point, err := k.Default().With("MODE", space.TextValue(""))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(FlagsAt(k.Flags, point), " "), "-O0 --block=32x32 -DX={} {1}"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if point, err = point.With("MODE", space.TextValue("-g -fPIC")); err != nil {
		t.Fatal(err)
	}
	if got := FlagsAt(k.Flags, point); len(got) != 6 || got[2] != "-g" || got[3] != "-fPIC" {
		t.Errorf("%q: a value of two flags", got)
	}
	for flags, want := range map[string]string{
		`["-O{LEVEL}"]`:            "there is no parameter LEVEL",
		`["-I{MODE}"]`:             "cannot choose what is included",
		`[-include, "{MODE}"]`:     "cannot choose what is included",
		`[-O1, "-isystem{BLOCK}"]`: "cannot choose what is included",
	} {
		if _, err := with(flags); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "kernel.yaml:") {
			t.Errorf("%s: %v", flags, err)
		}
	}
}

func TestOrderIsGuessedUnlessItIsSaid(t *testing.T) {
	for values, want := range map[string]bool{
		"values: [1, 2, 4], default: 1":                 true,
		"values: [1, 2, 4], default: 1, ordered: false": false,
		"values: [0, 1, 2], default: 0":                 false,
		"values: [0, 1, 2], default: 0, ordered: true":  true,
	} {
		k := parsed(t, "values: [plain, unrolled], default: plain", values)
		s, err := k.Space(k.Workloads[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range s.Params() {
			if p.Name == "MODE" && p.Ordered != want {
				t.Errorf("%s: ordered %t", values, p.Ordered)
			}
		}
	}
}

func TestManifestMistakesSayWhere(t *testing.T) {
	for _, test := range []struct {
		name, old, new string
		line, column   int
		message        string
	}{
		{"unknown key", "entry: scale", "entri: scale", 3, 1, "entri"},
		{"unknown key inside", "default: 32}", "defualt: 32}", 7, 33, "defualt"},
		{"undeclared name", `"BLOCK <= N"`, `"BLOCK <= Q"`, 14, 15, "Q is not declared"},
		{"ill typed", `"BLOCK <= N"`, `"BLOCK <= MODE"`, 14, 12, "mismatched types"},
		{"not a condition", `"BLOCK <= N"`, `"BLOCK + N"`, 14, 6, "bool"},
		{"syntax", `"BLOCK <= N"`, `"BLOCK <="`, 14, 0, "unexpected"},
		{"division by zero", "TILES > 0", "N / (BLOCK - 32) > 0", 15, 5, "division by zero"},
		{"contradiction", `"BLOCK <= N"`, `"BLOCK > 64"`, 14, 5, "default point"},
		{"default", "default: 32}", "default: 48}", 7, 3, "not among its values"},
		{"fraction", "[64, 16, 32]", "[64, 1.5, 32]", 11, 18, "cannot use string"},
		{"mixed", "[plain, unrolled]", "[plain, 3]", 8, 3, "mixes"},
		{"negative size", "{N: 100}", "{N: -1}", 17, 14, "not negative"},
		{"other dimensions", "{N: 100000}", "{M: 100000}", 18, 3, "dimensions"},
		{"type", "type: f32, shape: [N], fill", "type: f99, shape: [N], fill", 20, 12, "unknown type"},
		{"fill", "fill: uniform", "fill: bananas", 20, 44, "unknown fill"},
		{"no output", ", out: true", "", 20, 12, "no result to check"},
		{"parameter in a shape", "shape: [N], fill", "shape: [BLOCK], fill", 20, 34, "BLOCK is a parameter"},
		{"float for an integer", "value: N}", `value: "1 / sqrt(N)"}`, 23, 34, "an integer"},
		{"align", "align: 64", "align: 48", 21, 0, "power of two"},
		{"fuzz dimension", "fuzz: {N:", "fuzz: {M:", 24, 8, "not a dimension"},
		{"tolerance", "atol: 1e-6, rtol: 0", "atol: 1e-6", 1, 1, "both atol and rtol"},
		{"backend", "source: {host:", "source: {metal:", 4, 10, "unknown backend"},
		{"no reference", "reference: {host: reference.c,", "reference: {", 1, 1, "reference is missing"},
		{"name", "name: scale", `name: "../scale"`, 1, 7, "letters"},
		{"entry", "entry: scale", `entry: "f();g"`, 3, 8, "not a function name"},
		{"given twice", "  MODE: {values: [plain, unrolled], default: plain}",
			"  BLOCK: {values: [plain, unrolled], default: plain}", 8, 3, ""},
		{"clash", "workloads:\n  small: {N: 100}\n  large: {N: 100000}", "workloads:\n  small: {N: 100, BLOCK: 2}", 7, 3,
			"both a dimension"},
	} {
		t.Run(test.name, func(t *testing.T) {
			content := strings.Replace(good, test.old, test.new, 1)
			if content == good {
				t.Fatal("the test changes nothing")
			}
			_, err := parse("kernel.yaml", []byte(content), Host)
			var located *document.Error
			if !errors.As(err, &located) {
				t.Fatalf("got %v", err)
			}
			if !strings.Contains(located.Message, test.message) {
				t.Errorf("message %q, want %q", located.Message, test.message)
			}
			if located.Line != test.line || (test.column > 0 && located.Column != test.column) {
				t.Errorf("at %d:%d, want %d:%d\n%v", located.Line, located.Column, test.line, test.column, err)
			}
			if located.Excerpt != strings.Split(content, "\n")[located.Line-1] {
				t.Errorf("excerpt %q", located.Excerpt)
			}
		})
	}
}

func TestCircularDefinitions(t *testing.T) {
	content := strings.Replace(good, "BYTES: 4 * N", "BYTES: 4 * TWICE\n  TWICE: 2 * BYTES", 1)
	_, err := parse("kernel.yaml", []byte(content), Host)
	if err == nil || !strings.Contains(err.Error(), "in a circle") || !strings.Contains(err.Error(), "kernel.yaml:12:") {
		t.Errorf("got %v", err)
	}
}

func TestErrorShowsTheLine(t *testing.T) {
	_, err := parse("k/kernel.yaml", []byte(strings.Replace(good, `"BLOCK <= N"`, `"BLOCK <= Q"`, 1)), Host)
	want := "k/kernel.yaml:14:15: expression \"BLOCK <= Q\": Q is not declared; there are BLOCK, FAST, MODE, N, BYTES, " +
		"TILES\n" +
		"   14 |   - \"BLOCK <= Q\"\n" +
		"                      ^"
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func TestLoadFromAFolder(t *testing.T) {
	write := func(t *testing.T, dir string, files map[string]string) {
		t.Helper()
		for name, content := range files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	files := map[string]string{"kernel.yaml": good, "scale.c": "", "reference.c": ""}
	t.Run("good", func(t *testing.T) {
		dir := t.TempDir()
		write(t, dir, files)
		k, err := Load(dir, Host)
		if err != nil || !filepath.IsAbs(k.Dir) {
			t.Fatalf("%+v, %v", k, err)
		}
	})
	t.Run("no source for the backend", func(t *testing.T) {
		dir := t.TempDir()
		write(t, dir,
			map[string]string{"kernel.yaml": strings.Replace(good, ", cuda: scale.cu", "", 1), "scale.c": "", "reference.c": ""})
		var missing *NoSourceError
		if _, err := Load(dir, CUDA); !errors.As(err, &missing) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("path out of the folder", func(t *testing.T) {
		dir := t.TempDir()
		write(t, dir,
			map[string]string{"kernel.yaml": strings.Replace(good, "scale.c,", "../scale.c,", 1), "reference.c": ""})
		if _, err := Load(dir, Host); err == nil || !strings.Contains(err.Error(), "leaves the kernel's folder") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("link out of the folder", func(t *testing.T) {
		dir, outside := t.TempDir(), t.TempDir()
		write(t, dir, map[string]string{"kernel.yaml": good, "reference.c": ""})
		write(t, outside, map[string]string{"scale.c": ""})
		if err := os.Symlink(filepath.Join(outside, "scale.c"), filepath.Join(dir, "scale.c")); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(dir, Host); err == nil {
			t.Error("a link out of the folder was followed")
		}
	})
	t.Run("missing file", func(t *testing.T) {
		dir := t.TempDir()
		write(t, dir, map[string]string{"kernel.yaml": good, "reference.c": ""})
		if _, err := Load(dir, Host); err == nil || !strings.Contains(err.Error(), "scale.c") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("nothing there", func(t *testing.T) {
		var missing *NotFoundError
		if _, err := Load(t.TempDir(), Host); !errors.As(err, &missing) {
			t.Errorf("got %v", err)
		}
	})
}

func TestEmbeddedKernels(t *testing.T) {
	for _, name := range Names() {
		backend := Host
		if !slices.Contains(namesFor(Host), name) {
			backend = CUDA
		}
		k, err := Load(name, backend)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		parent := t.TempDir()
		dir, err := k.Materialise(parent)
		if err != nil {
			t.Fatal(err)
		}
		source := filepath.Join(dir, k.Source)
		if err := os.WriteFile(source, []byte("tampered"), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := k.Materialise(parent); err != nil {
			t.Fatal(err)
		}
		if content, _ := os.ReadFile(source); string(content) == "tampered" {
			t.Errorf("%s: a tampered copy was used", name)
		}
		for _, w := range k.Workloads {
			if _, err := k.Space(w); err != nil {
				t.Error(err)
			}
		}
	}
}

func FuzzManifest(f *testing.F) {
	f.Add(good)
	f.Add("name: x")
	f.Add("params: {A: {values: [1, 2], default: 1}}")
	f.Add("? [a]\n: b")
	f.Add("a: &x [*x]")
	f.Fuzz(func(t *testing.T, content string) {
		slow := time.AfterFunc(5*time.Second, func() { panic(fmt.Sprintf("still parsing %q", content)) })
		defer slow.Stop()
		k, err := parse("kernel.yaml", []byte(content), Host)
		if err != nil {
			_ = err.Error()
			return
		}
		for _, w := range k.Workloads {
			if _, err := k.Bind(w.Dims); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestArchitectureThatAKernelNeeds(t *testing.T) {
	for value, want := range map[string]string{
		"true":     "true ",
		"false":    "false ",
		"sm_90a":   "true sm_90a",
		"sm_90":    "",
		"yes":      "",
		"[sm_90a]": "",
	} {
		k, err := parse("kernel.yaml", []byte(good+"arch_specific: "+value+"\n"), CUDA)
		if err != nil {
			if want != "" || (value == "yes" && !strings.Contains(err.Error(), "such as sm_90a")) {
				t.Errorf("%s: %v", value, err)
			}
			continue
		}
		if got := fmt.Sprint(k.ArchSpecific, " ", k.Architecture); got != want {
			t.Errorf("%s: got %q, want %q", value, got, want)
		}
	}
}
