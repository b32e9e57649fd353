package scaffold

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pawl/kernels"
	"pawl/kernels/csource"
)

func TestSignatures(t *testing.T) {
	source := `
// void commented(float *x) {
static void hidden(float *x) { }
__device__ void helper(float *x) { }
int answer(int n) { return n; }
extern "C" __global__ void __launch_bounds__((8) * 32, 2)
#if SPLIT > 1
__cluster_dims__(SPLIT, 1, 1)
#endif
transform(const float *__restrict__ x, float* __restrict__ y, /* the size */ const int n, double alpha) {
}
void plain(float const *a, float * const b, long long rows, int32_t cols) {}
void strange(struct shape *s) {}
void pointers(float **p) {}
void nothing(void) {}
`
	none := " {false false false} [] false false false  false false false}"
	x, y, n := "{x f32 true false"+none+" ", "{y f32 true true"+none+" ", "{n i32 false false"+none+" "
	alpha := "{alpha f64 false false" + none
	for backend, want := range map[string][]string{
		kernels.CUDA: {"transform [" + x + y + n + alpha + "]"},
		kernels.Host: {
			"transform [" + x + y + n + alpha + "]",
			"plain [{a f32 true false" + none + " {b f32 true true" + none + " {rows i64 false false" + none +
				" {cols i32 false false" + none + "]",
			"strange refused", "pointers refused", "nothing refused",
		},
	} {
		var texts []string
		found, _ := unit{csource.Read(source, "f.cu", nil)}.signatures(backend)
		for _, s := range found {
			text := fmt.Sprintf("%s %v", s.Name, s.parameters)
			if s.refused != nil {
				text = s.Name + " refused"
			}
			texts = append(texts, text)
		}
		if !slices.Equal(texts, want) {
			t.Errorf("%s: got %q", backend, texts)
		}
	}
}

func TestMacros(t *testing.T) {
	found := csource.Read("#ifndef BLOCK\n#define BLOCK 64\n#endif\n  # ifndef FAST\n#define FAST (0)\n#endif\n#ifndef "+
		"GUARD_H\n#define GUARD_H\n#endif\n#ifndef REAL\n#define REAL long double\n"+
		"#endif\n// #ifndef X\n// #define X 1\n#ifndef A\n#define B 3\n#endif\n"+
		"#ifndef SWITCH\n#define SWITCH 1\n#endif\n#if SWITCH\n#endif\n#ifndef UNROLL\n#define UNROLL 1\n#endif\n"+
		"#ifndef ROWS\n#define ROWS 1\n#endif\nfor (; y < y0 + ROWS && y < h; y++) fast = SWITCH && y;\n"+
		"BLOCK FAST REAL UNROLL", "f.c", nil).Tuned()
	want := "[{BLOCK 64  false} {FAST 0  false} {REAL 0 long double false} {SWITCH 1  true} {UNROLL 1  false} " +
		"{ROWS 1  false}]"
	if fmt.Sprint(found) != want {
		t.Errorf("%v", found)
	}
	for m, want := range map[csource.Macro]string{
		{Name: "BLOCK", Value: 64}: "[16 32 64 128 256]", {Name: "FAST"}: "[0 1]", {Name: "UNROLL", Value: 1}: "[1 2 4]",
		{Name: "SWITCH", Value: 1, Asked: true}: "[0 1]", {Name: "K", Value: 3}: "[1 3 6 12]",
	} {
		if got := fmt.Sprint(proposals(m.Value, m.Asked)); got != want {
			t.Errorf("%v: %s, want %s", m, got, want)
		}
		if !slices.Contains(proposals(m.Value, m.Asked), m.Value) {
			t.Errorf("%v: the default is not among %v", m, proposals(m.Value, m.Asked))
		}
	}
}

