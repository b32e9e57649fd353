namespace tiled {
template <int Lanes, class Number> __global__ void scale(const Number *x, Number *y, int n)
{
	for (int l = 0; l < Lanes; l++)
		if (threadIdx.x * Lanes + l < n)
			y[threadIdx.x * Lanes + l] = 2 * x[threadIdx.x * Lanes + l];
}
namespace deep {
__global__ void inner(float *y) { y[threadIdx.x] = LANES; }
}
}

template <bool Negate, int Times> __global__ void twice(float *y, int n) { y[threadIdx.x] = Negate ? -Times * n : Times * n; }
template __global__ void twice<true, 3>(float *, int);

__global__ void plain(float *y) { y[threadIdx.x] = 1; }
__global__ void overloaded(float *y) { y[threadIdx.x] = 1; }
__global__ void overloaded(double *y) { y[threadIdx.x] = 1; }
extern "C" __global__ void c_style(float *y) { y[threadIdx.x] = 1; }
