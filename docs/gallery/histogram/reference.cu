extern "C" __global__ void histogram(const unsigned char *x, unsigned *counts, int n) {
	unsigned sum = 0;
	for (int i = 0; i < n; i++)
		sum += x[i] == threadIdx.x;
	counts[threadIdx.x] = sum;
}
