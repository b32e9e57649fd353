extern "C" __global__ void planted(const float *x, float *y, int R) {
	int row = blockIdx.x * blockDim.x + threadIdx.x;
	if (row >= R) return;
	double sum = 0;
	for (int round = 0; round < 16; round++)
		for (int column = 0; column < 32; column++)
			sum = 0.5 * sum + x[row * 32 + column];
	y[row] = (float)sum;
}
