// The definition of the product in double precision, a thread per element of c.
#include <cuda_fp16.h>

extern "C" __global__ void matmul(const __half *a, const __half *b, __half *c, int M, int N, int K, int stride_am,
                                  int stride_ak, int stride_bk, int stride_bn, int stride_cm, int stride_cn) {
	const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
	if (row >= M || column >= N)
		return;
	double sum = 0;
	for (int k = 0; k < K; k++)
		sum += (double)__half2float(a[(size_t)row * stride_am + k * stride_ak]) *
		       (double)__half2float(b[(size_t)k * stride_bk + column * stride_bn]);
	c[(size_t)row * stride_cm + column * stride_cn] = __double2half(sum);
}
