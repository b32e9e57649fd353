__constant__ float d_filter[FILTER * FILTER]; // set once, before the first launch

extern "C" __global__ void convolution(const float *image, float *result, int h, int w) {
	int x = blockIdx.x * BLOCK_X + threadIdx.x;
	int y = (blockIdx.y * BLOCK_Y + threadIdx.y) * TILE, pitch = w + FILTER - 1;
	if (x >= w)
		return;
	float sum[TILE] = {};
	for (int row = 0; row < FILTER + TILE - 1 && y + row < h + FILTER - 1; row++)
		for (int j = 0; j < FILTER; j++) {
			float pixel = image[(y + row) * pitch + x + j];
#pragma unroll
			for (int t = 0; t < TILE; t++)
				if (row - t >= 0 && row - t < FILTER)
					sum[t] += d_filter[(row - t) * FILTER + j] * pixel;
		}
	for (int t = 0; t < TILE; t++)
		if (y + t < h)
			result[(y + t) * w + x] = sum[t];
}
