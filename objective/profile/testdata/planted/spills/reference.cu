extern "C" __global__ void planted(const float *x, float *y, int N) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= N) return;
	double value[160], sum = 0;
	for (int j = 0; j < 160; j++) value[j] = (double)x[i] * (j + 1);
	for (int round = 0; round < 32; round++)
		for (int j = 0; j < 160; j++) value[j] = 0.75 * value[j] + 0.25 * value[(j + 1) % 160];
	for (int j = 0; j < 160; j++) sum += value[j];
	y[i] = (float)(sum / 160);
}
