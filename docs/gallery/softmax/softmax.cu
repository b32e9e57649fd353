__device__ static float combine(float a, float b, bool largest) { return largest ? fmaxf(a, b) : a + b; }

// The largest of all threads' numbers, or their sum.
__device__ static float of_block(float x, bool largest) {
	__shared__ float all[THREADS];
	__syncthreads();
	all[threadIdx.x] = x;
	for (int half = THREADS / 2; half > 0; half /= 2) {
		__syncthreads();
		if (threadIdx.x < half)
			all[threadIdx.x] = combine(all[threadIdx.x], all[threadIdx.x + half], largest);
	}
	__syncthreads();
	return all[0];
}

extern "C" __global__ void row_stats(const float *x, float *stats, int n) {
	x += (size_t)blockIdx.x * n;
	float largest = __int_as_float(0xff800000), sum = 0;
	for (int i = threadIdx.x; i < n; i += THREADS)
		largest = fmaxf(largest, x[i]);
	largest = of_block(largest, true);
	for (int i = threadIdx.x; i < n; i += THREADS)
		sum += expf(x[i] - largest);
	sum = of_block(sum, false);
	if (threadIdx.x == 0) {
		stats[2 * blockIdx.x] = largest;
		stats[2 * blockIdx.x + 1] = sum;
	}
}

extern "C" __global__ void normalize(const float *x, const float *stats, float *y, int rows, int n) {
	size_t first = (size_t)blockIdx.x * THREADS * EACH + threadIdx.x, all = (size_t)rows * n;
	for (int e = 0; e < EACH; e++) {
		size_t i = first + e * THREADS;
		if (i < all)
			y[i] = expf(x[i] - stats[2 * (i / n)]) / stats[2 * (i / n) + 1];
	}
}
