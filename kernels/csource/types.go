package csource

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// Qualifiers are words beside a type that do not change what it holds.
var Qualifiers = setOf(`const volatile static extern inline register constexpr typedef auto mutable thread_local
	_Thread_local restrict __restrict__ __restrict __constant__ __device__ __global__ __host__ __shared__ __managed__
	__inline__ __inline __forceinline__ __noinline__ __grid_constant__ struct union enum class typename __launch_bounds__
	explicit virtual override final noexcept try consteval constinit __extension__ _Noreturn friend`)

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(words) {
		set[word] = true
	}
	return set
}

// elements has the manifest's names of types.
var elements = map[string]string{
	"double": "f64", "float": "f32", "half": "f16", "__half": "f16", "__nv_bfloat16": "bf16", "nv_bfloat16": "bf16",
	"half2": "f16x2", "__half2": "f16x2", "__nv_bfloat162": "bf16x2", "nv_bfloat162": "bf16x2",
	"__nv_fp8_e4m3": "e4m3", "__nv_fp8_e5m2": "e5m2", "ptrdiff_t": "i64", "ssize_t": "i64", "intptr_t": "i64",
	"size_t": "u64", "uintptr_t": "u64", "uint": "u32", "ushort": "u16", "uchar": "u8", "bool": "u8", "_Bool": "u8",
	"cuFloatComplex": "c64", "cuComplex": "c64", "cuDoubleComplex": "c128", "complex<float>": "c64",
	"complex<double>": "c128", "float complex": "c64", "float _Complex": "c64", "double complex": "c128",
	"double _Complex": "c128",
}

var (
	sized  = regexp.MustCompile(`^(u?)int(8|16|32|64)_t$`)
	vector = regexp.MustCompile(`^(u?)(char|short|int|longlong|float|double)([234])$`)
	widths = map[string]string{"char": "8", "short": "16", "int": "32", "longlong": "64"}
	signs  = map[string]string{"": "i", "u": "u"}
)

// Element is the manifest's name of a type, empty where it has none.
func Element(words []string) string {
	name := strings.Join(words, " ")
	for _, prefix := range []string{"::", "cuda::", "std::"} {
		name = strings.TrimPrefix(name, prefix)
	}
	if element := elements[name]; element != "" {
		return element
	}
	if match := sized.FindStringSubmatch(name); match != nil {
		return signs[match[1]] + match[2]
	}
	if match := vector.FindStringSubmatch(name); match != nil {
		number := elements[match[2]]
		if number == "" {
			number = signs[match[1]] + widths[match[2]]
		}
		return number + "x" + match[3]
	}
	sign, width := "i", "32"
	for _, word := range words {
		switch word {
		case "unsigned":
			sign = "u"
		case "char", "short":
			width = widths[word]
		case "long":
			width = "64"
		case "int", "signed":
		default:
			return ""
		}
	}
	if len(words) == 0 {
		return ""
	}
	return sign + width
}

// isType says that a word is part of a number's type, as in a cast.
func isType(word string) bool { return word == "const" || Element([]string{word}) != "" }

// Resolved is a type with the names that the source gives others put in: its words, without qualifiers.
func (u *Unit) Resolved(d Declaration) (words []string, stars int, constant bool, odd string) {
	stars, odd = d.Stars, d.Odd
	if len(d.Sizes) > 1 && odd == "" {
		odd = "is an array of arrays"
	}
	if len(d.Sizes) > 0 {
		stars++
	}
	for _, t := range d.Words {
		constant = constant || strings.HasPrefix(t.Text, "const") && t.Text != "consteval"
		if !Qualifiers[t.Text] {
			words = append(words, t.Text)
		}
	}
	at := slices.IndexFunc(u.aliases, func(a Declaration) bool { return len(words) == 1 && a.Name == words[0] })
	if at >= 0 {
		others := *u
		others.aliases = slices.Concat(u.aliases[:at], u.aliases[at+1:])
		more, further, fixed, unlike := others.Resolved(u.aliases[at])
		return more, stars + further, constant && further == 0 || fixed, cmp.Or(odd, unlike)
	}
	return words, stars, constant, odd
}

// WithType is the same source with one more name of a type.
func (u *Unit) WithType(name, kind string) *Unit {
	within := *u
	within.aliases = append([]Declaration{{Name: name, Words: Scan(kind)}}, u.aliases...)
	return &within
}
