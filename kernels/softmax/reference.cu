/* The definition of softmax in double precision, a block of 256 threads per row. */
#include <cuda_fp16.h>

/* combined is the sum or the largest of what the threads bring. */
static __device__ double combined(double mine, bool largest)
{
    __shared__ double parts[256];
    parts[threadIdx.x] = mine;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            const double other = parts[threadIdx.x + half];
            parts[threadIdx.x] = largest ? fmax(parts[threadIdx.x], other) : parts[threadIdx.x] + other;
        }
        __syncthreads();
    }
    const double all = parts[0];
    __syncthreads();
    return all;
}

extern "C" __global__ void softmax(const __half *x, __half *y, int R, int C)
{
    const size_t row = (size_t)blockIdx.x * C;
    double largest = -1e300; /* below every finite input */
    for (int c = threadIdx.x; c < C; c += 256)
        largest = fmax(largest, (double)__half2float(x[row + c]));
    largest = combined(largest, true);
    double sum = 0;
    for (int c = threadIdx.x; c < C; c += 256)
        sum += exp(__half2float(x[row + c]) - largest);
    sum = combined(sum, false);
    for (int c = threadIdx.x; c < C; c += 256)
        y[row + c] = __double2half(exp(__half2float(x[row + c]) - largest) / sum);
}
