package dispatch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/cuda/nvcc"
)

// hostile is a device's name with what breaks literals, comments and trigraphs.
const hostile = `GPU "9000" \ ??/ */ é`

// table is one for two devices: D is fixed, and two variants are for the first device.
func table(t testing.TB, prefix string) *Table {
	t.Helper()
	v := func(text string, constants ...kernels.Constant) Variant {
		p := point(t, text)
		build := objective.Build{
			Source: "k.c", Compiler: []string{"cc"}, Flags: []string{"-O2", "-DNAME=a b"}, Constants: constants,
		}
		return Variant{Point: p, Recipe: build.At(p)}
	}
	sizes := func(d, n int64) kernels.Dims { return kernels.Dims{"D": d, "N": n} }
	made := &Table{
		Prefix: prefix, Kernel: "k*/", Source: "s", Entry: "k", Sizes: []string{"D", "N"}, Fixed: []string{"D"},
		Domain: []string{"N % 8 == 0"},
		Variants: []Variant{
			v(`BLOCK=8,MODE="a ?? \"b\"",int=-9223372036854775808`, kernels.Constant{Name: "DEPTH", Value: "64"}),
			v(`BLOCK=16,MODE=row,int=9`, kernels.Constant{Name: "DEPTH", Value: "64"}),
			v(`BLOCK=16,MODE=row,int=9`, kernels.Constant{Name: "DEPTH", Value: "128"}),
		},
		Entries: []Entry{
			{Device: hostile, Workload: "small", Sizes: sizes(64, 100), Variant: 0, Milliseconds: 0.25},
			{Device: hostile, Workload: "large", Sizes: sizes(64, 10000), Variant: 1, Milliseconds: 2, Loss: 0.015},
			{Device: "other", Workload: "wide", Sizes: sizes(128, 0), Variant: 2, Milliseconds: 3},
		},
	}
	if err := made.check(); err != nil {
		t.Fatal(err)
	}
	return made
}

// asks is a program that asks a table; its answers are 0 where they are right.
const asks = `#include "k_dispatch.h"
#include "k_dispatch.h"
#include "second.h"
#define BLOCK 99 /* names of parameters are free for others after the header and before it */
#define DEVICE "GPU \"9000\" \\ ?\?/ */ \303\251"
#ifdef __cplusplus
#if __cplusplus >= 201402L
static_assert(k_dispatch(DEVICE, 64, 100) == 0, "known to the compiler");
static_assert(k_dispatch_variants[1].param_BLOCK == 16, "known to the compiler");
#endif
#endif
int main(void) {
	if (k_dispatch(DEVICE, 64, 100) != 0) return 1;       /* as measured */
	if (k_dispatch(DEVICE, 64, 10000) != 1) return 2;
	if (k_dispatch(DEVICE, 64, 1) != 0) return 3;         /* the nearest: 100 */
	if (k_dispatch(DEVICE, 64, 900) != 0) return 4;       /* 9 times 100, a ninth of 10000 */
	if (k_dispatch(DEVICE, 64, 1100) != 1) return 5;
	if (k_dispatch(DEVICE, 128, 100) != -1) return 6;     /* never built for 128 on this device */
	if (k_dispatch("other", 128, 5) != 2) return 7;
	if (k_dispatch("other", 128, 0) != 2) return 8;
	if (k_dispatch("nobody", 64, 100) != -1) return 9;
	if (k_dispatch(0, 64, 100) != -1) return 10;
	if (k_dispatch_variants[0].param_BLOCK != 8 || k_dispatch_variants[0].param_int >= 0) return 11;
	if (k_dispatch_variants[0].param_MODE[3] != '?' || k_dispatch_variants[0].param_MODE[5] != '"') return 12;
	if (k_dispatch_entries[1].milliseconds != 2.0 || K_DISPATCH_VARIANTS != 3) return 13;
	return second("other", 128, 0) == 2 ? 0 : 14;
}
`

func writeTable(t *testing.T, folder string, made *Table, name string) {
	t.Helper()
	var text bytes.Buffer
	if err := made.Header(&text); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name), text.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The header works verbatim in every dialect that has long long, two of them in one file,
// without a warning.
func TestTheHeaderSelects(t *testing.T) {
	folder := t.TempDir()
	writeTable(t, folder, table(t, "k_dispatch"), "k_dispatch.h")
	writeTable(t, folder, table(t, "second"), "second.h")
	for compiler, dialects := range map[string][]string{"cc": {"c99", "gnu17"}, "c++": {"c++11", "c++20"}} {
		if _, err := exec.LookPath(compiler); err != nil {
			if compiler == "cc" {
				t.Fatal(err)
			}
			t.Skipf("no %s: the header was compiled as C only", compiler)
		}
		source := filepath.Join(folder, map[string]string{"cc": "ask.c", "c++": "ask.cpp"}[compiler])
		if err := os.WriteFile(source, []byte(asks), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, dialect := range dialects {
			program := filepath.Join(folder, dialect)
			build := exec.CommandContext(t.Context(), compiler, "-std="+dialect, "-Wall", "-Wextra", "-pedantic",
				"-Wno-long-long", "-Werror", source, "-o", program)
			if output, err := build.CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", dialect, err, output)
				continue
			}
			if output, err := exec.CommandContext(t.Context(), program).CombinedOutput(); err != nil {
				t.Errorf("%s: %v %s", dialect, err, output)
			}
		}
	}
}

