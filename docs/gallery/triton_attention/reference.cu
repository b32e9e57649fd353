/* The definition of attention, a block of threads per query: softmax over the
 * scores of the keys it may see, and the values weighted by it.
 *
 * Everything is double. An H200 does fp64 at half the rate of fp32, so it costs
 * little, and a reference that is exact to fp16's last place leaves all of the
 * tolerance to the kernel: the only rounding that shows is the one of the output.
 *
 * The launch: S x (B * H) blocks of at least D threads, a power of two and no
 * less than 32; shared memory for S + blockDim.x doubles. */
#include <cuda_fp16.h>

/* combined is the sum or the largest of what the threads bring. */
static __device__ double combined(double mine, double *parts, bool largest)
{
    parts[threadIdx.x] = mine;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
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

/* dot is the product of two rows, by a whole warp: its lanes read neighbours. */
static __device__ double dot(const __half *a, const __half *b, int D)
{
    double sum = 0;
    for (int d = threadIdx.x % 32; d < D; d += 32)
        sum += (double)__half2float(a[d]) * (double)__half2float(b[d]);
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    return sum;
}

extern "C" __global__ void attention_forward(const __half *q, const __half *k, const __half *v, __half *o,
                                             float scale, int B, int H, int S, int D, int causal)
{
    extern __shared__ double weight[]; /* S of them, then a part per thread */
    double *parts = weight + S;
    const size_t head = (size_t)blockIdx.y * S * D;
    const int row = blockIdx.x, keys = causal ? row + 1 : S;

    double largest = -1e300; /* below every finite score */
    for (int n = threadIdx.x / 32; n < keys; n += blockDim.x / 32) {
        const double score = scale * dot(q + head + (size_t)row * D, k + head + (size_t)n * D, D);
        weight[n] = score;
        largest = fmax(largest, score);
    }
    largest = combined(largest, parts, true); /* its barriers also publish the scores */

    double sum = 0;
    for (int n = threadIdx.x; n < keys; n += blockDim.x)
        sum += weight[n] = exp(weight[n] - largest);
    sum = combined(sum, parts, false);

    /* D threads take every group-th key each; the groups are added at the end. */
    const int groups = blockDim.x / D, group = threadIdx.x / D, d = threadIdx.x % D;
    double mixed = 0;
    if (group < groups)
        for (int n = group; n < keys; n += groups)
            mixed += weight[n] * __half2float(v[head + (size_t)n * D + d]);
    parts[threadIdx.x] = mixed;
    __syncthreads();
    if (group == 0) {
        for (int other = 1; other < groups; other++)
            mixed += parts[other * D + d];
        o[head + (size_t)row * D + d] = __double2half(mixed / sum);
    }
}
