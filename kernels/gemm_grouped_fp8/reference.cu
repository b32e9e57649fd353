/* The definition of the products in double precision, a thread per element of C. A block has 32
 * rows, which may be of several groups: for each of them, the rows of others count as zeros. */
#include <cuda_bf16.h>
#include <cuda_fp8.h>

extern "C" __global__ void gemm_grouped_fp8(const __nv_fp8_e4m3 *a, const __nv_fp8_e4m3 *b, const float *a_scales,
                                            const float *b_scales, const int *offsets, __nv_bfloat16 *c,
                                            int T, int E, int N, int K)
{
    /* Tiles of 32 x 32: without them a large product reads memory for a second. */
    __shared__ double rows[32][33], columns[32][33];
    const int first = blockIdx.y * 32, row = first + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
    const int other = blockIdx.x * 32 + threadIdx.y, down = (N + 127) / 128, along = (K + 127) / 128;
    double sum = 0;
    for (int group = 0; group < E; group++) {
        const int start = offsets[group], end = offsets[group + 1];
        if (start == end || end <= first || start >= first + 32)
            continue;
        for (int k = 0; k < K; k += 32) {
            const int x = k + threadIdx.x;
            rows[threadIdx.y][threadIdx.x] = row >= start && row < end && x < K
                ? (double)(float)a[(size_t)row * K + x] * a_scales[(size_t)(x / 128) * T + row] : 0;
            columns[threadIdx.y][threadIdx.x] = other < N && x < K
                ? (double)(float)b[((size_t)group * N + other) * K + x] *
                  b_scales[((size_t)group * down + other / 128) * along + x / 128] : 0;
            __syncthreads();
            for (int i = 0; i < 32; i++)
                sum += rows[threadIdx.y][i] * columns[threadIdx.x][i];
            __syncthreads();
        }
    }
    if (row < T && column < N)
        c[(size_t)row * N + column] = __nv_bfloat16(sum);
}
