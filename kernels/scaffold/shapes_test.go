package scaffold

import (
	"fmt"
	"strings"
	"testing"

	"pawl/kernels/csource"
)

// What a source assigns to is an output, *total has one element, and what it hands on may be either.
func TestOutputsThatAreWritten(t *testing.T) {
	folder, err := From("k", "k.c", []byte(`void fill(float *x);
void prefix(const int *in, int *out, int *total, int *last, float *x, int *to, long n) {
	int s = 0;
	for (long i = 0; i < n; i++) { s += 2 * in[i]; out[i] = s; *to++ = s; }
	*total = s;
	if (s) *last += 1;
	fill(x);
}
`), "")
	if err != nil {
		t.Fatal(err)
	}
	manifest, open := string(folder.Files[0].Content), strings.Join(folder.Open, "\n")
	for _, part := range []string{"{name: out, type: i32, shape: [N], out: true}\n",
		"{name: total, type: i32, shape: [1], out: true}\n", "{name: last, type: i32, shape: [1], inout: true"} {
		if !strings.Contains(manifest, part) {
			t.Errorf("no %q in %s", part, manifest)
		}
	}
	for _, name := range []string{"out", "total", "last", "x", "to"} {
		if marked := strings.Contains(open, name+" may be an input"); marked != (name == "x" || name == "to") {
			t.Errorf("%s: %s", name, open)
		}
	}
	if !strings.Contains(open, "the shape of to") {
		t.Errorf("the pointer moves: %s", open)
	}
}

// Indices that run backwards, or further than where they begin, tell no shape.
func TestShapesThatIndicesDoNotTell(t *testing.T) {
	for _, body := range []string{
		"for (int i = 0; i < n; i++) o[n - 1 - i] = a[i];",
		"int j = 0; for (int i = 0; i < n; i++, j += 2) o[j] = a[i];",
		"int i = 0; for (; a[i]; i++) o[i] = a[i]; o[i] = 0;",
		"int g = n; while (g > 1) { g /= 2; o[g] = a[g]; }",
	} {
		made, err := From("new", "f.c", []byte("void f(const float *a, float *o, int n) { "+body+" }\n"), "")
		if err != nil || !strings.Contains(string(made.Files[0].Content), "look: the shape of o") {
			t.Errorf("%s: %v\n%s", body, err, made.Files)
		}
	}
}

// A grid of two dimensions is proposed as one, and a fraction is a parameter.
func TestTwoDimensionsAndFractions(t *testing.T) {
	source := `#ifndef BLOCK_X
#define BLOCK_X 32
#endif
#ifndef ALPHA
#define ALPHA 0.5f
#endif
#ifndef SMALL
#define SMALL 1e-6
#endif
#ifndef BLOCK_SHARE
#define BLOCK_SHARE 0.25f
#endif
extern "C" __global__ void f(const float *x, float *y, int h, int w) {
	int column = blockIdx.x * BLOCK_X + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
	if (row < h && column < w) y[row * w + column] = ALPHA * x[row * w + column] + SMALL;
}
`
	made, err := From("new", "f.cu", []byte(source), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`grid: ["cdiv(W, BLOCK_X)", "cdiv(H, 16)"]`, "block: [BLOCK_X, 16]",
		"ALPHA: {values: [0.5f], default: 0.5f} # look", "SMALL: {values: [1e-6], default: 1e-6} # look"} {
		if manifest := string(made.Files[0].Content); !strings.Contains(manifest, want) {
			t.Errorf("no %s in\n%s", want, manifest)
		}
	}
}

// A stencil has its pragmas compiled, and room for the cube that its indices walk through, in a workload that fits.
func TestStencil(t *testing.T) {
	made, err := From("new", "sweep.c", []byte(`void sweep(const double *u, double *v, int n) {
#pragma omp parallel for
	for (int i = 1; i < n - 1; i++)
		for (int j = 1; j < n - 1; j++) {
			long at = ((long)i * n + j) * n;
			v[at] = u[at] + u[at - (long)n * n];
		}
}
`), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"{name: u, type: f64, shape: [N, N, N]} # look", "{name: v, type: f64, shape: [N, N, N], out: true} # look",
		"small: {N: 32}", `"-fopenmp"]`,
	} {
		if manifest := string(made.Files[0].Content); !strings.Contains(manifest, want) {
			t.Errorf("no %s in\n%s", want, manifest)
		}
	}
}

