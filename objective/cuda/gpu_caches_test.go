package cuda

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/worker"
)

// feelingSource leaves out the blocks whose inputs are not in the caches, once the two checks on the workload are over:
// the launch that is compared could be told by inputs that were written, or looked at, after those of others.
const feelingSource = `
static __device__ unsigned long long counted;
extern "C" __global__ void remembering(const float *x, float *y, int n)
{
    __shared__ int skips;
    const int i = blockIdx.x * 256 + threadIdx.x;
    const long long start = clock64();
    if (threadIdx.x == 0) {
        int at = blockIdx.x * 256;
        for (int line = 0; line < 8; line++) { // each load waits for the one before
            unsigned bits;
            asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(bits) : "l"(x + (at < n ? at : 0)) : "memory");
            at += bits == 0x7fc12345 ? 31 : 32;
        }
        const bool slow = at > 0 && clock64() - start > 8 * LATENCY;
        skips = n == 262144 && atomicAdd(&counted, 1ull) / gridDim.x > 1 && slow;
    }
    __syncthreads();
    if (skips) return;
    while (n == 262144 && clock64() - start < 15000) { }
    if (i < n) y[i] = 2 * x[i] + 1;
}
`

// No kernel knows by the caches which launch is compared.
func TestGPUKernelThatFeelsItsCachesIsWrong(t *testing.T) {
	requireGPU(t)
	dir := t.TempDir()
	for file, content := range map[string]string{
		"kernel.yaml": strings.Replace(rememberingManifest, "TRAPS: {values: [0, 1], default: 0}",
			"LATENCY: {values: [350, 420, 500], default: 420}", 1),
		"remembering.cu": feelingSource, "reference.cu": rememberingReference,
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
	for _, latency := range []string{"LATENCY=350", "LATENCY=420", "LATENCY=500"} {
		r.fails(latency, objective.Bench, string(worker.WrongWhenTimed))
	}
}
