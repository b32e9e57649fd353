/* The definition of attention, a block of threads per query, in double: every thread
 * looks at all scores itself, so there is nothing to combine. The maps that the kernel
 * gets behind these arguments are left out.
 *
 * The launch: S x (B * H) blocks of at least D threads; shared memory for S doubles. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#if BF16
typedef __nv_bfloat16 Element;
#else
typedef __half Element;
#endif
#if FP8
typedef __nv_fp8_e4m3 Input;
#else
typedef Element Input;
#endif

extern "C" __global__ void attention_forward(const Input *q, const Input *k, const Input *v, Element *o,
                                             float scale, int B, int H, int HK, int S, int D, int causal)
{
    extern __shared__ double scores[];
    const int batch = blockIdx.y / H, key_head = blockIdx.y % H / (H / HK);
    const size_t row = ((size_t)blockIdx.y * S + blockIdx.x) * D, keys_at = (size_t)(batch * HK + key_head) * S * D;
    const Input *query = q + row;
    const int keys = causal ? blockIdx.x + 1 : S;
    double largest = -1e300, sum = 0, mixed = 0;

    for (int n = threadIdx.x; n < keys; n += blockDim.x) {
        double product = 0;
        for (int d = 0; d < D; d++)
            product += (double)(float)query[d] * (double)(float)k[keys_at + (size_t)n * D + d];
        scores[n] = scale * product;
    }
    __syncthreads();
    for (int n = 0; n < keys; n++)
        largest = fmax(largest, scores[n]);
    __syncthreads();
    for (int n = threadIdx.x; n < keys; n += blockDim.x)
        scores[n] = exp(scores[n] - largest);
    __syncthreads();
    if (threadIdx.x >= D)
        return;
    for (int n = 0; n < keys; n++) {
        sum += scores[n];
        mixed += scores[n] * (float)v[keys_at + (size_t)n * D + threadIdx.x];
    }
    o[row + threadIdx.x] = Element(mixed / sum);
}
