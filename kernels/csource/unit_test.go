package csource

import (
	"fmt"
	"strings"
	"testing"
)

func texts(tokens []Token) string { return Join(tokens) }

func TestTokens(t *testing.T) {
	for source, want := range map[string]string{
		"\ufeffint a = 0x1Fu; // b\r\n/* c */ d":    "int a = 0x1Fu ; d",
		"x += 1'000 ->>> y<<<1, 2>>> z ## \\\n w":   "x += 1'000 -> >> y <<< 1 , 2 >>> z ## w",
		"R\"x(\" )y\" )x\" L'\\'' \"a\\\"b\" u8\"c": "R\"x(\" )y\" )x\" L'\\'' \"a\\\"b\" u8\"c",
		"// a \\\n b\n1e-5f .5 1.e+3 a.b ...":       "1e-5f .5 1.e+3 a . b ...",
		"don't":                                     "don 't",
		"/* open":                                   "",
	} {
		if got := texts(Scan(source)); got != want {
			t.Errorf("%q: %s, want %s", source, got, want)
		}
	}
}

// The numbers are those that gcc gives in #if, and largest is by hand.
func TestExpressions(t *testing.T) {
	for source, want := range map[string]int64{
		"1 + 2 * 3": 7, "(1 + 2) * 3": 9, "0x40 | 1 << 7": 192, "10 - 4 - 3": 3, "-7 / 2": -3, "~0 & 6": 6, "!3 || 2 > 1": 1,
		"1 ? 2 : 3 ? 4 : 5": 2, "010 + 1u": 9, "7 % 4 == 3 && 1": 1, "a + 1": 6, "(int)a * (unsigned long)2": 10,
		"static_cast<long>(a) + size_t(1)": 6, "std::max(a, 3) - min(a, 3)": 2, "a < 3 ? a : 3": 3,
	} {
		five := func(string, bool, bool) (int64, bool) { return 5, true }
		if got, ok := (Expression{Tokens: Scan(source), Value: five}).Evaluate(); got != want || !ok {
			t.Errorf("%s: %d %v, want %d", source, got, ok, want)
		}
	}
	largest := map[string]int64{"i": 9, "i % 4": 3, "i & 3": 3, "20 - i": -1, "i < 4 ? i : 4": 9,
		"f(i)": -1, "b[i]": -1, "i / i": -1, "i / 2": 4,
		"i +": -1, "1 / 0": -1, "08": -1, "x.i": -1}
	for source, want := range largest {
		nine := func(_ string, fixed, element bool) (int64, bool) { return 9, !fixed && !element }
		got, ok := Expression{Tokens: Scan(source), Value: nine, Largest: true}.Evaluate()
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("%s: %d, want %d", source, got, want)
		}
	}
}

// What a compiler would see.
func TestConditions(t *testing.T) {
	for source, want := range map[string]string{
		"#if 0\na\n#elif 1\nb\n#else\nc\n#endif\nd":                                         "b d",
		"#ifdef __cplusplus\na\n#else\nb\n#endif":                                           "b",
		"#define A 2\n#if A > 1 && defined(A) && !defined B\na\n#endif":                     "a",
		"#if X\na\n#ifdef Y\nb\n#else\nc\n#endif\n#else\nd\n#endif":                         "d",
		"#ifndef A\n#define A 3\n#endif\n#if A == 3\nA\n#endif\n#undef A\n#if A\nb\n#endif": "A",
		"#define F(x, ...) x##_t g(__VA_ARGS__)\nF(int, a, b) F":                            "int_t g ( a , b ) F",
		"#define A B\n#define B A c\nA":                                                     "A c",
		"#if __has_include(<x.h>)\na\n#endif\n#if 1 /\nb\n#endif":                           "",
		"#if defined(__CUDACC__) || \\\n defined(__GNUC__)\na\n#endif":                      "a",
		"#endif\n#else\na": "a",
	} {
		if got := texts(Read(source, "a.c", nil).Tokens); got != want {
			t.Errorf("%q: %s, want %s", source, got, want)
		}
	}
	u := Read("#if !defined A\n# define A 0x40\n#endif\n#ifndef B\n#define B (1 << 7)\n#endif\n#ifdef C\n#else\n"+
		"#define C 128u\n#endif\n#ifndef A\n#define A 3\n#endif\n#ifndef D\n#define D \"d\"\n#endif\n#ifndef E\n"+
		"#define E(x) x\n#endif\n#ifndef G\n#define G -1\n#endif\n#ifndef H\n#define H 2 * A\n#endif\nA B C D E G H",
		"a.c", nil)
	want := "[{A 64  false} {B 128  false} {C 128  false} {G -1  false}] [D E H]"
	if got := fmt.Sprint(u.Tuned(), u.Unknown()); got != want {
		t.Error(got)
	}
}

func TestDeclarations(t *testing.T) {
	u := Read(`
typedef struct point { int x, y; } point, *points;
typedef float real; using wide = std::int64_t;
enum class colour : char { red }; class empty; union { int i; } either;
extern "C" { int a = 1, *b, c[2][3]; }
float (*call)(int, float), grid[4] = {1, 2}; std::vector<std::pair<int, int>> pairs;
namespace one::two { inline namespace three { static real d; } namespace { char e; } }
[[nodiscard]] static inline __attribute__((hot)) int f(const real *x, wide n = 3) noexcept;
template <typename T, int N = 4, class... Rest> struct box { void method(float *x) { } };
template <typename T, int N = 4> void g(T (&all)[N], T *const *p, unsigned long long) { h(1); }
auto late(real x[]) -> void { }
void old(x, n) float *x; int n; { n = 1; }
box<int>::box() : a(1), b{2} { }
point operator+(point a, point b) { return a; }
MODULE(x) { int hidden; }
alignas(16) volatile int last;
`, "a.cpp", nil)
	var found []string
	for _, d := range u.Declared {
		text := fmt.Sprint(d.Space, " ", d.Name, " ", Join(d.Words), strings.Repeat("*", d.Stars), len(d.Sizes))
		if d.Function {
			text += fmt.Sprint(" function ", len(d.Template), d.Complete, len(d.Parameters))
		}
		found = append(found, strings.TrimSpace(text+" "+d.Odd))
	}
	want := `either union0
a int0
b int*0
c int2
call float0 is a pointer to a function or to an array
grid float1
pairs std::vector<std::pair<int,int>>0
one::two d static real0
one::two e char0
f static inline int0 function 0 false 2
g void0 function 2 true 3
late auto void0 function 0 true 1
old void0 function 0 true 2 its parameters are declared behind their list: write them into it
operator point0
last volatile int0`
	if got := strings.Join(found, "\n"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func FuzzPreprocess(f *testing.F) {
	f.Add("#ifndef A\n#define A(x, ...) x##__VA_ARGS__\n#endif\n" +
		"template <int N = (1 > 2)> void f(A(int, *) x) { for (;;) { } }")
	f.Add("#if defined A || B(1 ? 2 : 3)\nnamespace a { extern \"C\" { int (*p)(void), q[] = {1}; } }\n#elif 1\n#endif")
	f.Add("#define A A B\n#define B A A A\nA [[x]] R\"(\" struct { int x; } y = {<<<}; } ) ] >")
	f.Fuzz(func(t *testing.T, source string) {
		u := Read(source, "a.cu", nil)
		for _, d := range u.Declared {
			d.Free()
			u.Resolved(d)
		}
		for _, token := range u.Tokens {
			if token.From < 0 || token.To > len(source) || token.From > token.To {
				t.Fatalf("%q is at %d to %d", token.Text, token.From, token.To)
			}
		}
	})
}
