package scaffold

import "testing"

func TestCUDASourcesOfStrangers(t *testing.T) {
	testStrangers(t, []stranger{
		{"vec.cu", `__global__ void k(float *out, const float *in, float3 o, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = in[i] + o.x; }
`, "", []string{
			`its argument "float3 o" is several numbers by value`,
		}, nil},
		{"shared.cu", `template <int BLOCK> __global__ void reduce(const float *__restrict__ in, float *__restrict__ out, int n) {
  extern __shared__ float tile[];
  int i = blockIdx.x * BLOCK + threadIdx.x;
  tile[threadIdx.x] = i < n ? in[i] : 0.f;
  __syncthreads();
  for (int s = BLOCK / 2; s > 0; s >>= 1) { if (threadIdx.x < s) tile[threadIdx.x] += tile[threadIdx.x + s]; __syncthreads(); }
  if (threadIdx.x == 0) atomicAdd(out, tile[0]);
}
template __global__ void reduce<128>(const float *, float *, int);
`, "", []string{
			"shared: 0 # look: shared",
			"block: [BLOCK_VALUE]",
		}, nil},
		{"hist.cu", `#ifndef NUM_BINS
#define NUM_BINS 256
#endif
#ifndef THREADS
#define THREADS 256
#endif
extern "C" __global__ void __launch_bounds__(THREADS) histogram(const unsigned char *__restrict__ data, unsigned int *__restrict__ bins, size_t n) {
  __shared__ unsigned int local[NUM_BINS];
  for (int i = threadIdx.x; i < NUM_BINS; i += blockDim.x) local[i] = 0;
  __syncthreads();
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)blockDim.x * gridDim.x) atomicAdd(&local[data[i]], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < NUM_BINS; i += blockDim.x) atomicAdd(&bins[i], local[i]);
}
int main() { return 0; }
`, "", []string{
			"{name: bins, type: u32, shape: [256], inout: true",
			"shape of bins where NUM_BINS",
			"block: [THREADS]",
		}, nil},
		{"warp.cu", `#include <cuda_runtime.h>
constexpr int WARPS = 8;
template <typename T>
__device__ __forceinline__ T warp_sum(T v) {
#pragma unroll
  for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffffu, v, o);
  return v;
}
template <typename T, int VEC = 4>
__global__ void __launch_bounds__(WARPS * 32) row_sum(const T *__restrict__ x, T *__restrict__ y, int rows, int cols) {
  int row = blockIdx.x;
  T s = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) s += x[row * cols + c];
  s = warp_sum(s);
  __shared__ T part[WARPS];
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x == 0) { T t = 0; for (int w = 0; w < WARPS; ++w) t += part[w]; y[row] = t; }
}
void launch(const float *x, float *y, int r, int c) { row_sum<float, 4><<<r, WARPS * 32>>>(x, y, r, c); }
`, "", []string{
			`entry: "row_sum<float, {VEC_VALUE}>"`,
			"row_sum<<<r, WARPS",
		}, nil},
		{"coop.cu", `#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void step(float *a, int n) { cg::grid_group g = cg::this_grid(); int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) a[i] = a[i] + 1; g.sync(); }
`, "", []string{
			"look: this_grid: pawl launches no kernel cooperatively",
		}, nil},
		{"tex.cu", `__global__ void sample(cudaTextureObject_t tex, float *out, int w, int h) { int x = blockIdx.x * blockDim.x + threadIdx.x; int y = blockIdx.y; if (x < w) out[y * w + x] = tex2D<float>(tex, x, y); }
`, "", []string{
			`"cudaTextureObject_t tex" has the type cudaTextureObject_t, which init does not describe`,
		}, nil},
		{"macrokernel.cu", `#define KERNEL extern "C" __global__ void
#define RESTRICT __restrict__
#define GLOBAL_ID (blockIdx.x * blockDim.x + threadIdx.x)
KERNEL add(const float *RESTRICT a, const float *RESTRICT b, float *RESTRICT c, const int n) {
  const int i = GLOBAL_ID;
  if (i < n) c[i] = a[i] + b[i];
}
`, "", []string{
			"entry: add\n",
			"{name: c, type: f32, shape: [N], out: true}\n",
		}, nil},
		{"half2.cu", `#include <cuda_fp16.h>
__global__ void axpy(const half2 *x, half2 *y, half a, int n) { int i = blockIdx.x * 128 + threadIdx.x; if (i < n) y[i] = __hfma2(__half2half2(a), x[i], y[i]); }
`, "", []string{
			"type: f16x2",
			"{name: a, type: f16, value: 1}",
			"block: [128]",
		}, nil},
		{"macrofn.cu", `#define DEFINE_KERNEL(name, T) extern "C" __global__ void name##_##T(const T *x, T *y, int n)
DEFINE_KERNEL(scale, float) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 2 * x[i]; }
__constant__ float unused_c[3];
`, "", []string{
			"entry: scale_float\n",
		}, []string{"unused_c"}},
		{"incl.cu", `#include "common.cuh"
EXPORT __global__ void k(const real *x, real *y, int n) { y[0] = x[0]; }
`, "", []string{
			`"const real *x" has the type real`,
		}, nil},
		{"shuffle.cu", `#if __CUDA_ARCH__ >= 700
#define FULL 0xffffffff
#endif
#ifdef __CUDACC__
extern "C" __global__ void sh(int *o, const int *in, int n, int k) { int i = threadIdx.x + blockIdx.x * blockDim.x; if (i < n) o[i] = __shfl_sync(FULL, in[i], k); }
#else
void sh(int *o, const int *in, int n, int k) { }
#endif
`, "", []string{
			"entry: sh\n",
			"the value of k:",
		}, nil},
		{"device.cu", `__device__ int counter;
__device__ float table[256];
__constant__ struct { int a; float b; } cfg;
__managed__ float managed[4];
__global__ void k(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { atomicAdd(&counter, 1); y[i] = x[i] * table[i & 255] + cfg.b + managed[0]; }
}
`, "", []string{
			"counter is written by",
			"cfg stays as",
			"managed stays as",
			"symbol: table}",
		}, nil},
		{"conv.cu", `__constant__ float taps[5];
__constant__ int2 lim;
template <int B> __global__ void conv(const float *x, float *y, int n);
__global__ void plain(const float *x, float *y, int n);
template <int B> __global__ void conv(const float *x, float *y, int n) { int i = blockIdx.x * B + threadIdx.x; if (i < n) y[i] = taps[i % 5] * x[i]; }
__global__ void plain(const float *x, float *y, int n) { int i = blockIdx.x * 64 + threadIdx.x; if (i < n) y[i] = taps[i % 5] * x[i]; }
void run(const float *x, float *y, int n) { cudaFuncSetCacheConfig(conv<64>, cudaFuncCachePreferL1); conv<64><<<1, 64>>>(x, y, n); plain<<<1, 64>>>(x, y, n); }
`, "conv", []string{
			"#define B_VALUE 64\n#endif\n",
			"B = B_VALUE;\n __global__ void conv(const float *x, float *y, int n, const float taps[5] = 0);",
			"int n, const float taps[5]) {",
			"cudaFuncSetCacheConfig(conv, cuda",
			"conv<<<1, 64>>>",
			"symbol: taps}",
		}, []string{"name: lim"}},
		{"turned.cu", `#define BX 32
__global__ void turn(const float *src, float *dst, int rows, int cols) {
  int j = blockIdx.y * 8 + threadIdx.y, i = blockIdx.x * BX + threadIdx.x, k = threadIdx.x * 4;
  if (i < cols && j < rows && k >= 0) dst[i * rows + j] = src[j * cols + i];
}
`, "", []string{
			"{name: src, type: f32, shape: [ROWS, COLS]}\n",
			"{name: dst, type: f32, shape: [COLS, ROWS], out: true}\n",
			"block: [32, 8]",
		}, nil},
		{"product.cu", `#ifndef TILE
#define TILE 16
#endif
__global__ void product(const float *a, const float *b, float *c, int M, int N, int K) {
  int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
  float s = 0;
  if (row < M && col < N) { for (int k = 0; k < K; k++) s += a[row * K + k] * b[k * N + col]; c[row * N + col] = s; }
}
`, "", []string{
			"{name: a, type: f32, shape: [M, K]}\n",
			"{name: b, type: f32, shape: [K, N]}\n",
			"{name: c, type: f32, shape: [M, N], out: true}\n",
			`grid: ["cdiv(N, TILE)", "cdiv(M, TILE)"]`,
			"block: [TILE, TILE]",
		}, nil},
		{"glob.cuh", `__global__ void k(const float *x, float *y, int n) { int i = threadIdx.x; if (i < n) y[i] = x[i]; }
`, "", []string{
			"source: {cuda: glob.cu}\nreference: {cuda: reference.cu}",
		}, nil},
		{"glob.hpp", `__global__ void k(const float *x, float *y, int n) { int i = threadIdx.x; if (i < n) y[i] = x[i]; }
`, "", []string{
			"k is a kernel of CUDA: copy the source to a name that ends in .cu",
		}, nil},
		{"static.cu", `static __global__ void k(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i]; }
`, "", []string{
			"entry: k\n",
		}, nil},
	})
}
