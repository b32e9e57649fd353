package kernels

import (
	"strings"
	"testing"
)

const tileManifest = `name: rows
entry: rows
source: {triton: rows.py}
reference: {python: reference.py}
params:
  BLOCK: {values: [64, 128], default: 64}
  NUM_WARPS: {values: [2, 4], default: 4}
workloads: {even: {R: 48, N: 512}, one: {R: 1, N: 500}}
args:
  - {name: x, type: f16, shape: [R, N]}
  - {name: y, type: f16, shape: [R, N], out: true}
  - {name: bytes, type: u8, shape: [N], align: 1}
  - {name: R, type: i32, value: R}
  - {name: N, type: i64, value: N}
  - {name: scale, type: f32, value: 0.5}
defines: {WIDTH: N}
launch:
  grid: [R]
`

// A kernel on tiles has its block from the number of warps, aligned buffers, and sizes of a
// class.
func TestTiles(t *testing.T) {
	k, err := parse(ManifestName, []byte(tileManifest), CUDA)
	if err != nil {
		t.Fatal(err)
	}
	if !k.Tiled() || !k.PythonReference() || len(k.Flags) > 0 {
		t.Errorf("%+v", k)
	}
	env := k.Workloads[0].Dims.Environment()
	env.Set(k.Default())
	calls, err := k.Launch.Calls(env)
	if err != nil || calls[0].Block != [3]int64{128, 1, 1} || calls[0].Grid != [3]int64{48, 1, 1} {
		t.Errorf("%+v, %v", calls, err)
	}
	if k.Arguments[0].Align != 16 || k.Arguments[2].Align != 1 {
		t.Errorf("aligned to %d and %d", k.Arguments[0].Align, k.Arguments[2].Align)
	}
	for _, test := range []struct {
		other Dims
		same  bool
	}{
		{Dims{"R": 16, "N": 16}, true},
		{Dims{"R": 48, "N": 500}, false},
		{Dims{"R": 47, "N": 512}, false},
		{Dims{"R": 1, "N": 512}, false},
	} {
		if same := k.SameClass(k.Workloads[0].Dims, test.other); same != test.same {
			t.Errorf("%s: %v", test.other, same)
		}
	}
	if class := k.Class(k.Workloads[0]); class != "R divisible by 16, N divisible by 16" {
		t.Error(class)
	}
	if class := k.Class(k.Workloads[1]); class != "R = 1, N not divisible by 16" {
		t.Error(class)
	}
}

func TestTilesRefuse(t *testing.T) {
	for says, change := range map[string][2]string{
		"the block of rows.py follows from num_warps":     {"  grid: [R]", "  grid: [R]\n  block: [64]"},
		"decides about shared memory":                     {"  grid: [R]", "  grid: [R]\n  shared: 64"},
		"a list of launches is not supported for rows.py": {"launch:\n  grid: [R]", "launch: [{entry: rows, grid: [R]}]"},
		"launch needs a grid for rows.py":                 {"launch:\n  grid: [R]\n", ""},
		"takes no flags":                                  {"launch:", "flags: [-O3]\nlaunch:"},
		"tensor descriptors that the host makes are not":  {"shape: [R, N]}", "shape: [R, N], tensormap: {box: [16, 16]}}"},
		"rows.py has no variables on the device":          {"shape: [R, N]}", "shape: [R, N], symbol: table}"},
		"takes pointers to numbers, not to structures":    {"type: f16, shape: [R, N]}", "type: f32x2, shape: [R, N]}"},
		"a number is passed as f32 or f64":                {"type: f32, value: 0.5", "type: f16, value: 0.5"},
		"launch needs reference: {grid: ..., block: ...}": {"{python: reference.py}", "{cuda: reference.cu}"},
		"unknown backend \"pyton\"":                       {"{python: reference.py}", "{pyton: reference.py}"},
		"a reference below triton is one for such a source": {
			"{triton: rows.py}\nreference: {python", "{cuda: rows.cu}\nreference: {triton",
		},
	} {
		_, err := parse(ManifestName, []byte(strings.Replace(tileManifest, change[0], change[1], 1)), CUDA)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", says, err)
		}
	}
}
