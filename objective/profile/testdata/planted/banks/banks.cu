// A warp reads 32 rows, and each lane sums one of them up, sixteen times over.
extern "C" __global__ void planted(const float *x, float *y, int R) {
	__shared__ volatile float tiles[8][32][32 + PAD];
	int lane = threadIdx.x % 32, first = blockIdx.x * 256 + threadIdx.x / 32 * 32;
	volatile float(*tile)[32 + PAD] = tiles[threadIdx.x / 32];
	for (int row = 0; row < 32; row++)
		tile[row][lane] = first + row < R ? x[(first + row) * 32 + lane] : 0;
	__syncwarp();
	float sum = 0;
	for (int round = 0; round < 16; round++)
		for (int column = 0; column < 32; column++)
			sum = 0.5f * sum + tile[lane][column];
	if (first + lane < R) y[first + lane] = sum;
}
