/* softmax: y = exp(x - max(x)) / sum(exp(x - max(x))) for every row; fp16 in and
 * out, fp32 in between.
 *
 * Memory is the limit: every element should be read once and written once. The
 * steps:
 *
 *  1. A group of THREADS threads (times SPLIT blocks of a cluster) owns a row, and
 *     a block owns ROWS rows at a time.
 *  2. Each thread reads HOLD vectors of its row into registers, all of them before
 *     the first is used, so that enough loads are in flight. What does not fit in
 *     the registers of the group is read again in steps 3 and 4.
 *  3. The largest element is found, then the exponentials are summed, each time
 *     over the threads and then over the blocks of the cluster.
 *  4. Exponentials are divided by their sum and written. With REUSE they stay in
 *     registers as fp32 from step 3, otherwise they are computed again.
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

/* Exponentials are powers of two of scaled differences: one multiply-add each. */
constexpr float LOG2_E = 1.4426950408889634f;

INLINE float weight(__half x, float largest)
{
    float power; /* to two units in the last place of fp32, which fp16 does not see */
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(__half2float(x) * LOG2_E - largest));
    return power;
}

template <int HALVES> INLINE float largest_of(Vector<HALVES> v, float so_far)
{
    UNROLL for (int i = 0; i < HALVES; i++)
        so_far = fmaxf(so_far, __half2float(v.element[i]));
    return so_far;
}

template <int HALVES> INLINE float weights_of(Vector<HALVES> v, float largest)
{
    float sum = 0;
    UNROLL for (int i = 0; i < HALVES; i++)
        sum += weight(v.element[i], largest);
    return sum;
}

template <int HALVES> INLINE Vector<HALVES> shares_of(Vector<HALVES> v, float largest, float scale)
{
    UNROLL for (int i = 0; i < HALVES; i++)
        v.element[i] = __float2half(weight(v.element[i], largest) * scale);
    return v;
}

/* NVRTC has no math.h, and so no INFINITY. */
INLINE float minus_infinity() { return __int_as_float(0xff800000); }

struct Sum {
    INLINE float neutral() { return 0; }
    static __device__ __forceinline__ float of(float a, float b) { return a + b; }
};

struct Largest {
    INLINE float neutral() { return minus_infinity(); }
    static __device__ __forceinline__ float of(float a, float b) { return fmaxf(a, b); }
};

template <class Fold> INLINE float over_warp(float mine)
{
    UNROLL for (int distance = LANES / 2; distance > 0; distance /= 2)
        mine = Fold::of(mine, __shfl_xor_sync(WHOLE_WARP, mine, distance));
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

/* over_row combines the values of a row's threads and returns the result to all of
 * them. The largest and the sum of a row have scratch of their own each, so that one
 * barrier each is enough. */
template <class Fold> INLINE float over_row(float mine)
{
    const int group = threadIdx.x / THREADS, warp = threadIdx.x % THREADS / 32, lane = threadIdx.x % LANES;
    mine = over_warp<Fold>(mine);
    if (WARPS > 1) {
        __shared__ float parts[ROWS][WARPS];
        if (lane == 0)
            parts[group][warp] = mine;
        __syncthreads();
        mine = over_warp<Fold>(lane < WARPS ? parts[group][lane] : Fold::neutral());
    }
#if SPLIT > 1
    __shared__ float shares[ROWS];
    if (threadIdx.x % THREADS == 0)
        shares[group] = mine;
    cluster_barrier();
    mine = Fold::neutral();
    UNROLL for (int block = 0; block < SPLIT; block++)
        mine = Fold::of(mine, cluster_load(&shares[group], block));
#endif
    return mine;
}

template <int HALVES> INLINE void softmax_rows(const __half *x, __half *y, int R, int C)
{
    const int vectors = C / HALVES;
    const int first = blockIdx.x % SPLIT * THREADS + threadIdx.x % THREADS;
    const int step = gridDim.x / SPLIT * ROWS;
    for (int top = blockIdx.x / SPLIT * ROWS; top < R; top += step) {
        const int row = top + threadIdx.x / THREADS;
        const int mine = row < R ? vectors : 0; /* the others come along for the barriers */
        const __half *from = x + (size_t)row * C;
        __half *to = y + (size_t)row * C;

        Vector<HALVES> held[HOLD];
        UNROLL for (int i = 0; i < HOLD; i++)
            if (const int at = first + i * STRIDE; at < mine)
                held[i] = load<HALVES>(from + (size_t)at * HALVES);
        float largest = minus_infinity();
        UNROLL for (int i = 0; i < HOLD; i++)
            if (first + i * STRIDE < mine)
                largest = largest_of(held[i], largest);
        for (int at = first + HOLD * STRIDE; at < mine; at += STRIDE)
            largest = largest_of(load<HALVES>(from + (size_t)at * HALVES), largest);
        largest = over_row<Largest>(largest) * LOG2_E;

        float sum = 0;
        float weights[REUSE ? HOLD * HALVES : 1];
        UNROLL for (int i = 0; i < HOLD; i++)
            if (first + i * STRIDE < mine) {
                if (!REUSE) {
                    sum += weights_of(held[i], largest);
                    continue;
                }
                UNROLL for (int j = 0; j < HALVES; j++)
                    sum += weights[REUSE ? i * HALVES + j : 0] = weight(held[i].element[j], largest);
            }
        for (int at = first + HOLD * STRIDE; at < mine; at += STRIDE)
            sum += weights_of(load<HALVES>(from + (size_t)at * HALVES), largest);
        const float scale = 1 / over_row<Sum>(sum);

        UNROLL for (int i = 0; i < HOLD; i++)
            if (const int at = first + i * STRIDE; at < mine) {
                if (REUSE)
                    UNROLL for (int j = 0; j < HALVES; j++)
                        held[i].element[j] = __float2half(weights[REUSE ? i * HALVES + j : 0] * scale);
                else
                    held[i] = shares_of(held[i], largest, scale);
                store(to + (size_t)at * HALVES, held[i]);
            }
        for (int at = first + HOLD * STRIDE; at < mine; at += STRIDE)
            store(to + (size_t)at * HALVES, shares_of(load<HALVES>(from + (size_t)at * HALVES), largest, scale));
    }
#if SPLIT > 1
    cluster_barrier(); /* no block ends while others read from it */
#endif
}

extern "C" __global__ void __launch_bounds__(THREADS * ROWS)
#if SPLIT > 1
    __cluster_dims__(SPLIT, 1, 1)
#endif
    softmax(const __half *__restrict__ x, __half *__restrict__ y, int R, int C)
{
    if (C % VECTOR == 0)
        softmax_rows<VECTOR>(x, y, R, C);
    else
        softmax_rows<1>(x, y, R, C);
}
