/* rmsnorm: y = x / sqrt(mean(x^2) + epsilon) * weight for every row; fp16 in and
 * out, fp32 in between.
 *
 * Memory is the limit: every element should be read once and written once. The
 * steps:
 *
 *  1. A group of THREADS threads (times SPLIT blocks of a cluster) owns a row, and
 *     a block owns ROWS rows at a time.
 *  2. Each thread reads HOLD vectors of its row into registers, all of them before
 *     the first is used, so that enough loads are in flight. What does not fit in
 *     the registers of the group is read again in step 4, from a cache with luck.
 *  3. Squares are summed over the threads, then over the blocks of the cluster.
 *  4. Elements are scaled and written.
 *
 * Rows whose length is not a multiple of VECTOR are read element by element. */
#include <cuda_fp16.h>

#define UNROLL _Pragma("unroll")
#define INLINE static __device__ __forceinline__

constexpr int LANES = THREADS < 32 ? THREADS : 32; /* of a warp, per row */
constexpr int WARPS = THREADS / LANES;             /* per row */
constexpr int STRIDE = THREADS * SPLIT;
constexpr unsigned WHOLE_WARP = 0xffffffffu;

static_assert(THREADS % LANES == 0 && (THREADS & (THREADS - 1)) == 0, "a row belongs to whole warps, or to a part of one");
static_assert(THREADS * ROWS <= 1024, "a block has at most 1024 threads");

template <int HALVES> struct Packed;
template <> struct Packed<1> { using type = unsigned short; };
template <> struct Packed<2> { using type = unsigned; };
template <> struct Packed<4> { using type = uint2; };
template <> struct Packed<8> { using type = uint4; };

/* Vector is so many neighbouring elements as one load brings them. */
template <int HALVES> union Vector {
    typename Packed<HALVES>::type packed;
    __half element[HALVES];
    __device__ Vector() : packed{} {}
};

/* load reads past the first-level cache with STREAM: nothing is read twice. */
template <int HALVES> INLINE Vector<HALVES> load(const __half *from)
{
    using Pack = typename Packed<HALVES>::type;
    Vector<HALVES> v;
    v.packed = STREAM ? __ldcs((const Pack *)from) : *(const Pack *)from;
    return v;
}

template <int HALVES> INLINE void store(__half *to, Vector<HALVES> v)
{
    using Pack = typename Packed<HALVES>::type;
    if (STREAM)
        __stcs((Pack *)to, v.packed);
    else
        *(Pack *)to = v.packed;
}

template <int HALVES> INLINE float squares(Vector<HALVES> v)
{
    float sum = 0;
    UNROLL for (int i = 0; i < HALVES; i++) {
        const float x = __half2float(v.element[i]);
        sum += x * x;
    }
    return sum;
}

template <int HALVES> INLINE Vector<HALVES> scaled(Vector<HALVES> v, float factor, Vector<HALVES> weight)
{
    UNROLL for (int i = 0; i < HALVES; i++)
        v.element[i] = __float2half(__half2float(v.element[i]) * factor * __half2float(weight.element[i]));
    return v;
}

INLINE float warp_sum(float mine)
{
    UNROLL for (int distance = LANES / 2; distance > 0; distance /= 2)
        mine += __shfl_xor_sync(WHOLE_WARP, mine, distance);
    return mine;
}

#if SPLIT > 1
INLINE void cluster_barrier()
{
    asm volatile("barrier.cluster.arrive.release.aligned;\n"
                 "barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/* cluster_load reads a float of shared memory where it lies in another block of
 * the cluster. */
INLINE float cluster_load(const float *mine, int block)
{
    const unsigned address = (unsigned)__cvta_generic_to_shared(mine);
    float value;
    asm volatile("{\n.reg .b32 there;\n"
                 "mapa.shared::cluster.u32 there, %1, %2;\n"
                 "ld.shared::cluster.f32 %0, [there];\n}"
                 : "=f"(value) : "r"(address), "r"(block) : "memory");
    return value;
}
#endif

/* row_sum adds the values of a row's threads and returns the sum to all of them. The
 * scratch is used in turns (turn is 0 or 1), so that one barrier a row is enough. */
INLINE float row_sum(float mine, int turn)
{
    const int group = threadIdx.x / THREADS, warp = threadIdx.x % THREADS / 32, lane = threadIdx.x % LANES;
    mine = warp_sum(mine);
    if (WARPS > 1) {
        __shared__ float parts[2][ROWS][WARPS];
        if (lane == 0)
            parts[turn][group][warp] = mine;
        __syncthreads();
        mine = warp_sum(lane < WARPS ? parts[turn][group][lane] : 0);
    }
#if SPLIT > 1
    __shared__ float shares[2][ROWS];
    if (threadIdx.x % THREADS == 0)
        shares[turn][group] = mine;
    cluster_barrier();
    mine = 0;
    UNROLL for (int block = 0; block < SPLIT; block++)
        mine += cluster_load(&shares[turn][group], block);
#endif
    return mine;
}

template <int HALVES>
INLINE void normalise(const __half *x, const __half *weight, __half *y, float epsilon, int R, int C)
{
    const int vectors = C / HALVES;
    const int first = blockIdx.x % SPLIT * THREADS + threadIdx.x % THREADS;
    const int step = gridDim.x / SPLIT * ROWS;
    int turn = 0;
    for (int top = blockIdx.x / SPLIT * ROWS; top < R; top += step, turn ^= 1) {
        const int row = top + threadIdx.x / THREADS;
        const int mine = row < R ? vectors : 0; /* the others come along for the barriers */
        const __half *from = x + (size_t)row * C;
        __half *to = y + (size_t)row * C;

        Vector<HALVES> held[HOLD];
        UNROLL for (int i = 0; i < HOLD; i++)
            if (const int at = first + i * STRIDE; at < mine)
                held[i] = load<HALVES>(from + (size_t)at * HALVES);
        float sum = 0;
        UNROLL for (int i = 0; i < HOLD; i++)
            sum += squares(held[i]);
        for (int at = first + HOLD * STRIDE; at < mine; at += STRIDE)
            sum += squares(load<HALVES>(from + (size_t)at * HALVES));
        const float factor = rsqrtf(row_sum(sum, turn) / C + epsilon);

        UNROLL for (int i = 0; i < HOLD; i++)
            if (const int at = first + i * STRIDE; at < mine) {
                Vector<HALVES> w;
                w.packed = *(const typename Packed<HALVES>::type *)(weight + (size_t)at * HALVES);
                store(to + (size_t)at * HALVES, scaled(held[i], factor, w));
            }
        for (int at = first + HOLD * STRIDE; at < mine; at += STRIDE) {
            Vector<HALVES> w;
            w.packed = *(const typename Packed<HALVES>::type *)(weight + (size_t)at * HALVES);
            store(to + (size_t)at * HALVES, scaled(load<HALVES>(from + (size_t)at * HALVES), factor, w));
        }
    }
#if SPLIT > 1
    cluster_barrier(); /* no block ends while others read from it */
#endif
}

extern "C" __global__ void __launch_bounds__(THREADS * ROWS)
#if SPLIT > 1
    __cluster_dims__(SPLIT, 1, 1)
#endif
    rmsnorm(const __half *__restrict__ x, const __half *__restrict__ weight, __half *__restrict__ y, float epsilon,
            int R, int C)
{
    if (C % VECTOR == 0)
        normalise<VECTOR>(x, weight, y, epsilon, R, C);
    else
        normalise<1>(x, weight, y, epsilon, R, C);
}