func TestTheHeaderIsForNvccToo(t *testing.T) {
	tool, err := nvcc.Find(t.Context(), os.Getenv)
	if err != nil {
		if os.Getenv("PAWL_REQUIRE_NVCC") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	folder := t.TempDir()
	writeTable(t, folder, table(t, "k_dispatch"), "k_dispatch.h")
	writeTable(t, folder, table(t, "second"), "second.h")
	if err := os.WriteFile(filepath.Join(folder, "ask.cu"), []byte(asks), 0o644); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), tool.Path, "-Werror", "all-warnings", "-c", "ask.cu", "-o", "ask.o")
	build.Dir = folder
	if output, err := build.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}

// Anything that would be a mixture is an error of the compiler, with what to do.
func TestTwoTablesDoNotMix(t *testing.T) {
	folder := t.TempDir()
	writeTable(t, folder, table(t, "k_dispatch"), "k_dispatch.h")
	other := table(t, "k_dispatch")
	other.Entries[0].Variant = 1
	writeTable(t, folder, other, "other.h")
	const kernel = "long k(void) { return BLOCK * 1000 + DEPTH; }\n"
	for name, test := range map[string]struct {
		source string
		flags  []string
		want   string
	}{
		"the same twice": {"#include \"k_dispatch.h\"\n#include \"k_dispatch.h\"\n", nil, ""},
		"two of one prefix": {"#include \"k_dispatch.h\"\n#include \"other.h\"\n", nil,
			"two different tables with the prefix k_dispatch"},
		"somebody else's guard": {"#define K_DISPATCH_H\n#include \"k_dispatch.h\"\n", nil, "error"},
		"a build":               {kernel, []string{"-DK_DISPATCH_BUILD=1", "-include", "k_dispatch.h"}, ""},
		"a build, included again": {"#include \"k_dispatch.h\"\n" + kernel,
			[]string{"-DK_DISPATCH_BUILD=1", "-include", "k_dispatch.h"}, ""},
		"a build with a define": {kernel, []string{"-DBLOCK=3", "-DK_DISPATCH_BUILD=1", "-include", "k_dispatch.h"},
			"BLOCK is defined before k_dispatch.h"},
		"a build of nothing": {kernel, []string{"-DK_DISPATCH_BUILD=3", "-include", "k_dispatch.h"},
			"there are the variants 0 to 2"},
	} {
		build := exec.CommandContext(t.Context(), "cc",
			append(test.flags, "-Wall", "-Werror", "-fsyntax-only", "-x", "c", "-")...)
		build.Dir, build.Stdin = folder, strings.NewReader(test.source)
		output, err := build.CombinedOutput()
		if (err == nil) != (test.want == "") || !strings.Contains(string(output), test.want) {
			t.Errorf("%s: %v\n%s", name, err, output)
		}
	}
}

func TestTablesJoin(t *testing.T) {
	here := table(t, "k_dispatch")
	here.Entries = here.Entries[:2]
	there := table(t, "elsewhere")
	there.Entries[0].Variant = 1 // of a device that is known here
	path := filepath.Join(t.TempDir(), "there.json")
	write := func(change func(*Table)) {
		changed := *there
		change(&changed)
		content, err := json.Marshal(&changed)
		if err == nil {
			err = os.WriteFile(path, content, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	write(func(*Table) {})
	if err := here.Join(path); err != nil || len(here.Entries) != 3 || len(here.Variants) != 3 ||
		here.Entries[0].Variant != 0 || here.Entries[2].Device != "other" {
		t.Errorf("%v: %+v", err, here.Entries)
	}
	for want, change := range map[string]func(*Table){
		"it was tuned from different sources": func(t *Table) { t.Source = "x" },
		"it has other sizes": func(t *Table) {
			t.Sizes, t.Fixed, t.Entries = []string{"M"}, nil, []Entry{{Device: "x", Sizes: kernels.Dims{"M": 1}}}
		},
		"does not fit the table": func(t *Table) {
			t.Entries = []Entry{{Device: "x", Sizes: t.Entries[0].Sizes, Variant: 7}}
		},
		"without variants":          func(t *Table) { t.Variants = nil },
		"is not the name of a":      func(t *Table) { t.Fixed = []string{"X"} },
		"does not say what":         func(t *Table) { t.Variants = []Variant{{Point: t.Variants[0].Point}} },
		"--prefix \"a b\": letters": func(t *Table) { t.Prefix = "a b" },
	} {
		write(change)
		if err := here.Join(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if err := here.Join(path + "x"); err == nil {
		t.Error("a file that is not there")
	}
}

// Every table that can be read can be written, and what is written is a C file.
func FuzzTable(f *testing.F) {
	content, err := json.Marshal(table(f, "k_dispatch"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(content)
	f.Add([]byte(`{"prefix":"a","sizes":["N"],"variants":[{"point":"A=1","file":"a b.c","compiler":["cc"]}],"entries":[{"device":"d","sizes":{"N":1},"variant":0}]}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		made, err := ParseTable(content)
		if err != nil {
			return
		}
		var header, cmake bytes.Buffer
		if err := made.Header(&header); err != nil {
			t.Fatal(err)
		}
		if err := made.CMake(&cmake); err != nil {
			t.Fatal(err)
		}
		if open, closed := strings.Count(header.String(), "#if"),
			strings.Count(header.String(), "#endif"); open < 5 || closed < 5 {
			t.Error(fmt.Sprint(open, closed))
		}
	})
}
