package kernels

import (
	"maps"
	"strings"
	"testing"
)

const sizedManifest = `name: scale
entry: scale
source: scale.c
reference: scale.c
params: {BLOCK: {values: [1, 2], default: 1}}
workloads: {first: {M: 64, N: 100}, second: {M: 8, N: 9}}
constraints: ["M % BLOCK == 0"]
domain: ["M % 8 == 0", "N <= 5000"]
args:
  - {name: x, type: f32, shape: [M, N]}
  - {name: y, type: f32, shape: [M, N], out: true}
fuzz: {}
`

func sizedKernel(t *testing.T) *Kernel {
	t.Helper()
	k, err := parse("kernel.yaml", []byte(sizedManifest), Host)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestWorkloadsBySizes(t *testing.T) {
	k := sizedKernel(t)
	for text, want := range map[string]Workload{
		"N=300":        {"N=300", Dims{"M": 64, "N": 300}},
		"N=7+M=16":     {"M=16+N=7", Dims{"M": 16, "N": 7}},
		" M=16 + N=7 ": {"M=16+N=7", Dims{"M": 16, "N": 7}},
		"second":       {"second", Dims{"M": 8, "N": 9}},
	} {
		if w, err := k.Workload(text); err != nil || w.Name != want.Name || !maps.Equal(w.Dims, want.Dims) {
			t.Errorf("%s: %+v, %v", text, w, err)
		}
	}
	for text, want := range map[string]string{
		"K=3":     "K is not a size of kernel scale; there are M, N",
		"M=7":     "promises nothing for these sizes; its domain is M % 8 == 0, N <= 5000",
		"N=x":     "sizes are written B=8+S=384",
		"N=1+N=2": "N is given twice", "N=99999999999999999999": "is too large",
		"third": `has no workload "third"; there are first, second`,
	} {
		if w, err := k.Workload(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v, want %q", text, w, err, want)
		}
	}
}

// A range gives its ends and sizes between them that the kernel takes, the same every time.
func TestWorkloadsFromRanges(t *testing.T) {
	k := sizedKernel(t)
	all, err := k.Range("M=64..1024+N=10..4000:7")
	if err != nil {
		t.Fatal(err)
	}
	again, _ := k.Range("M=64..1024+N=10..4000:7")
	seen := map[string]bool{}
	odd := false
	for i, w := range all {
		if w.Dims["M"]%8 != 0 || w.Dims["M"] < 64 || w.Dims["M"] > 1024 || w.Dims["N"] < 10 || w.Dims["N"] > 4000 {
			t.Errorf("%s is outside", w.Name)
		}
		if found, err := k.Workload(w.Name); err != nil || !maps.Equal(found.Dims, w.Dims) || again[i].Name != w.Name {
			t.Errorf("%s is not found again: %v, %s", w.Name, err, again[i].Name)
		}
		seen[w.Name] = true
		odd = odd || w.Dims["M"]&(w.Dims["M"]-1) != 0
	}
	if len(seen) != 7 || all[0].Dims["M"] != 64 || all[6].Dims["M"] != 1024 || !odd {
		t.Errorf("%v", seen)
	}
	if all, err = k.Range("N=10..20+M=8"); err != nil || len(all) != 5 || all[0].Dims["M"] != 8 {
		t.Errorf("%v, %v", all, err)
	}
	for text, want := range map[string]string{
		"N=5..5": "is no range", "N=9..3": "is no range", "N=0..3": "is no range", "N=1..": "is written S=256..4096",
		"N=1..9:1": "gives 2 to 100", "N=1..9:9999999999999999999": "gives 2 to 100",
		"K=1..9": "K is not a size", "N=1..9+N=1..8": "is no range",
		"N=6000..9000": "none of the sizes that were drawn can be used",
	} {
		if all, err := k.Range(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v, want %q", text, all, err, want)
		}
	}
}
