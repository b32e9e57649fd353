/* reduce: the sum of every row of a matrix, fp32.
 *
 * Memory is the limit: nothing but reading takes time. The steps:
 *
 *  1. A group of THREADS threads (times SPLIT blocks of a cluster) owns a row, and
 *     a block owns ROWS rows at a time.
 *  2. Each thread has LOADS vectors of VECTOR elements in flight and adds them to as
 *     many sums, so that no load and no addition waits for the one before.
 *  3. Sums are added over the threads, then over the blocks of the cluster.
 *
 * Rows whose length is not a multiple of VECTOR are read element by element. */

#define UNROLL _Pragma("unroll")
#define INLINE static __device__ __forceinline__

constexpr int LANES = THREADS < 32 ? THREADS : 32; /* of a warp, per row */
constexpr int WARPS = THREADS / LANES;             /* per row */
constexpr int STRIDE = THREADS * SPLIT;
constexpr unsigned WHOLE_WARP = 0xffffffffu;

static_assert(THREADS % LANES == 0 && (THREADS & (THREADS - 1)) == 0, "a row belongs to whole warps, or to a part of one");
static_assert(THREADS * ROWS <= 1024, "a block has at most 1024 threads");

template <int ELEMENTS> struct Vector;
template <> struct Vector<1> {
    using type = float;
    INLINE float sum(type v) { return v; }
};
template <> struct Vector<2> {
    using type = float2;
    INLINE float sum(type v) { return v.x + v.y; }
};
template <> struct Vector<4> {
    using type = float4;
    INLINE float sum(type v) { return (v.x + v.y) + (v.z + v.w); }
};

template <class V> INLINE V load(const V *from) { return STREAM ? __ldcs(from) : *from; }

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

/* cluster_store writes a float into shared memory of the cluster's first block. */
INLINE void cluster_store(float *mine, float value)
{
    const unsigned address = (unsigned)__cvta_generic_to_shared(mine);
    asm volatile("{\n.reg .b32 there;\n"
                 "mapa.shared::cluster.u32 there, %0, 0;\n"
                 "st.shared::cluster.f32 [there], %1;\n}"
                 :: "r"(address), "f"(value) : "memory");
}
#endif

/* finish adds what the threads of a row bring and writes the sum. The scratch is
 * used in turns (turn is 0 or 1), so that one barrier a row is enough. */
INLINE void finish(float mine, int turn, float *to, bool wanted)
{
    const int group = threadIdx.x / THREADS, warp = threadIdx.x % THREADS / 32, lane = threadIdx.x % LANES;
    mine = warp_sum(mine);
    if (WARPS > 1) {
        __shared__ float parts[2][ROWS][WARPS];
        if (lane == 0)
            parts[turn][group][warp] = mine;
        __syncthreads();
        if (warp == 0)
            mine = warp_sum(lane < WARPS ? parts[turn][group][lane] : 0);
    }
#if SPLIT > 1
    __shared__ float shares[2][ROWS][SPLIT];
    const int block = blockIdx.x % SPLIT;
    if (warp == 0 && lane == 0)
        cluster_store(&shares[turn][group][block], mine);
    cluster_barrier();
    if (block > 0)
        return;
    mine = 0;
    UNROLL for (int other = 0; other < SPLIT; other++)
        mine += shares[turn][group][other];
#endif
    if (wanted && warp == 0 && lane == 0)
        *to = mine;
}

template <int ELEMENTS> INLINE void sum_rows(const float *x, float *y, int R, int C)
{
    using Wide = typename Vector<ELEMENTS>::type;
    const int vectors = C / ELEMENTS;
    const int first = blockIdx.x % SPLIT * THREADS + threadIdx.x % THREADS;
    const int step = gridDim.x / SPLIT * ROWS;
    int turn = 0;
    for (int top = blockIdx.x / SPLIT * ROWS; top < R; top += step, turn ^= 1) {
        const int row = top + threadIdx.x / THREADS;
        const int mine = row < R ? vectors : 0; /* the others come along for the barriers */
        const Wide *from = (const Wide *)(x + (size_t)row * C);

        float sums[LOADS] = {};
        int at = first;
        for (; at + (LOADS - 1) * STRIDE < mine; at += LOADS * STRIDE) {
            Wide loaded[LOADS];
            UNROLL for (int i = 0; i < LOADS; i++)
                loaded[i] = load(from + at + i * STRIDE);
            UNROLL for (int i = 0; i < LOADS; i++)
                sums[i] += Vector<ELEMENTS>::sum(loaded[i]);
        }
        for (; at < mine; at += STRIDE)
            sums[0] += Vector<ELEMENTS>::sum(load(from + at));
        UNROLL for (int i = 1; i < LOADS; i++)
            sums[0] += sums[i];
        finish(sums[0], turn, y + row, row < R);
    }
#if SPLIT > 1
    cluster_barrier(); /* no block ends while others write to it */
#endif
}

extern "C" __global__ void __launch_bounds__(THREADS * ROWS)
#if SPLIT > 1
    __cluster_dims__(SPLIT, 1, 1)
#endif
    reduce(const float *__restrict__ x, float *__restrict__ y, int R, int C)
{
    if (C % VECTOR == 0)
        sum_rows<VECTOR>(x, y, R, C);
    else
        sum_rows<1>(x, y, R, C);
}
