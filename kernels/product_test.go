package kernels

import (
	"slices"
	"strings"
	"testing"
)

// Flops that grow faster than bytes, over inputs of one dimension.
const bodies = `
name: bodies
entry: bodies
source: {host: bodies.c}
reference: {host: reference.c}
params: {WIDTH: {values: [1, 2], default: 1}}
workloads: {small: {N: 1000}}
args:
  - {name: at, type: f32, shape: [N, 4], fill: normal}
  - {name: moving, type: f32, shape: [N, 4], fill: normal}
  - {name: pull, type: f32, shape: [N, 4], out: true}
work: {flops: "20 * N * N", bytes: "48 * N"}
`

func TestWhatIsAProductOfMatrices(t *testing.T) {
	products := strings.Fields("attention attention_decode attention_hopper gemm gemm_grouped " +
		"gemm_grouped_fp8 gemm_mma matmul")
	for _, name := range Names() {
		k, err := LoadAny(name, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range k.Workloads {
			if want := slices.Contains(products, name); k.IsProduct(w, k.Default()) != want {
				t.Errorf("%s, workload %s: %v", name, w.Name, !want)
			}
		}
	}
	k, err := parse("kernel.yaml", []byte(bodies), Host)
	if err != nil {
		t.Fatal(err)
	}
	if k.IsProduct(k.Workloads[0], k.Default()) {
		t.Error("pairs of bodies became a product of matrices")
	}
}
