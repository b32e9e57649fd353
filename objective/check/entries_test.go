package check

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"pawl/kernels"
	"pawl/space"
)

// What a device calls are the symbols of the module, and not what the manifest calls them.
func TestCallsHaveTheSymbolsOfTheirModule(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"scale.cu": "template <int Lanes> __global__ void scale(float *y) {}",
		kernels.ManifestName: `name: scale
entry: "scale<{LANES}>"
source: {cuda: scale.cu}
reference: {cuda: scale.cu}
params: {LANES: {values: [1, 2], default: 1}}
workloads: {small: {N: 8}}
args: [{name: y, type: f32, shape: [N], out: true}]
launch: {grid: [N], block: [LANES]}
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	k, err := kernels.Load(dir, kernels.CUDA)
	if err != nil {
		t.Fatal(err)
	}
	oracle := NewOracle(k, func(context.Context, space.Point) (Module, error) {
		return Module{Path: "reference", Functions: []kernels.Function{{Symbol: "_Z5scalePf"}}}, nil
	}, nil)
	if err := oracle.Ready(t.Context(), k.Default()); err != nil {
		t.Fatal(err)
	}
	on := OnDevice{Target{Kernel: k, Workload: k.Workloads[0], Oracle: oracle}}
	instance := []kernels.Function{{Symbol: "_Z5scaleILi1EEvPf"}}
	load, err := on.Load(t.Context(), Subject{k.Default(), Module{Path: "kernel", Functions: instance}},
		Case{Dims: k.Workloads[0].Dims})
	if err != nil || load.Calls[0].Entry != "_Z5scaleILi1EEvPf" || load.Reference.Call.Entry != "_Z5scalePf" ||
		load.Reference.Module != "reference" {
		t.Errorf("%+v, %v", load, err)
	}
	if k.Launch.Reference.Entry != "scale" || kernels.EntryAt(k.Entry, k.Default()) != "scale<1>" {
		t.Errorf("%s, %s", k.Launch.Reference.Entry, k.Entry)
	}
}
