/* The products of groups of few rows, where the time is that of reading the weights once and of how
 * soon that begins. A block has 16 columns of one group, and nothing goes through shared memory but
 * the sums. The steps:
 *
 *  1. Every warp looks up the group of its block, the so-manieth that has rows, by itself: no warp
 *     waits for another before its weights are on their way.
 *  2. The block's SPLIT warps share K. A warp loads weights from memory into registers, STAGES steps
 *     of 64 bytes of each column at once, and the rows of A beside them.
 *  3. The tensor cores multiply. They take the 16 columns for rows, so that eight rows of A, and not
 *     64, make a product. Any order of k is right that is the same on both sides, so a lane loads
 *     16 adjacent bytes, which are parts of two products.
 *  4. The warps' sums are added up in shared memory, rounded and written.
 *
 * A group of more than eight rows does so again for the next eight; its weights are in the caches. */

constexpr int COLUMNS = 16, AT_ONCE = 8; /* columns and rows of A in a product */
constexpr int STEP = 32; /* of K: eight elements for each of the four lanes of a column */
constexpr int STRIDE = SPLIT * STAGES * STEP; /* what the warps have on their way */

/* Group is one that has rows, from start up to end. */
struct Group { int index, start, end; };

/* group_at is for a warp: the group that so many groups with rows precede; one without rows where
 * there are no more. */
INLINE Group group_at(const int *offsets, int E, int before)
{
    constexpr int LOADS = 2; /* on their way at once */
    const int lane = threadIdx.x % 32;
    for (int first = 0; first < E; first += 32 * LOADS) {
        int start[LOADS], end[LOADS];
        UNROLL for (int i = 0; i < LOADS; i++) {
            start[i] = offsets[min(first + 32 * i + lane, E)];
            end[i] = offsets[min(first + 32 * i + lane + 1, E)];
        }
        __syncwarp(); /* the compiler keeps loads before it */
        UNROLL for (int i = 0; i < LOADS; i++) {
            const bool filled = start[i] < end[i];
            const unsigned all = __ballot_sync(0xffffffffu, filled);
            if (before < __popc(all)) {
                const bool mine = filled && __popc(all & ((1u << lane) - 1)) == before;
                const int from = __ffs(__ballot_sync(0xffffffffu, mine)) - 1;
                return {first + 32 * i + from, __shfl_sync(0xffffffffu, start[i], from),
                        __shfl_sync(0xffffffffu, end[i], from)};
            }
            before -= __popc(all);
        }
    }
    return {0, 0, 0};
}

/* row_of is one multiplication: what comes before the first load of weights counts. */
INLINE const __nv_bfloat16 *row_of(const __nv_bfloat16 *matrix, unsigned row, unsigned K)
{
    return matrix + (unsigned long long)row * K;
}

/* load and load_weights are zero where nothing is inside. Weights leave the caches of the
 * multiprocessor to the rows of A. */
#define LOAD(name, how)                                                                    \
    INLINE uint4 name(const __nv_bfloat16 *from, bool inside)                              \
    {                                                                                      \
        uint4 x = {};                                                                      \
        asm volatile("{\n.reg .pred inside;\nsetp.ne.b32 inside, %5, 0;\n"                  \
                     "@inside ld.global" how ".v4.u32 {%0, %1, %2, %3}, [%4];\n}"          \
                     : "+r"(x.x), "+r"(x.y), "+r"(x.z), "+r"(x.w)                          \
                     : "l"(from), "r"((int)inside) : "memory");                            \
        return x;                                                                          \
    }
LOAD(load, "")
LOAD(load_weights, ".L1::no_allocate.L2::128B")

/* multiply adds 16 elements of K of the columns' lower and upper eight times the rows to d. */
INLINE void multiply(float (&d)[4], unsigned low, unsigned high, unsigned low_next, unsigned high_next, unsigned row,
                     unsigned row_next)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(low), "r"(high), "r"(low_next), "r"(high_next), "r"(row), "r"(row_next));
}

/* add_steps multiplies STAGES steps, of which so many elements are left from the lane's first on. Two
 * sums wait for each other half as long as one. */
template <bool WHOLE>
INLINE void add_steps(float (&sums)[2][4], const __nv_bfloat16 *low, const __nv_bfloat16 *high,
                      const __nv_bfloat16 *rows, int left)
{
    uint4 x[STAGES], y[STAGES], z[STAGES];
    UNROLL for (int stage = 0; stage < STAGES; stage++) {
        const bool inside = WHOLE || stage * STEP < left;
        x[stage] = load_weights(low + stage * STEP, inside);
        y[stage] = load_weights(high + stage * STEP, inside);
    }
    UNROLL for (int stage = 0; stage < STAGES; stage++)
        z[stage] = load(rows + stage * STEP, WHOLE || stage * STEP < left);
    __syncwarp(); /* the compiler keeps loads before it, so that all are on their way */
    UNROLL for (int stage = 0; stage < STAGES; stage++) {
        const uint4 l = x[stage], h = y[stage], r = z[stage];
        multiply(sums[0], l.x, h.x, l.y, h.y, r.x, r.y);
        multiply(sums[1], l.z, h.z, l.w, h.w, r.z, r.w);
    }
}

/* add_up multiplies a warp's share of K; mine is the lane's first element of a step. */
INLINE void add_up(float (&sums)[2][4], const __nv_bfloat16 *low, const __nv_bfloat16 *high, const __nv_bfloat16 *rows,
                   int mine, int K)
{
    _Pragma("unroll 1") for (int first = threadIdx.x / 32 * STAGES * STEP; first < K; first += STRIDE) {
        if (first + STAGES * STEP <= K)
            add_steps<true>(sums, low + first, high + first, rows + first, 0);
        else
            add_steps<false>(sums, low + first, high + first, rows + first, K - first - mine);
    }
}

extern "C" __global__ void __launch_bounds__(32 * SPLIT, (STAGES == 8 ? 16 : 24) / SPLIT)
gemm_grouped(const __nv_bfloat16 *a, const __nv_bfloat16 *b, const int *offsets, __nv_bfloat16 *c, int T, int E, int N,
             int K)
{
    __shared__ float partial[SPLIT][AT_ONCE][COLUMNS];
    const int warp = threadIdx.x / 32, inner = threadIdx.x % 32 / 4, mine = threadIdx.x % 4 * 8;
    const int column = blockIdx.x * COLUMNS;
    const Group group = group_at(offsets, E, blockIdx.y);
    /* What lies beyond the last column or row is multiplied as one of them, and not written. */
    const __nv_bfloat16 *low = row_of(b, group.index * N + min(column + inner, N - 1), K) + mine;
    const __nv_bfloat16 *high = row_of(b, group.index * N + min(column + 8 + inner, N - 1), K) + mine;
    for (int first = group.start; first < group.end; first += AT_ONCE) {
        float sums[2][4] = {};
        add_up(sums, low, high, row_of(a, min(first + inner, group.end - 1), K) + mine, mine, K);
        UNROLL for (int i = 0; i < 4; i++)
            partial[warp][mine / 4 + i % 2][inner + i / 2 * 8] = sums[0][i] + sums[1][i];
        __syncthreads();
        const int row = first + threadIdx.x / COLUMNS, x = threadIdx.x % COLUMNS;
        if (threadIdx.x < AT_ONCE * COLUMNS && row < group.end && column + x < N) {
            float sum = 0;
            UNROLL for (int i = 0; i < SPLIT; i++)
                sum += partial[i][row - first][x];
            c[(size_t)row * N + column + x] = __float2bfloat16_rn(sum);
        }
        __syncthreads(); /* the sums have been read */
    }
}
