extern "C" __global__ void planted(const float *x, float *y, int R) {
	int row = blockIdx.x * blockDim.x + threadIdx.x;
	for (int column = 0; column < 16 && row < R; column++)
		y[column * R + row] = x[row * 16 + column];
}
