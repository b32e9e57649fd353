// It takes all arguments but the scratch of the two kernels.
extern "C" __global__ void softmax(const float *x, float *y, int rows, int n) {
	x += (size_t)blockIdx.x * n;
	y += (size_t)blockIdx.x * n;
	double largest = x[0], sum = 0;
	for (int i = 1; i < n; i++)
		largest = fmax(largest, (double)x[i]);
	for (int i = 0; i < n; i++)
		sum += exp(x[i] - largest);
	for (int i = 0; i < n; i++)
		y[i] = (float)(exp(x[i] - largest) / sum);
}
