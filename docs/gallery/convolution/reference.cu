extern "C" __global__ void convolution(const float *image, const float *filter, float *result, int h, int w) {
	int y = blockIdx.x;
	for (int x = threadIdx.x; x < w; x += blockDim.x) {
		double sum = 0;
		for (int i = 0; i < FILTER; i++)
			for (int j = 0; j < FILTER; j++)
				sum += (double)filter[i * FILTER + j] * image[(y + i) * (w + FILTER - 1) + x + j];
		result[y * w + x] = (float)sum;
	}
}
