/* A block per row; each thread has some sums that do not wait for each other. */
template <int Lanes, int Threads, class Number>
__global__ void reduce(const Number *x, Number *sums, int rows, int n) {
	__shared__ Number all[Threads];
	Number part[Lanes] = {}, sum = 0;
	x += (size_t)blockIdx.x * n;
	for (int base = threadIdx.x; base < n; base += Threads * Lanes)
#pragma unroll
		for (int l = 0; l < Lanes; l++)
			if (base + l * Threads < n)
				part[l] += x[base + l * Threads];
	for (Number p : part)
		sum += p;
	all[threadIdx.x] = sum;
	for (int half = Threads / 2; half > 0; half /= 2) {
		__syncthreads();
		if (threadIdx.x < half)
			all[threadIdx.x] += all[threadIdx.x + half];
	}
	if (threadIdx.x == 0)
		sums[blockIdx.x] = all[0];
}
