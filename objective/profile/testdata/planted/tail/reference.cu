extern "C" __global__ void planted(const float *x, float *y, int N) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= N) return;
	float value = x[i];
	for (int round = 0; round < 65536; round++) value = 0.999f * value + 0.001f;
	y[i] = value;
}
