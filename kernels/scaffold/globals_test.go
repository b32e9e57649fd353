package scaffold

import (
	"regexp"
	"strings"
	"testing"
)

// Variables of the source, words, squares and vector instructions are described, so that the default is checked as
// it stands.
func TestSourceBeyondItsArguments(t *testing.T) {
	source := `#include <immintrin.h>
#define TAPS 9
#ifndef REAL
#define REAL float
#endif
float weights[TAPS][2];
int shift;
static REAL own;
const float fixed[3];
void filter(float *x, float *y, int n) {
	int local;
	y[0] = x[n * n - 1] + weights[0][shift] + own + fixed[0];
}
`
	made, err := From("new", "filter.c", []byte(source), "")
	if err != nil {
		t.Fatal(err)
	}
	manifest, reference := string(made.Files[0].Content), string(made.Files[2].Content)
	for _, want := range []string{
		"REAL: {values: [float], default: float} # look", "{name: x, type: f32, shape: [N, N], inout: true",
		"{name: weights, type: f32, shape: [9, 2], fill: uniform, symbol: weights} # look",
		"{name: shift, type: i32, value: 1, symbol: shift} # look", `flags: ["-march=native"]`,
	} {
		if !strings.Contains(manifest, want) {
			t.Errorf("no %s in\n%s", want, manifest)
		}
	}
	if strings.Count(manifest, " symbol: ") != 2 ||
		!strings.Contains(reference, "void filter(float *x, float *y, int n, const float weights[TAPS][2], int shift) {") {
		t.Errorf("%s\n%s", manifest, reference)
	}
	cuda := "__constant__ float taps[4];\nfloat host[3];\nextern \"C\" __global__ void f(float *y) { y[0] = taps[1]; }\n"
	if made, err = From("new", "f.cu", []byte(cuda), ""); err != nil ||
		!strings.Contains(string(made.Files[0].Content), "shape: [4], fill: uniform, symbol: taps}") {
		t.Errorf("%v\n%s", err, made.Files)
	}
}

// What a source has and a manifest cannot say is said: nothing of it is dropped in silence.
func TestWhatIsNotCarriedOverIsSaid(t *testing.T) {
	host := `#ifndef CHUNK
#define CHUNK sizeof(int)
#endif
#ifndef RADIUS
#define RADIUS 3
#endif
#ifndef EXTRA_H
#define EXTRA_H
#endif
static float bias[64];
extern float table[256];
double first[16], other[4];
_Alignas(32) float tab[16];
float *behind;
static const float known[2] = {1, 2};
int const *const knows[2] = {0};
int hits = 0;
typedef struct { float a; } pair;
struct point { int x; } origin;
float unused;
int count[4];
int chunk = CHUNK;
float window[2 * RADIUS + 1];
namespace inner { float deep[3]; }
void helper(float *a, float *b);
static void set(void) { bias[0] = 1; }
void f(const float *in, float *m, float *out, int n) {
	for (int i = 0; i < n / 2; i++)
		hits += knows[0] != 0, count[i % 4]++, in += window[0] > 0,
		out[2 * i + 1] = bias[0] + table[1] + first[0] + other[0] + tab[0] + behind[0] + known[0] + origin.x + inner::deep[0];
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			helper(&m[i * n + j], m);
}
`
	made, err := From("new", "f.cpp", []byte(host), "f")
	if err != nil {
		t.Fatal(err)
	}
	manifest := string(made.Files[0].Content)
	for _, want := range []string{"CHUNK has a default", "bias stays as", "table stays as", "behind stays as",
		"the shape of out: it is as large as", "inout: true if the source reads m before", "symbol: first", "symbol: other",
		"symbol: tab", "deep stays as", "hits is written by", "count is written by",
		"the size of window where RADIUS", "origin stays as", "the shape of m:"} {
		if !strings.Contains(manifest, want) {
			t.Errorf("no %s in\n%s", want, manifest)
		}
	}
	for _, name := range strings.Fields("EXTRA_H known pair point unused set inner helper knows const") {
		if regexp.MustCompile(`look: ` + name + `\b|symbol: ` + name).MatchString(manifest) {
			t.Errorf("%s in\n%s", name, manifest)
		}
	}
	cuda := `static __constant__ double2 tw[64];
__constant__ float e1[3], e2[4];
__constant__ __align__(16) float ee[8];
namespace k { __constant__ float w[3][3]; }
#ifndef TPB
#define TPB 128
#endif
extern "C" __global__ void f(float *y) { y[blockIdx.x * TPB + threadIdx.x] = tw[0].x + e1[0] + e2[0] + ee[0] + k::w[0][0]; }
`
	if made, err = From("new", "f.cu", []byte(cuda), ""); err != nil {
		t.Fatal(err)
	}
	manifest = string(made.Files[0].Content)
	for _, want := range []string{"tw stays as", "w stays as", "block: [TPB]", "symbol: e1", "symbol: e2", "symbol: ee"} {
		if !strings.Contains(manifest, want) {
			t.Errorf("no %s in\n%s", want, manifest)
		}
	}
}
