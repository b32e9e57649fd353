/* The definition of the product in double precision, a thread per element of C. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#if BF16
typedef __nv_bfloat16 Output;
#else
typedef __half Output;
#endif
#if FP8
typedef __nv_fp8_e4m3 Input;
#else
typedef Output Input;
#endif

extern "C" __global__ void gemm_mma(const Input *a, const Input *b, Output *c, int M, int N, int K)
{
    /* Tiles of 32 x 32: without them a product of 8192 reads memory for a second. */
    __shared__ double rows[32][33], columns[32][33];
    const int row = blockIdx.y * 32 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
    double sum = 0;
    for (int k = 0; k < K; k += 32) {
        const int x = k + threadIdx.x, other = blockIdx.x * 32 + threadIdx.y;
        rows[threadIdx.y][threadIdx.x] = row < M && x < K ? (float)a[(size_t)row * K + x] : 0;
        columns[threadIdx.y][threadIdx.x] = other < N && x < K ? (float)b[(size_t)other * K + x] : 0;
        __syncthreads();
        for (int i = 0; i < 32; i++)
            sum += rows[threadIdx.y][i] * columns[threadIdx.x][i];
        __syncthreads();
    }
    if (row < M && column < N)
        c[(size_t)row * N + column] = Output(sum);
}