// Whatever is written can be read again, for the backend that it is for.
func TestFoldersLoad(t *testing.T) {
	const body = "#ifndef BLOCK\n#define BLOCK 64\n#endif\n%svoid move(const %s *x, float *y, int rows, int n, float " +
		"a) { (void)x; (void)y; (void)rows; (void)n; (void)a; }\n"
	for file, source := range map[string]string{
		"":        "",
		"move.c":  fmt.Sprintf(body, "", "double"),
		"move.cc": fmt.Sprintf(body, "", "float"),
		"move.cu": fmt.Sprintf(body, `extern "C" __global__ `, "__half"),
		"bare.c":  "void bare(float *x, int block) {}\n",
		"bare.cu": "extern \"C\" __global__ void bare(float *x) {}\n",
		"dim.c":   "#ifndef N\n#define N 8\n#endif\nvoid f(float *x, int n) {}\n",
	} {
		folder := filepath.Join(t.TempDir(), "new")
		path := ""
		if file != "" {
			path = filepath.Join(t.TempDir(), file)
			if err := os.WriteFile(path, []byte(source), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Write(folder, Source{File: path, Entry: ""}); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		backend := kernels.Host
		if strings.HasSuffix(file, ".cu") {
			backend = kernels.CUDA
		}
		if k, err := kernels.Load(folder, backend); err != nil {
			t.Errorf("%s: %v", file, err)
		} else if k.Name != "new" {
			t.Errorf("%s: the kernel is called %s", file, k.Name)
		}
		if _, err := Write(folder, Source{File: path, Entry: ""}); err == nil || !strings.Contains(err.Error(), "not empty") {
			t.Errorf("%s: written twice: %v", file, err)
		}
	}
}

func TestWhatCannotBeDescribed(t *testing.T) {
	for source, want := range map[string]string{
		"int f(int x) { return x; }":                 "init does not describe function f: it returns a number",
		"void f(float *x) {}\nvoid g(float *x) {}":   "f, g; name one with --entry",
		"void f(struct s *x) {}":                     "init does not describe function f",
		"void f(float *x, int (*callback)(int)) {}":  "is a pointer to a function",
		"void f(float * x, struct size n) { x[0]; }": "n\" has the type size, which init does not describe: docs/manifest.md",
		"static void f(float *x) {}\ninline void g(float *x) {}\nvoid A::h(float *x) {}": "" +
			"can call in it: it has f, g, A::h, but static and inline functions and members of classes do not count; add",
		"struct A { void h(float *x) {} };":            "files can call in it: static and inline functions and members",
		"void f(float **x, int n) {}":                  `its argument "float **x" is a pointer to pointers, which init does not describe`,
		"typedef struct { int x; } P; void f(P *x) {}": `its argument "P *x" has the type P, which init does not describe`,
		"typedef struct P *Q; void f(Q x) {}":          `its argument "Q x" has the type Q, which init does not describe`,
	} {
		if _, err := From("new", "source.c", []byte(source), ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", source, err)
		}
	}
	if _, err := From("new", "source.c", []byte("void f(float *x) {}"), "g"); err == nil ||
		!strings.Contains(err.Error(), "there are f") {
		t.Errorf("%v", err)
	}
	if _, err := From("new", "wave.rs", []byte("pub extern \"C\" fn f(x: *mut f32) {}"), ""); err == nil ||
		!strings.Contains(err.Error(), "only C, C++, CUDA and Triton are described") {
		t.Errorf("%v", err)
	}
	for name, want := range map[string]string{
		"reference.c": "init writes another file called reference.c", "kernel.yaml": "another file called kernel.yaml",
		"a b.c": "rename the source: letters, digits",
	} {
		if _, err := From("new", name, []byte("void f(float *x) {}"), ""); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	large := filepath.Join(t.TempDir(), "large.c")
	if err := os.WriteFile(large, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, mostOfSource+1); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		os.DevNull: "reads a regular file", t.TempDir(): "reads a regular file", large: "of at most 2097152 bytes",
	} {
		if _, err := Write(filepath.Join(t.TempDir(), "new"), Source{File: file}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", file, err)
		}
	}
	for _, name := range []string{"", ".", "..", "a b", "-x", "x\n", "é"} {
		if CheckName(name) == nil {
			t.Errorf("%q is a name", name)
		}
	}
}

// However many sizes a function takes, its arrays fit; of what no manifest holds a person hears what to do.
func TestManySizesAndMacros(t *testing.T) {
	for n := 1; n < 40; n++ {
		source := "void f(const float *x, float *y"
		for i := range n {
			source += fmt.Sprintf(", int n%d", i)
		}
		for path, begin := range map[string]string{"f.c": "", "f.cu": "__global__ "} {
			content := []byte(begin + source + ") { for (int i = 0; i < n0 - 2; i++) y[i] = *x++; }")
			if made, err := From("new", path, content, ""); err != nil {
				t.Errorf("%d sizes: %v", n, err)
			} else if n == 9 && !strings.Contains(string(made.Files[0].Content), "here it is N0 * N1 * N2 * N3\n") {
				t.Errorf("%s", made.Files[0].Content)
			}
		}
	}
	source := "void f(float *x, int n) { x[0] = 0"
	for i := range 300 {
		source = fmt.Sprintf("#ifndef M%[1]d\n#define M%[1]d 8\n#endif\n%[2]s + M%[1]d", i, source)
	}
	doubling := "b = " + strings.Repeat("c + ", 300) + "c; c = " + strings.Repeat("d + ", 300) + "d; d = n;"
	for range 1000 {
		doubling += " x[b] = 1;"
	}
	if _, err := From("new", "f.c", []byte("void f(float *x, int n) { int b, c, d; "+doubling+"}"), ""); err != nil {
		t.Error(err)
	}
	if _, err := From("new", "f.c", []byte(source+"; }"), ""); err == nil ||
		!strings.Contains(err.Error(), "describe the source by hand (docs/manifest.md)") {
		t.Errorf("300 macros: %v", err)
	}
}

func FuzzFrom(f *testing.F) {
	f.Add("void f(const float *x, float *y, int n) { }", true)
	f.Add("#ifndef B\n#define B 4\n#endif\nextern \"C\" __global__ void f(float *x) {", false)
	f.Fuzz(func(t *testing.T, source string, c bool) {
		name, backend := "a.cu", kernels.CUDA
		if c {
			name, backend = "a.c", kernels.Host
		}
		folder, err := From("new", name, []byte(source), "")
		if err != nil {
			return
		}
		dir := t.TempDir()
		for _, file := range folder.Files {
			if err := os.WriteFile(filepath.Join(dir, file.Name), file.Content, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := kernels.Load(dir, backend); err != nil {
			t.Errorf("%v\n%s", err, folder.Files[0].Content)
		}
	})
}

// Sources as people have them: templates, namespaces, sums in place, vectors, macros without a
// guard, and several kernels in one file.
func TestStylesOfSources(t *testing.T) {
	for _, test := range []struct {
		path, source string
		manifest     []string // what it has
		reference    []string
		open         string
	}{
		{"a.cu",
			"template <typename T, int VEC, bool FAST = false>\n__global__ void scale(T *out, const T *in, float4 *v, int n) " +
				"{ out[0] = in[0]; }\n",
			[]string{`entry: "scale<float, {VEC_VALUE}, {FAST_VALUE}>"`, "VEC_VALUE: {values: [1, 2, 4], default: 1}",
				"FAST_VALUE: {values: [false, true], default: false}", "{name: out, type: f32, shape: [1], out: true}",
				"{name: v, type: f32x4,"},
			[]string{"typedef float T;\n\n#ifndef VEC_VALUE\n#define VEC_VALUE 1\n#endif\nconstexpr int VEC = VEC_VALUE;\n",
				"#define FAST_VALUE false\n#endif\nconstexpr bool FAST = FAST_VALUE;"},
			"the type in the arguments of the template"},
		{"b.cpp",
			"#include <cstddef>\n#ifndef CHUNK\n#define CHUNK 64\n#endif\nnamespace fast {\nstruct other { int x; };\nvoid " +
				"axpy(double *y, const double *x, double a, std::size_t n) { for (std::size_t i = 0; i < n / CHUNK * CHUNK; " +
				"i++) y[i] += a * x[i]; }\n}\n",
			[]string{`entry: "fast::axpy"`, "CHUNK: {values: [16, 32, 64, 128, 256], default: 64}",
				"{name: y, type: f64, shape: [N], inout: true, fill: uniform}", "{name: n, type: u64, value: N}"},
			[]string{"using fast::axpy;"}, "what y holds before a launch"},
		{"c.cu",
			"#define TILE 16\nextern \"C\" __global__ void count(unsigned *bins, const unsigned char *x, int n) { " +
				"atomicAdd(&bins[x[0]], 1); }\n",
			[]string{"entry: count", "{name: bins, type: u32, shape: [256], inout: true, fill: uniform}", "REGISTERS:"}, nil,
			"TILE: #define without #ifndef around it cannot be tuned (#ifndef TILE, #define TILE 8, #endif)"},
		{"d.c",
			"void blend(float *y, float *z, const int *at, int n) { for (int i = 0; i < n; i++) { y[at[i]] = 2 * y[at[i]]; " +
				"z[at[i]] = 1; } }\n",
			[]string{"{name: y, type: f32, shape: [N], inout: true, fill: uniform}",
				"{name: z, type: f32, shape: [N], out: true}"}, nil, "what y holds before a launch"},
	} {
		folder, err := From("k", test.path, []byte(test.source), "")
		if err != nil {
			t.Errorf("%s: %v", test.path, err)
			continue
		}
		for i, parts := range [][]string{test.manifest, nil, test.reference} {
			for _, part := range parts {
				if !strings.Contains(string(folder.Files[i].Content), part) {
					t.Errorf("%s: %s has no %q:\n%s", test.path, folder.Files[i].Name, part, folder.Files[i].Content)
				}
			}
		}
		if !strings.Contains(strings.Join(folder.Open, "\n"), test.open) {
			t.Errorf("%s: %q", test.path, folder.Open)
		}
	}
	for source, want := range map[string]string{
		"__global__ void one(float *x) { x[0] = 1; }\n__global__ void two(float *x, P p) { x[0] " +
			"= 1; }\n": `it has one, and two, which init does not describe: its argument "P p" has the type P, which`,
		// A macro may say __device__: what is not __global__ is no candidate, whatever it is.
		"#define INLINE static __device__ \\\n\t__forceinline__\nINLINE void wait() { }\n__global__ void one(float *x, P " +
			"p) { }\n": "init does not describe function one",
		"void helper(float *x) { }\n":                             "init finds no __global__ function in it: write",
		"__global__ void one(float *x, float4 v) { x[0] = 1; }\n": "is several numbers by value",
	} {
		if _, err := From("k", "k.cu", []byte(source), ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
