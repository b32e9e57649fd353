extern "C" __global__ void planted(const float *x, float *y, int N) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < N) y[i] = x[i];
}