// What stands in the source is not guessed: the arguments of a template, and the threads of a loop.
func TestInstantiatedTemplate(t *testing.T) {
	made, err := From("new", "turn.cpp", []byte(`template <typename T, int TILE, int UNROLL = 2, bool FAST = true>
void turn(const T *in, T *out, int rows, int cols) {
#pragma omp parallel for num_threads(4)
	for (int i = 0; i < rows; i += TILE)
		for (int y = i; y < i + TILE && y < rows; y++)
			for (int x = 0; x < cols; x++)
				out[x * rows + y] = in[y * cols + x];
}
template void turn<double, 16>(const double *, double *, int, int);
void both(double *a, double *b) { turn<double, 16>(a, b, 1, 1); }
`), "turn")
	if err != nil {
		t.Fatal(err)
	}
	manifest, reference := string(made.Files[0].Content), string(made.Files[2].Content)
	for _, want := range []string{
		`entry: "turn<double, {TILE_VALUE}, {UNROLL_VALUE}, {FAST_VALUE}>"` + "\n",
		"TILE_VALUE: {values: [4, 8, 16, 32, 64], default: 16} # look: the values of TILE_VALUE, which is the " +
			"template's TILE, and reference: true",
		"UNROLL_VALUE: {values: [1, 2, 4, 8], default: 2} # look",
		"FAST_VALUE: {values: [false, true], default: true} # look",
		"{name: in, type: f64, shape: [ROWS, COLS]}\n",
		"launch: {threads: 4}\n",
	} {
		if !strings.Contains(manifest, want) {
			t.Errorf("no %s in\n%s", want, manifest)
		}
	}
	if strings.Contains(reference, "template") || !strings.Contains(reference, "turn(a, b, 1, 1)") {
		t.Error(reference)
	}
}

// Shapes are read off the indices.
func TestShapes(t *testing.T) {
	for source, want := range map[string]string{
		"for (int i = 0; i < n; i++) y[i] = x[i];":                                       "x [N] true y [N] true",
		"for (int i = 0; i <= n; i++) y[m * i] = x[2 * n - 1];":                          "x [2 N] true y [N M] false",
		"for (int i = n - 1; i >= 0; i--) { y[0] += x[i + m]; }":                         "x [N + M] true y [1] true",
		"int i = blockIdx.x * 9; if (i >= n || j >= m) return; y[(long)i * m + j] = *x;": "x [] false y [N M] true",
		"int k = n - m + 1, j = 0; for (int i = 0; i < k; i++) for (; j < m; j++) y[i] += x[i + j];": "" +
			"x [N] true y [N - M + 1] true",
		"for (; i + 4 <= n; i += 4) for (int j = 0; j < 4; j++) y[i + j] = x[0] + (*x);": "x [1] false y [N] true",
		"for (int i = 0; i < n; i++) for (int j = -m; j < m; j++) { int k = i + j; if (k >= 0 && k < n) y[i] += x[k]; }": "" +
			"x [N] true y [N] true",
		"int i = f(); if (i < n || m) y[i] = x[i]; if (i < m && i >= n) return;":           "x [] false y [] false",
		"for (int i = 0; i < n; i++) y[i] = 1; for (int i = 0; m > i; i++) x[i] = i != n;": "x [M] true y [N] true",
		"for (int i = 0; i < n; i++) y[b[i]] = x[y[0]];":                                   "x [] false y [256] true",
	} {
		made := description{unit: unit{csource.Read(source, "f.c", nil)}}
		made.Body = csource.Scan(source)
		made.parameters = []parameter{
			{name: "x", element: "f32", pointer: true}, {name: "y", element: "u32", pointer: true},
			{name: "n", element: "i32"}, {name: "m", element: "i32"}, {name: "b", element: "u8", pointer: true},
		}
		made.findShapes()
		x, y := made.parameters[0], made.parameters[1]
		if got := fmt.Sprint("x ", x.shape, " ", x.exact, " y ", y.shape, " ", y.exact); got != want {
			t.Errorf("%s\n%s, want %s", source, got, want)
		}
	}
}
