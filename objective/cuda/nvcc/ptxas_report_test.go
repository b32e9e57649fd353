package nvcc

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What real compilers printed; see testdata. The expected figures were read off
// by eye. The spills of "spills" are its own 1356 and 2100 bytes and the 308 of
// a function that was not inlined.
func TestParseRealOutput(t *testing.T) {
	several := map[string]Resources{
		"spills": {
			Registers:   32,
			SpillStores: 1356 + 308,
			SpillLoads:  2100 + 308,
			Stack:       1696,
			Barriers:    1,
		},
		"plain":                         {Registers: 10},
		"_Z5scaleILi2EEvPK6__halfPS0_i": {Registers: 10, StaticShared: 1024, Barriers: 1},
	}
	for name, want := range map[string]map[string]Resources{
		"nvcc-13.0.txt": several,
		"ptxas-11.8.txt": {
			"other": {Registers: 4, Constant: 328},
			"twice": {Registers: 5, StaticShared: 256, Constant: 328},
		},
		"ptxas-13.0-sm_75.txt": {
			"other": {Registers: 6, Constant: 360},
			"twice": {Registers: 5, StaticShared: 256, Barriers: 1, Constant: 360},
		},
	} {
		text, err := os.ReadFile(filepath.Join("testdata", "ptxas", name))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := parsePtxas(string(text)); err != nil || !maps.Equal(got, want) {
			t.Errorf("%s: %v\ngot  %+v\nwant %+v", name, err, got, want)
		}
	}
}

// Orders and figures that versions before 11 used.
func TestParseOtherOrders(t *testing.T) {
	want := map[string]Resources{"k": {
		Registers:    20,
		SpillStores:  8,
		SpillLoads:   12,
		Stack:        16,
		StaticShared: 56,
		Constant:     26,
	}}
	const (
		entry      = "ptxas info    : Compiling entry function 'k' for 'sm_20'\n"
		used       = "ptxas info    : Used 20 registers, 40+16 bytes smem, 24 bytes cmem[0], 2 bytes cmem[16]\n"
		properties = "ptxas info    : Function properties for 'k'\n"
		stack      = "    16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n"
	)
	for name, text := range map[string]string{
		"properties last":   entry + used + properties + stack,
		"properties first":  properties + stack + entry + used,
		"without a name":    entry + stack + used,
		"one more warning":  "k.cu(3): warning: bytes\n" + entry + properties + stack + used,
		"carriage returns":  strings.ReplaceAll(entry+properties+stack+used, "\n", "\r\n"),
		"reported twice":    entry + properties + stack + used + entry + properties + stack + used,
		"a name over lines": "Compiling entry function '\n" + entry + stack + used,
	} {
		if got, err := parsePtxas(text); err != nil || !maps.Equal(got, want) {
			t.Errorf("%s: %v\ngot  %+v\nwant %+v", name, err, got, want)
		}
	}
}

func TestParseRefusesHalfAReport(t *testing.T) {
	for name, text := range map[string]string{
		"no registers": "ptxas info : Compiling entry function 'k' for 'sm_90'\n",
		"overflow":     "ptxas info : Compiling entry function 'k' for 'sm_90'\nptxas info : Used 99999999999 registers\n",
	} {
		if got, err := parsePtxas(text); err == nil {
			t.Errorf("%s: got %+v", name, got)
		}
	}
	if got, err := parsePtxas("nothing of interest\n"); err != nil || len(got) > 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

func FuzzPtxas(f *testing.F) {
	texts, err := filepath.Glob("testdata/ptxas/*.txt")
	if err != nil || len(texts) == 0 {
		f.Fatal("no seeds: ", err)
	}
	for _, path := range texts {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		kernels, err := parsePtxas(text)
		if err != nil {
			return
		}
		for name, r := range kernels {
			if !strings.Contains(text, "'"+name+"'") {
				t.Errorf("kernel %q is not in the text", name)
			}
			for _, n := range []int{r.Registers, r.SpillStores, r.SpillLoads, r.Stack, r.StaticShared, r.Barriers, r.Constant} {
				if n < 0 {
					t.Errorf("%s: a negative figure: %+v", name, r)
				}
			}
		}
	})
}
