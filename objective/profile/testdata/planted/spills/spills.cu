extern "C" __global__ void __launch_bounds__(THREADS) planted(const float *x, float *y, int N) {
	int i = blockIdx.x * THREADS + threadIdx.x;
	if (i >= N) return;
	float value[160], start = x[i];
#pragma unroll
	for (int j = 0; j < 160; j++) value[j] = start * (j + 1);
#pragma unroll 1
	for (int round = 0; round < 32; round++)
#pragma unroll
		for (int j = 0; j < 160; j++) value[j] = 0.75f * value[j] + 0.25f * value[(j + 1) % 160];
	float sum = 0;
#pragma unroll
	for (int j = 0; j < 160; j++) sum += value[j];
	y[i] = sum / 160;
}
