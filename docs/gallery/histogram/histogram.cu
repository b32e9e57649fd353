// Each block counts in shared memory, in several copies, and adds the sums to the result.
extern "C" __global__ void histogram(const unsigned char *x, unsigned *counts, int n) {
	__shared__ unsigned own[COPIES][256];
	for (int i = threadIdx.x; i < COPIES * 256; i += THREADS)
		own[i / 256][i % 256] = 0;
	__syncthreads();
	int first = blockIdx.x * THREADS * EACH + threadIdx.x;
	for (int e = 0; e < EACH; e++)
		if (first + e * THREADS < n)
			atomicAdd(&own[threadIdx.x % COPIES][x[first + e * THREADS]], 1u);
	__syncthreads();
	for (int bin = threadIdx.x; bin < 256; bin += THREADS) {
		unsigned sum = 0;
		for (int c = 0; c < COPIES; c++)
			sum += own[c][bin];
		if (sum)
			atomicAdd(&counts[bin], sum);
	}
}
