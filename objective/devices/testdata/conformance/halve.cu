enum { good, wrong, unbuilt, crashes, hangs };
typedef char built[MODE == unbuilt ? -1 : 1];

extern "C" __global__ void halve(const float *x, float *y, int N) {
	if (MODE == crashes)
		__trap();
	while (MODE == hangs)
		__nanosleep(1000); // the compiler may remove a loop without an effect
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < N)
		y[i] = x[i] / 2 + (MODE == wrong);
}
