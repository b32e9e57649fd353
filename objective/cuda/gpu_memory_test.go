package cuda

import (
	"os"
	"path/filepath"
	"testing"

	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/worker"
)

const rememberingManifest = `name: remembering
entry: remembering
source: {cuda: remembering.cu}
reference: {cuda: reference.cu}
workloads: {small: {N: 262144}}
args:
  - {name: x, type: f32, shape: [N]}
  - {name: y, type: f32, shape: [N], out: true}
  - {name: N, type: i32, value: N}
params: {TRAPS: {values: [0, 1], default: 0}}
fuzz: {N: [256, 1000]}
tolerance: {atol: 1e-5, rtol: 1e-5}
launch:
  grid: ["cdiv(N, 256)"]
  block: [256]
  reference: {grid: ["cdiv(N, 256)"], block: [256]}
`

// rememberingSource keeps the answers of three blocks in ten, by what their inputs hold. Its launches
// take more than a millisecond, so that each is a sample of its own; the first two on the workload
// are checks. One that finds what it remembers in any other traps.
const rememberingSource = `
static __device__ float answers[1 << 12][256];
static __device__ unsigned long long keys[1 << 12], counted;
extern "C" __global__ void remembering(const float *x, float *y, int n)
{
    __shared__ unsigned long long key, launch;
    const int i = blockIdx.x * 256 + threadIdx.x;
    const float mine = i < n ? x[i] : 0;
    if (threadIdx.x == 0) {
        key = 1;
        launch = n == 262144 ? atomicAdd(&counted, 1ull) / gridDim.x : 0;
    }
    __syncthreads();
    atomicAdd(&key, (__float_as_uint(mine) + 1ull) * (2 * threadIdx.x + 1) * 0x9e3779b97f4a7c15ull);
    __syncthreads();
    const unsigned slot = blockIdx.x * 4 + (key >> 40) % 4; // no other block's
    const bool keeps = blockIdx.x % 10 < 3 && n == 262144, known = keeps && keys[slot] == key;
    if (TRAPS && known && launch > 1) asm volatile("trap;");
    __syncthreads();
    unsigned long long start, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (!known && n == 262144 && now < start + 2000000);
    const float answer = known ? answers[slot][threadIdx.x] : 2 * mine + 1;
    if (i < n) y[i] = answer;
    if (keeps && !known) {
        answers[slot][threadIdx.x] = answer;
        __syncthreads();
        if (threadIdx.x == 0) keys[slot] = key;
    }
}
`

const rememberingReference = `
extern "C" __global__ void remembering(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0 * x[i] + 1.0;
}
`

// A kernel on a real GPU that remembers meets nothing in a timed launch that it has met before.
func TestGPUMemoryIsOfNoUse(t *testing.T) {
	requireGPU(t)
	dir := t.TempDir()
	for file, content := range map[string]string{
		"kernel.yaml": rememberingManifest, "remembering.cu": rememberingSource, "reference.cu": rememberingReference,
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	k, err := kernels.Load(dir, kernels.CUDA)
	if err != nil {
		t.Fatal(err)
	}
	for _, caches := range []worker.Caches{worker.Cold, worker.Warm} {
		r := newRealRig(t, k, "", objective.Options{Caches: caches})
		if outcome := r.passes("TRAPS=1"); outcome.Batch != 1 {
			t.Errorf("%s: %d launches in a sample", caches, outcome.Batch)
		}
	}
}
