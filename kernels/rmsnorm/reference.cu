/* The definition of rmsnorm in double precision, a block of 256 threads per row. */
#include <cuda_fp16.h>

extern "C" __global__ void rmsnorm(const __half *x, const __half *weight, __half *y, float epsilon, int R, int C)
{
    __shared__ double parts[256];
    const size_t row = (size_t)blockIdx.x * C;
    double sum = 0;
    for (int c = threadIdx.x; c < C; c += 256) {
        const double v = __half2float(x[row + c]);
        sum += v * v;
    }
    parts[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half)
            parts[threadIdx.x] += parts[threadIdx.x + half];
        __syncthreads();
    }
    const double root = sqrt(parts[0] / C + epsilon);
    for (int c = threadIdx.x; c < C; c += 256)
        y[row + c] = __double2half(__half2float(x[row + c]) / root * __half2float(weight[c]));
}
