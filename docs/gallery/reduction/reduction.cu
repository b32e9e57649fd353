template <int Lanes, class Number>
__device__ void reduce_row(const Number *x, Number *result, int n) {
	__shared__ Number all[THREADS];
	Number part[Lanes] = {}, sum = 0;
	for (int base = threadIdx.x; base < n; base += THREADS * Lanes)
#pragma unroll
		for (int l = 0; l < Lanes; l++)
			if (base + l * THREADS < n)
				part[l] += x[base + l * THREADS];
	for (Number p : part)
		sum += p;
	all[threadIdx.x] = sum;
	for (int half = THREADS / 2; half > 0; half /= 2) {
		__syncthreads();
		if (threadIdx.x < half)
			all[threadIdx.x] += all[threadIdx.x + half];
	}
	if (threadIdx.x == 0)
		*result = all[0];
}

extern "C" __global__ void reduce(const float *x, float *sums, int rows, int n) {
	reduce_row<LANES, float>(x + (size_t)blockIdx.x * n, sums + blockIdx.x, n);
}
