package scaffold

import (
	"strings"
	"testing"
)

// stranger is a source, the entry that is asked for, and what is said of it and what is not: in its manifest, or why
// there is none.
type stranger struct {
	path, source, entry string
	has, lacks          []string
}

func testStrangers(t *testing.T, strangers []stranger) {
	t.Helper()
	for _, test := range strangers {
		made, err := From("new", test.path, []byte(test.source), test.entry)
		text := ""
		if err != nil {
			text = err.Error()
		} else {
			text = string(made.Files[0].Content)
			reference, _ := strings.CutPrefix(string(made.Files[2].Content), referenceNote)
			if strings.HasPrefix(test.path, "omp") || strings.Contains(reference, "GCC target") || strings.Contains(text, "<") {
				text += reference
			}
		}
		for _, want := range test.has {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %s in\n%s", test.path, want, text)
			}
		}
		for _, not := range test.lacks {
			if strings.Contains(text, not) {
				t.Errorf("%s: %s in\n%s", test.path, not, text)
			}
		}
	}
}

func TestSourcesOfStrangers(t *testing.T) {
	testStrangers(t, []stranger{
		{"if0.c", `#if 0
void old(float *x, int n) { x[0] = n; }
#ifndef OLD
#define OLD 3
#endif
#endif
#if !defined TILE
# define TILE 0x40
#endif
#if !defined(UNROLL)
#define UNROLL 4u
#endif
#ifndef SHIFTED
#define SHIFTED (1 << 7)
#endif
#ifndef NAME
#define NAME "abc"
#endif
#ifndef SQ
#define SQ(x) ((x)*(x))
#endif
#ifndef UNUSED_THING
#define UNUSED_THING 5
#endif
#ifdef __cplusplus
extern "C" {
#endif
void saxpy(const float *restrict x, float *restrict y, int n, float a) {
	const char *s = NAME;
	for (int i = 0; i < n; i += TILE)
		for (int j = i; j < i + TILE && j < n; j++)
			y[j] = SQ(a) * x[j] + UNROLL + SHIFTED + (s != 0);
}
#ifdef __cplusplus
}
#endif
`, "", []string{
			"entry: saxpy",
			"TILE: {values: [16, 32, 64, 128, 256], default: 64}",
			"UNROLL: {values: [1, 2, 4, 8, 16], default: 4}",
			"SHIFTED: {values: [32, 64, 128, 256, 512], default: 128}",
			"look: NAME has a default",
			"look: SQ has a default",
			"{name: y, type: f32, shape: [N], out: true}\n",
		}, []string{"OLD", "UNUSED_THING"}},
		{"helper.c", `void zero(float *x, int n) { for (int i = 0; i < n; i++) x[i] = 0; }
float dot(const float *a, const float *b, int n) { float s = 0; for (int i = 0; i < n; i++) s += a[i] * b[i]; return s; }
`, "", []string{
			"it has zero, and dot, which init does not describe: it returns a number",
		}, nil},
		{"calls.c", `#include <stddef.h>
void row(const float *a, float *b, size_t n) { for (size_t i = 0; i < n; i++) b[i] = 2 * a[i]; }
void matrix(const float *a, float *b, size_t m, size_t n) { for (size_t i = 0; i < m; i++) row(a + i * n, b + i * n, n); }
`, "", []string{
			"entry: matrix # look: no other function calls matrix",
			"{name: n, type: u64, value: N} # look: whether n is a size",
		}, nil},
		{"method.cpp", `struct Filter { void run(float *x, int n) { x[0] = n; } static void go(float *x, int n) { x[1] = n; } int taps[3]; };
class Other final : public Filter { public: Other() : k(3) {} void apply(float *y, const float *x, int n); int k; };
void Other::apply(float *y, const float *x, int n) { for (int i = 0; i < n; i++) y[i] = x[i]; }
namespace dsp { inline namespace v1 { void scale(float *y, const float *x, int n) { for (int i = 0; i < n; i++) y[i] = 3 * x[i]; } } }
`, "", []string{
			`entry: "dsp::scale"`,
		}, nil},
		{"hides.c", `float scale[4];
int n;
struct s { float gain[2]; };
float gain[2];
float bias[8];
extern float twice[3];
float twice[3];
void f(const float *x, float *y, int n, struct { int q; } *unused);
void k(const float *x, float *y, int n) {
	float scale = 2;
	struct s t = {{1, 2}};
	for (int i = 0; i < n; i++) {
		float bias = 1;
		y[i] = scale * x[i] + t.gain[0] + bias + twice[i % 3];
	}
}
`, "k", []string{
			"symbol: twice}",
		}, []string{"symbol: n", "symbol: scale", "symbol: gain", "symbol: bias"}},
		{"dup.c", `#ifndef T
#define T 8
#endif
#ifndef T
#define T 16
#endif
void k(const float *x, float *y, int n, int N) { for (int i = 0; i < n; i += T) for (int j = i; j < i + T && j < n; j++) y[j] = x[j] + N; for (int i = 0; i < N; i++) y[i] += x[i]; }
`, "", []string{
			"T: {values: [2, 4, 8, 16, 32], default: 8}",
			"small: {N: 4096, N_: 4096}",
			"look: the shape of x: only some", "the shape of y: only some",
			"{name: N, type: i32, value: N_}",
		}, []string{"default: 16"}},
		{"scalars.c", `#include <stdint.h>
void clip(const int32_t *x, int32_t *y, int n, int lo, int hi, int shift, uint32_t mask, int stride, int k) {
	for (int i = 0; i < n; i++) {
		int v = x[i * stride] >> shift;
		if (v < lo) v = lo;
		if (v > hi) v = hi;
		y[i] = (v & mask) + k;
	}
}
`, "", []string{
			"look: the value of lo:",
			"look: the value of hi:",
			"look: the value of shift:",
			"look: the value of mask:",
			"look: the value of k:",
			"STRIDE: 128",
		}, nil},
		{"kr.c", `void scale(x, y, n) float *x, *y; int n; { int i; for (i = 0; i < n; i++) y[i] = x[i]; }
`, "", []string{
			"its parameters are declared behind their list",
		}, nil},
		{"attr.cpp", `#include <cstdint>
using real = double;
typedef const real *__restrict in_t;
__attribute__((noinline, hot)) [[gnu::flatten]] void scale(in_t x, real *y, std::int64_t n) noexcept __attribute__((nonnull(1)));
[[gnu::noinline]] void scale(in_t x, real *y [[maybe_unused]], std::int64_t n) noexcept { for (std::int64_t i = 0; i < n; ++i) y[i] = 2 * x[i]; }
`, "", []string{
			"{name: x, type: f64, shape: [N]}\n",
			"{name: n, type: i64, value: N}",
		}, nil},
		{"filescope.cpp", `#include <vector>
#include <functional>
float *table;
double (*act)(double);
std::vector<float> weights;
std::function<float(float)> fn;
int x __attribute__((aligned(64))) = 3;
alignas(32) float lut[16];
thread_local float tl[3];
void k(const float *in, float *out, int n) { for (int i = 0; i < n; i++) out[i] = in[i] * table[i] + act(in[i]) + weights[i] + fn(in[i]) + x + lut[i & 15] + tl[0]; }
`, "", []string{
			"look: table stays as",
			"look: act stays as",
			"look: weights stays as",
			"look: fn stays as",
			"look: x stays as",
			"look: tl stays as",
			"symbol: lut}",
		}, nil},
		{"omp.c", `#include <omp.h>
void k(const float *in, float *out, int n) {
	int t = omp_get_max_threads();
#pragma omp parallel for num_threads(t)
	for (int i = 0; i < n; i++) out[i] = in[i] + omp_get_num_threads() * 0;
}
`, "", []string{
			`"-fopenmp"]`,
			"#define omp_get_max_threads() 1\n",
		}, []string{"look: omp_"}},
		{"omp2.c", `#include <omp.h>
omp_lock_t l;
void k(const float *in, float *out, int n) {
	omp_init_lock(&l);
#pragma omp parallel for
	for (int i = 0; i < n; i++) out[i] = in[i];
	omp_destroy_lock(&l);
}
`, "", []string{
			"look: omp_init_lock, omp_destroy_lock: the reference is compiled without OpenMP",
			"l is written by",
		}, nil},
		{"crc.c", `#include <nmmintrin.h>
#include <stdint.h>
#include <stddef.h>
void crc(const uint8_t *p, uint32_t *out, size_t n) { uint32_t c = ~0u; for (size_t i = 0; i < n; i++) c = _mm_crc32_u8(c, p[i]); *out = ~c; }
`, "", []string{
			`"-march=native"]`,
			`#pragma GCC target("avx2`,
		}, nil},
		{"2d.c", `#define N 64
void mm(double A[N][N], double B[N][N], double C[N][N]) { for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) { C[i][j] = 0; for (int k = 0; k < N; k++) C[i][j] += A[i][k] * B[k][j]; } }
`, "", []string{
			`"double A[N][N]" is an array of arrays`,
		}, nil},
		{"complex.c", `#include <complex.h>
void rot(const float complex *z, float complex *o, int n) { for (int i = 0; i < n; i++) o[i] = z[i] * I; }
`, "", []string{
			"type: c64",
		}, nil},
		{"goto.c", `#define LOOP(i, n) for (int i = 0; i < (n); ++i)
#ifndef BLOCK
#define BLOCK (16*WIDTH)
#endif
#define WIDTH 4
#ifndef ALIGN
#define ALIGN __attribute__((aligned(32)))
#endif
double acc ALIGN;
void sum(double *restrict y, const double *restrict x, int n) { LOOP(i, n) { y[i] = x[i] + acc; } LOOP(j, n / BLOCK) y[j] += 1; }
`, "", []string{
			"look: BLOCK has a default",
			"{name: acc, type: f64, value: 1, symbol: acc}",
			"{name: x, type: f64, shape: [N]}\n",
		}, nil},
		{"raw.cpp", `const char *help = R"x(void fake(float *x, int n) { } " )x";
const char q = '"'; const char *s2 = "/* not a comment"; // "
void real(const float *x, float *y, int n) { for (int i = 0; i < n; i++) y[i] = x[i]; /* } */ }
`, "", []string{
			"entry: real\n",
		}, []string{"fake"}},
		{"switch.c", `/* kernel with switch */
#ifndef USE_FAST
#define USE_FAST 0
#endif
#if USE_FAST
#ifndef CHUNK
#define CHUNK 4
#endif
float fast_table[8];
#endif
void k(const float *restrict x, float *restrict y, const int n) {
#if USE_FAST
	for (int i = 0; i < n; i += CHUNK) y[i] = fast_table[0];
#else
	for (int i = 0; i < n; i++) y[i] = x[i];
#endif
}
`, "", []string{
			"look: init did not read what is compiled only where USE_FAST is not 0",
		}, []string{"CHUNK: {"}},
		{"map.cpp", `template <typename T> struct Op { static T apply(T a) { return a; } };
template <typename T, template <typename> class F> void map(const T *x, T *y, int n) { for (int i = 0; i < n; i++) y[i] = F<T>::apply(x[i]); }
`, "", []string{
			`its template has the parameter "template <typename> class F", which is no type or number`,
		}, nil},
		{"special.cpp", `template <typename T> void f(const T *x, T *y, int n) { for (int i = 0; i < n; i++) y[i] = x[i]; }
template <> void f<double>(const double *x, double *y, int n) { y[0] = 0; }
extern template void f<float>(const float *, float *, int);
`, "", []string{
			"its template is specialized (f<double>)",
		}, nil},
		{"vectors.c", `typedef float v4 __attribute__((vector_size(16)));
typedef float vec[4];
void f(const v4 *x, v4 *y, vec z, int n) { for (int i = 0; i < n; i++) y[i] = x[i] + z[0]; }
`, "", []string{
			`its argument "const v4 *x" has the type v4, which`,
		}, nil},
		{"pragma.c", `#ifdef _OPENMP
#include <omp.h>
#else
#define omp_get_thread_num() 0
#endif
#ifndef NT
#define NT 4
#endif
void f(const float *x, float *y, int n) {
	_Pragma("omp parallel for")
	for (int i = 0; i < n; i++) y[i] = x[i] + omp_get_thread_num() * 0;
}
`, "", []string{
			`"-fopenmp"]`,
		}, []string{"look: omp"}},
		{"words.c", `#ifndef null
#define null 0
#endif
#ifndef MODE
#define MODE NULL
#endif
#ifndef YES
#define YES true
#endif
void no(const float *null_x, float *y, int n, int N, int nN, float time) { for (int i = 0; i < n; i++) y[i] = null_x[i] + (MODE == 0) + YES + time + null; }
`, "", []string{
			`"null": {values: [0, 1], default: 0}`,
			`MODE: {values: ["NULL"]`,
			"{name: N, type: i32, value: 1} # look",
		}, nil},
		{"main.c", `float taps[5];
void conv(const float *x, float *y, int n);
void conv(const float *x, float *y, int n) { for (int i = 0; i < n; i++) y[i] = taps[i % 5] * x[i]; }
int main(void) { float x[1] = {0}, y[1]; conv(x, y, 1); return 0; }
`, "", []string{
			"look: in reference.c conv takes taps, too, and is called without it",
		}, nil},
		{"omp3.cpp", `#include <omp.h>
float taps[5];
namespace a { void conv(const float *x, float *y, int n);
void conv(const float *x, float *y, int n) {
	int t = omp_get_max_threads(); (void)t; omp_set_num_threads(2);
#pragma omp parallel for
	for (int i = 0; i < n; i++) y[i] = taps[i % 5] * x[i]; } }
int main() { float x[1] = {0}, y[1]; a::conv(x, y, 1); return 0; }
`, "", []string{
			"#define omp_get_max_threads() 1\n#define omp_set_num_threads(n) ((void)(n))",
			"int n, const float taps[5] = 0);",
			"int n, const float taps[5]) {",
			"using a::conv;",
		}, nil},
		{"rgb.c", `void rgb(const float *a, const float *b, const float *c, float *y, int w, int h, int n) {
	for (int i = 0; i < n; i++)
		for (int j = 0; j < h; j++)
			for (int k = 0; k < w; k++) {
				int at = (i * h + j) * w + k;
				for (int l = 0; l < 3; l++) y[at * 3 + l] = a[l + 3 * (k + w * j)] + b[i * h * w + j * w + k];
			}
	for (int k = 0; k < w; k++) for (int l = 0; l < 3; l++) y[0] += c[l * w + k];
}
`, "", []string{
			"{name: a, type: f32, shape: [H, W, 3]}",
			"{name: b, type: f32, shape: [N, H, W]}",
			"{name: c, type: f32, shape: [3, W]}",
			"{name: y, type: f32, shape: [N, H, W, 3], inout",
		}, nil},
		{"big.C", `namespace a { void k(const float *x, float *y, int n) { for (int i = 0; i < n; i++) y[i] = x[i]; } }
`, "", []string{
			"source: {host: big.cpp}\nreference: {host: reference.cpp}", `entry: "a::k"`,
		}, nil},
		{"head.hh", `#ifdef __cplusplus
void k(const float *x, float *y, int n) { for (int i = 0; i < n; i++) y[i] = x[i]; }
#endif
`, "", []string{
			"source: {host: head.cpp}",
		}, nil},
		{"zero.c", `#include <string.h>
#ifndef TILE
#define TILE 16
#endif
void copy(const float *x, float *y, size_t n) { memset(y, 0, n * sizeof *y); for (size_t i = 0; i < n; i++) y[i] = x[i]; }
`, "", []string{
			"{name: y, type: f32, shape: [N], out: true} # look: inout: true if the source reads y before it writes it",
			"the source uses no macro with a default",
		}, nil},
		{"embed.c", `void embed(const float *table, const int *at, const int *ids, const int *grid, float *y, int n, int dim) {
	for (int i = 0; i < n; i++) {
		int id = at[i];
		const float *row = table + id * dim, *other = table + (long)ids[i] * dim;
		const int *cells = grid + i * dim;
		for (int j = 0; j < dim; j++) y[i * dim + j] = row[j] + other[j] + cells[j];
	}
}
`, "", []string{
			"look: the range of at,", "look: the range of ids,",
		}, []string{"range of grid", "range of table"}},
		{"unset.c", `#if STRATEGY == 1
#define LOOP for (int i = n - 1; i >= 0; i--)
#elif defined(OTHER) && __GNUC__ > 3
#endif
#ifndef LOOP
#define LOOP for (int i = 0; i < n; i++)
#endif
void k(const float *x, float *y, int n) {
	_Pragma("omp parallel for")
	LOOP y[i] = x[i];
}
`, "", []string{
			"look: STRATEGY decides what is compiled, and the source does not define it: init read it without",
			"look: launch: {threads: 4} if it is to run on four threads",
		}, []string{"OTHER decides", "__GNUC__ decides"}},
		{"spaces.cpp", `namespace a { void k(const float *x, float *y, int n) { for (int i = 0; i < n; i++) y[i] = x[i]; } }
namespace b { void k(const float *x, float *y, int n) { for (int i = 0; i < n; i++) y[i] = 2 * x[i]; } }
`, "b::k", []string{
			`entry: "b::k"` + "\n",
		}, nil},
		{"spaces.cpp", `namespace a { void k(const float *x, float *y, int n) { y[0] = x[0]; } }
namespace b { void k(const float *x, float *y, int n) { y[0] = x[0]; } }
`, "k", []string{
			"several functions could be the kernel: a::k, b::k; name one with --entry",
		}, nil},
		{"overloads.cpp", `void k(const float *x, float *y, int n) { y[0] = x[0]; }
void k(const double *x, double *y, int n) { y[0] = x[0]; }
`, "", []string{
			"several functions are called k, and an entry is a name alone: rename the one that is meant",
		}, nil},
		{"static.c", `static void k(const float *x, float *y, int n) { y[0] = x[0]; }
void other(const float *x, float *y, int n) { y[0] = x[0]; }
`, "k", []string{
			"no void function that other files can call is called k: it has k, but static and inline functions",
		}, nil},
		{"truth.c", `#include <stdbool.h>
typedef bool flag;
void pick(const bool *m, const flag *f, const float *t, float *y, int n) {
	for (int i = 0; i < n; i++) y[i] = t[m[i]] + f[i];
}
`, "", []string{
			"{name: m, type: u8, shape: [N], range: [0, 1]}\n",
			"{name: f, type: u8, shape: [N], range: [0, 1]}\n",
		}, nil},
		{"spmv.c", `void spmv(const int *rowptr, const int *col, const int *perm, const int *plain, const float *v, const float *x,
	float *y, int rows) {
	for (int i = 0; i < rows; i++) {
		float s = 0;
		int to = 0;
		to += perm[i];
		for (int j = rowptr[i]; j < rowptr[i + 1]; j++) s += v[j] * x[col[j]];
		y[to] = s + plain[i];
	}
}
`, "", []string{
			"look: the range of rowptr, as in range: [0, N - 1]: its elements go into an index or the condition of a loop",
			"look: the range of col,",
			"look: the range of perm,",
		}, []string{"range of plain", "range of v", "range of x"}},
		{"steps.c", `void axpy(const float *x, float *y, int n, int incx, int off, int m) {
	int last = m - 1;
	for (int i = 0; i < n; i++) y[i] = x[i * incx + off];
	for (int j = 0; j < last; j++) y[j * m] += 1;
}
`, "", []string{
			"look: whether incx is a size, or an offset or a step: it stands in indices, and in no condition",
			"look: whether off is a size, or an offset",
			"{name: n, type: i32, value: N}\n",
			"{name: m, type: i32, value: M}\n",
		}, nil},
	})
}
