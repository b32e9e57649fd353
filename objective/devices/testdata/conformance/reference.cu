extern "C" __global__ void halve(const float *x, float *y, int N) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < N)
		y[i] = (float)((double)x[i] / 2);
}
