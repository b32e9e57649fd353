extern "C" __global__ void planted(const float *x, float *y, int R) {
	int first = blockIdx.x * 256, row = first + threadIdx.x;
#if TILED
	__shared__ float tile[256][17];
	for (int i = threadIdx.x; i < 256 * 16; i += 256)
		if (first + i / 16 < R) tile[i / 16][i % 16] = x[first * 16 + i];
	__syncthreads();
	for (int column = 0; column < 16 && row < R; column++)
		y[column * R + row] = tile[threadIdx.x][column];
#else
	if (row < R) y[blockIdx.y * R + row] = x[row * 16 + blockIdx.y];
#endif
}
