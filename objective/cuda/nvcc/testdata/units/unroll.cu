#if FACTOR > 8
#error the macro must stay one
#endif
extern "C" __global__ void k(float *x, int n)
{
	x += threadIdx.x;
#pragma unroll FACTOR
	for (int i = 0; i < n; i++)
		x[i * 32] = x[i * 32] * 3 + FACTOR;
}
