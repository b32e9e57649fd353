package nvcc

import (
	"errors"
	"os"
	"strings"
	"testing"

	"pawl/objective/worker"
)

// Instances of templates are in the module under the symbols that it says, whether the source
// uses them or not, and other instances of the same template do not get in the way.
func TestInstancesOfTemplates(t *testing.T) {
	withNVCC(t, func(t *testing.T, c *Compiler) {
		for name, test := range map[string]struct {
			instances []string
			symbols   []string
		}{
			"of a template in a namespace": {
				[]string{"tiled::scale<LANES, float>"},
				[]string{"_ZN5tiled5scaleILi4EfEEvPKT0_PS1_i"},
			},
			"beside one that is there": {
				[]string{"twice<true, 7>", "tiled::scale<1, double>"},
				[]string{"_Z5twiceILb1ELi7EEvPfi", "_ZN5tiled5scaleILi1EdEEvPKT0_PS1_i"},
			},
		} {
			module := compileUnit(t, c, Unit{
				Dir: "testdata/units", Source: "templates.cu", Architecture: "sm_90", Instances: test.instances,
				Defines: []Define{{"LANES", "4"}},
			})
			for i, instance := range test.instances {
				symbol, err := module.Symbol(instance)
				if _, there := module.Kernels[symbol]; err != nil || symbol != test.symbols[i] || !there {
					t.Errorf("%s: %s is %s, %v; there are %v", name, instance, symbol, err, module.Kernels)
				}
			}
		}
	})
}

// Kernels that are not extern "C" are found by their names, and what is not there is said
// with what is.
func TestSymbolsOfPlainKernels(t *testing.T) {
	withNVCC(t, func(t *testing.T, c *Compiler) {
		module := compileUnit(t, c,
			Unit{Dir: "testdata/units", Source: "templates.cu", Architecture: "sm_90", Defines: []Define{{"LANES", "4"}}})
		for name, want := range map[string]string{
			"plain": "_Z5plainPf", "tiled::deep::inner": "_ZN5tiled4deep5innerEPf", "c_style": "c_style",
			"_Z10overloadedPf": "_Z10overloadedPf", "twice": "_Z5twiceILb1ELi3EEvPfi",
		} {
			if symbol, err := module.Symbol(name); err != nil || symbol != want {
				t.Errorf("%s is %s, %v", name, symbol, err)
			}
		}
		for name, want := range map[string]string{
			"overloaded": "2 kernels are called overloaded (_Z10overloadedPd, _Z10overloadedPf)",
			"inner":      "there is no kernel inner; there are overloaded, plain, twice<…>, tiled::deep::inner, c_style",
		} {
			if symbol, err := module.Symbol(name); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s is %s, %v, want %q", name, symbol, err, want)
			}
		}
	})
}

// A template that is not there is the compiler's to refuse, by its name.
func TestInstanceOfNoTemplate(t *testing.T) {
	withNVCC(t, func(t *testing.T, c *Compiler) {
		_, err := c.Compile(t.Context(),
			Unit{
				Dir:          "testdata/units",
				Source:       "templates.cu",
				Architecture: "sm_90",
				Instances:    []string{"tiled::scales<4>"},
				Defines:      []Define{{"LANES", "4"}},
			})
		if refused := (*worker.Refusal)(nil); !errors.As(err, &refused) || !strings.Contains(refused.Output, "scales") {
			t.Error(err)
		}
	})
}

// Symbols as the Itanium ABI has them: namespaces, templates, static functions.
func TestReadableSymbols(t *testing.T) {
	for symbol, want := range map[string]string{
		"plain": "plain", "_Z5plainPf": "plain", "_ZL6hiddenPi": "hidden", "_Z5scaleILi2EEvPK6__halfPS0_i": "scale<…>",
		"_ZN4deep6reduceILi4EfEEvPKT0_PS1_ii": "deep::reduce<…>", "_ZN12_GLOBAL__N_15localEPf": "local",
		"_ZN4deep12_GLOBAL__N_15localEPf": "deep::local", "_ZN19_INTERNAL_12345_a_b5localEPf": "local",
		"_Z": "_Z", "_Z99short": "_Z99short", "_ZN": "_ZN", "_Z0a": "_Z0a",
		"_Z99999999999999999999x": "_Z99999999999999999999x",
	} {
		if got := Readable(symbol); got != want {
			t.Errorf("%s: %q, want %q", symbol, got, want)
		}
	}
	for name, want := range map[string]int{"local": 1, "deep::reduce<4, float>": 1, "reduce": 0} {
		if got := called([]string{"_ZN12_GLOBAL__N_15localEPf", "_ZN4deep6reduceILi4EfEEvPKT0_PS1_ii"}, name); len(got) !=
			want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A pragma unrolls by a parameter although no compiler expands a macro there: other values are
// other machine code, and a mistake is still at its own line.
func TestPragmasUnrollByParameters(t *testing.T) {
	withNVCC(t, func(t *testing.T, c *Compiler) {
		size := func(factor string) int64 {
			module := compileUnit(t, c,
				Unit{Dir: "testdata/units", Source: "unroll.cu", Architecture: "sm_90", Defines: []Define{{"FACTOR", factor}}})
			info, err := os.Stat(module.Path)
			if err != nil {
				t.Fatal(err)
			}
			return info.Size()
		}
		if one, eight := size("1"), size("8"); eight <= one {
			t.Errorf("%d bytes unrolled once, %d eight times", one, eight)
		}
		_, err := c.Compile(t.Context(),
			Unit{Dir: "testdata/units", Source: "unroll.cu", Architecture: "sm_90", Defines: []Define{{"FACTOR", "9"}}})
		if err == nil || !strings.Contains(err.Error(), "unroll.cu(2)") && !strings.Contains(err.Error(), "unroll.cu:2:") {
			t.Error(err)
		}
	})
}
