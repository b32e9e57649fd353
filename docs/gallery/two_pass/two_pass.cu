#define BLOCK (THREADS * EACH)

/* The sum of what each of the block's threads has; all of them get it. */
template <int Threads>
__device__ float of_block(float own) {
	__shared__ float all[Threads];
	all[threadIdx.x] = own;
	for (int half = Threads / 2; half > 0; half /= 2) {
		__syncthreads();
		if (threadIdx.x < half)
			all[threadIdx.x] += all[threadIdx.x + half];
	}
	__syncthreads();
	return all[0];
}

extern "C" __global__ void partial_sums(const float *x, float *partial, int n) {
	float own = 0;
	for (int e = 0; e < EACH; e++) {
		int i = blockIdx.x * BLOCK + e * THREADS + threadIdx.x;
		if (i < n)
			own += x[i];
	}
	float sum = of_block<THREADS>(own);
	if (threadIdx.x == 0)
		partial[blockIdx.x] = sum;
}

extern "C" __global__ void sum_partials(const float *partial, float *sum, int n) {
	float own = 0;
	for (int b = threadIdx.x; b < (n + BLOCK - 1) / BLOCK; b += 1024)
		own += partial[b];
	float all = of_block<1024>(own);
	if (threadIdx.x == 0)
		*sum = all;
}
