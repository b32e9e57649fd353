extern "C" __global__ void reduce(const float *x, float *sums, int rows, int n) {
	double sum = 0;
	for (int i = 0; i < n; i++)
		sum += x[(size_t)blockIdx.x * n + i];
	sums[blockIdx.x] = (float)sum;
}
