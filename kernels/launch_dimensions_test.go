package kernels

import (
	"reflect"
	"strings"
	"testing"
)

const onGrid = `name: k
entry: k
source: {cuda: k.cu}
reference: {cuda: r.cu}
params:
  BLOCK: {values: [32, 64], default: 32}
workloads:
  w: {N: 100, D: 64, MASK: 0}
defines: {HEAD: "2 * D", MASKED: MASK}
launch: {grid: ["cdiv(N, BLOCK)", N], block: ["4 * BLOCK"], shared: "BLOCK * D", reference: {grid: [N], block: [128]}}
args:
  - {name: x, type: f32, shape: [N], out: true}
fuzz: {N: [1, 7]}
tolerance: {atol: 0, rtol: 0}
`

func TestLaunch(t *testing.T) {
	k, err := parse("kernel.yaml", []byte(onGrid), CUDA)
	if err != nil {
		t.Fatal(err)
	}
	env := k.Workloads[0].Dims.Environment()
	reference, err := k.Launch.Reference.At(env)
	if want := (LaunchDimensions{Grid: [3]int64{100, 1, 1}, Block: [3]int64{128, 1, 1}}); err != nil ||
		reference.LaunchDimensions != want {
		t.Errorf("reference %+v, %v", reference, err)
	}
	env["BLOCK"] = 64
	launch, err := k.Launch.Steps[0].At(env)
	if want := (LaunchDimensions{Grid: [3]int64{2, 100, 1}, Block: [3]int64{256, 1, 1}, Shared: 4096}); err != nil ||
		launch.LaunchDimensions != want {
		t.Errorf("kernel %+v, %v", launch, err)
	}
	constants, err := k.Constants(k.Workloads[0].Dims)
	if want := []Constant{{"HEAD", "128"}, {"MASKED", "0"}}; err != nil || !reflect.DeepEqual(constants, want) {
		t.Errorf("constants %v, %v", constants, err)
	}
}

func TestLaunchMistakes(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{`grid: ["cdiv(N, BLOCK)", N], `, ``, "needs a grid and a block"},
		{`reference: {grid: [N], block: [128]}`, `reference: {grid: [BLOCK], block: [128]}`, "BLOCK"},
		{`reference: {grid: [N], block: [128]}`, `reference: {grid: [N]}`, "reference needs a grid and a block"},
		{`"2 * D"`, `"2 * N"`, "the fuzz matrix varies"},
		{`HEAD:`, `BLOCK:`, "both a parameter and a define"},
		{`"4 * BLOCK"`, `1, 1, 1, 1`, "at most three"},
	} {
		_, err := parse("kernel.yaml", []byte(strings.Replace(onGrid, c.old, c.new, 1)), CUDA)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s -> %s: %v, want %q", c.old, c.new, err, c.want)
		}
	}
	k, err := parse("kernel.yaml", []byte(strings.Replace(onGrid, `"4 * BLOCK"`, `"BLOCK - 64"`, 1)), CUDA)
	if err != nil {
		t.Fatal(err)
	}
	env := k.Workloads[0].Dims.Environment()
	env["BLOCK"] = 32
	if _, err := k.Launch.Calls(env); err == nil || !strings.Contains(err.Error(), "block dimension 0 is -32") {
		t.Errorf("a negative block: %v", err)
	}
}
