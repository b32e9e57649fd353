// A block goes along its row, THREADS * EACH numbers at a time.
extern "C" __global__ void prefix_sum(unsigned *x, int rows, int n) {
	__shared__ unsigned sums[THREADS];
	unsigned carry = 0;
	x += (size_t)blockIdx.x * n;
	for (int base = 0; base < n; base += THREADS * EACH) {
		unsigned own[EACH], total = 0;
		int first = base + threadIdx.x * EACH;
		for (int e = 0; e < EACH; e++)
			own[e] = total += first + e < n ? x[first + e] : 0;
		sums[threadIdx.x] = total;
		__syncthreads();
		for (int step = 1; step < THREADS; step *= 2) {
			unsigned before = threadIdx.x >= step ? sums[threadIdx.x - step] : 0;
			__syncthreads();
			sums[threadIdx.x] += before;
			__syncthreads();
		}
		unsigned before = carry + sums[threadIdx.x] - total;
		for (int e = 0; e < EACH; e++)
			if (first + e < n)
				x[first + e] = before + own[e];
		carry += sums[THREADS - 1];
		__syncthreads();
	}
}
