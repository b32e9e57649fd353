package cuda

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl/kernels"
	"pawl/objective"
)

// gatherManifest has inputs of every kind that is not drawn on the device: indices by a
// permutation, numbers by a formula, and a file; and an answer in another file.
const gatherManifest = `name: gather
entry: gather
source: {cuda: gather.cu}
workloads: {small: {N: 1000}}
args:
  - {name: order, type: i32, shape: [N], fill: {formula: "N - 1 - i"}}
  - {name: x, type: f32, shape: [N], from: x.bin}
  - {name: y, type: f32, shape: [N], out: true, answer: y.bin}
  - {name: N, type: i32, value: N}
params: {THREADS: {values: [64, 128], default: 64}, WRONG: {values: [0, 1], default: 0}}
launch: {grid: ["cdiv(N, THREADS)"], block: [THREADS]}
`

const gatherSource = `extern "C" __global__ void gather(const int *order, const float *x, float *y, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n - WRONG)
        y[i] = x[order[i]];
}
`

// Contents from files and formulas reach a real GPU, and answers are compared there, with a
// reference and without.
func TestGPUInputsFromFiles(t *testing.T) {
	requireGPU(t)
	var x, y []byte
	for i := range 1000 {
		x = binary.LittleEndian.AppendUint32(x, math.Float32bits(float32(i)))
		y = binary.LittleEndian.AppendUint32(y, math.Float32bits(float32(999-i)))
	}
	referenced := strings.NewReplacer("source: {cuda: gather.cu}\n",
		"source: {cuda: gather.cu}\nreference: {cuda: reference.cu}\n",
		", answer: y.bin", "", `{formula: "N - 1 - i"}`, "permutation").Replace(gatherManifest)
	for name, manifest := range map[string]string{"answer": gatherManifest, "reference": referenced} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, content := range map[string]string{
				"kernel.yaml": manifest, "gather.cu": gatherSource, "x.bin": string(x), "y.bin": string(y),
				"reference.cu": strings.NewReplacer("THREADS", "blockDim.x", " - WRONG", "").Replace(gatherSource),
			} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			k, err := kernels.Load(dir, kernels.CUDA)
			if err != nil {
				t.Fatal(err)
			}
			r := newRealRig(t, k, "", objective.Options{})
			r.passes("")
			r.passes("THREADS=128")
			r.fails("WRONG=1", objective.Fuzz, string(objective.WrongResult))
		})
	}
}
