/* The definition of attention for one query per sequence over keys and values in pages, a
 * block of threads per sequence and head, in double. Scores are computed twice, for the
 * largest and for the weights: those of a long sequence fit no shared memory.
 *
 * The launch: HK * G x B blocks of at least D threads; shared memory for a double per thread. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#if BF16
typedef __nv_bfloat16 Element;
#else
typedef __half Element;
#endif

/* row is where a token's key or value begins. */
static __device__ size_t row(const int *table, int token, int head, int HK)
{
    return (((size_t)table[token / PAGE] * PAGE + token % PAGE) * HK + head) * HEAD_DIM;
}

static __device__ double score(const Element *query, const Element *key, float scale)
{
    double product = 0;
    for (int d = 0; d < HEAD_DIM; d++)
        product += (double)(float)query[d] * (double)(float)key[d];
    return scale * product;
}

extern "C" __global__ void attention_decode(const Element *q, const Element *k, const Element *v, const int *table,
                                            const int *lengths, Element *o, float scale, int B, int HK, int S)
{
    extern __shared__ double shared[];
    const int batch = blockIdx.y, head = blockIdx.x / GROUP, length = lengths[batch];
    const size_t query = ((size_t)batch * gridDim.x + blockIdx.x) * HEAD_DIM;
    const int *pages = table + (size_t)batch * ((S + PAGE - 1) / PAGE);
    double largest = -1e300, sum = 0, mixed = 0;

    for (int n = threadIdx.x; n < length; n += blockDim.x)
        largest = fmax(largest, score(q + query, k + row(pages, n, head, HK), scale));
    shared[threadIdx.x] = largest;
    __syncthreads();
    for (int i = 0; i < blockDim.x; i++)
        largest = fmax(largest, shared[i]);
    __syncthreads();

    for (int n = 0; n < length; n += blockDim.x) {
        const int mine = n + threadIdx.x;
        if (mine < length)
            shared[threadIdx.x] = exp(score(q + query, k + row(pages, mine, head, HK), scale) - largest);
        __syncthreads();
        for (int i = 0; i < blockDim.x && n + i < length && threadIdx.x < HEAD_DIM; i++) {
            sum += shared[i];
            mixed += shared[i] * (float)v[row(pages, n + i, head, HK) + threadIdx.x];
        }
        __syncthreads();
    }
    if (threadIdx.x < HEAD_DIM)
        o[query + threadIdx.x] = Element(mixed / sum);
}
