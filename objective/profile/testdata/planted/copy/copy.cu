extern "C" __global__ void planted(const float *x, float *y, int N) {
	int i = blockIdx.x * THREADS + threadIdx.x;
	if (4 * i < N)
		((float4 *)y)[i] = ((const float4 *)x)[i];
}
