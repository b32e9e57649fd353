// Kernels whose figures differ in every column: a template with shared memory
// in half precision, a plain one, and one that spills, itself and in a function
// that is not inlined.
#include <cuda_fp16.h>

#include "sizes.cuh"

template <int FACTOR>
__global__ void scale(const __half *x, __half *y, int n) {
	__shared__ float tile[TILE * FACTOR];
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	tile[threadIdx.x] = i < n ? __half2float(x[i]) : 0;
	__syncthreads();
	if (i < n) y[i] = __float2half(tile[TILE - 1 - threadIdx.x] * FACTOR);
}
template __global__ void scale<2>(const __half *, __half *, int);

extern "C" __global__ void plain(float *y) { y[threadIdx.x] = 1; }

__device__ __noinline__ float gather(const float *p, int n) {
	float kept[64], sum = 0;
	for (int i = 0; i < 64; i++) kept[i] = p[(i * n) & 63];
	for (int i = 0; i < 64; i++) sum += kept[(i * n) & 63];
	return sum;
}

extern "C" __global__ void __launch_bounds__(1024, 2) spills(float *p, int n) {
	float kept[96];
#pragma unroll
	for (int i = 0; i < 96; i++) kept[i] = p[i * n];
	__syncthreads();
#pragma unroll
	for (int i = 0; i < 96; i++) p[i * n + 1] = kept[95 - i] * kept[i] + gather(p, n);
}
