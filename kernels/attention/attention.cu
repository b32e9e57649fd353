/* attention: o = softmax(scale * q k^T) v for every head, on tensor cores; fp16
 * in and out, fp32 in between, [B, H, S, D] row-major, causal or not.
 *
 * The opinion: the S x S scores are never stored, and what a warp needs of its
 * queries, scores and results stays in its registers (Dao 2023,
 * "FlashAttention-2"). The steps:
 *
 *  1. A block of threads owns BLOCK_M queries of one head, each warp an equal
 *     share of whole tiles of 16. Warps share keys and values, nothing else.
 *  2. Tiles of BLOCK_N keys and values stream into NUM_STAGES places in shared
 *     memory, asynchronously, while earlier ones are used.
 *  3. score: queries times keys. raise: the largest score of each row so far.
 *     weigh: scores become weights, packed to fp16 in the registers in which
 *     the next product needs them. mix: weights times values.
 *  4. Rows are divided by their sum and stored through shared memory, 16 bytes
 *     at a time.
 *
 * With OVERLAP the scores of the next tile are computed first, so that their
 * exponentials, which the tensor cores cannot do, run beside the mixing of
 * this one. The pipeline then carries keys one tile ahead of values.
 *
 * Scores are kept in units of log2(e) * scale, where a weight is one multiply-add
 * and one power of two. The scale must be positive: the largest score is found
 * before scaling. Every row sees key 0 in its first tile, masked or not, so its
 * largest score is finite from then on and no -inf meets another. */
#include <cuda_fp16.h>

#define UNROLL _Pragma("unroll")
#define INLINE static __device__ __forceinline__

constexpr int THREADS = 32 * NUM_WARPS;
constexpr int WARP_ROWS = BLOCK_M / NUM_WARPS;
constexpr int ROW_TILES = WARP_ROWS / 16;
constexpr int KEY_STEPS = BLOCK_N / 16;
constexpr int HEAD_STEPS = HEAD_DIM / 16;
constexpr int CHUNKS = HEAD_DIM / 8; /* 16 bytes each, in a row of q, k, v or o */
constexpr int ROW_BYTES = HEAD_DIM * 2;
constexpr int QUERY_BYTES = BLOCK_M * ROW_BYTES;
constexpr int TILE_BYTES = BLOCK_N * ROW_BYTES;
constexpr int STAGE_BYTES = 2 * TILE_BYTES;
constexpr unsigned WHOLE_WARP = 0xffffffffu;
constexpr unsigned TWO_ONES = 0x3c003c00u; /* the fp16 pair 1, 1 */

static_assert(HEAD_DIM == 64 || HEAD_DIM == 128 || HEAD_DIM == 256,
              "steps along a row are made by xor, so it must be a power of two, from a line of 128 bytes to a chunk per lane");
static_assert(BLOCK_M % (16 * NUM_WARPS) == 0, "a warp owns whole tiles of 16 queries");
static_assert(BLOCK_N % 16 == 0, "a tile of keys is a whole number of steps");
static_assert(BLOCK_N * CHUNKS % THREADS == 0, "threads share a tile's chunks evenly");
static_assert(NUM_STAGES >= 1, "keys and values need a place");
static_assert(!OVERLAP || NUM_STAGES > 1, "keys that are ahead need a stage of their own");

/* The instructions that C++ has no words for. An emulation on the host defines
 * WARP_INSTRUCTIONS and brings its own. */
#ifndef WARP_INSTRUCTIONS

INLINE unsigned shared_address(const void *pointer)
{
    return (unsigned)__cvta_generic_to_shared(pointer);
}

/* copy_async starts copying 16 bytes past the registers; of the source it reads
 * only so many bytes and puts zeros in place of the rest. */
INLINE void copy_async(unsigned to, const void *from, int bytes)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :: "r"(to), "l"(from), "r"(bytes) : "memory");
}

INLINE void copy_async(unsigned to, const void *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(to), "l"(from) : "memory");
}

INLINE void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/* wait_copies returns when all but the last so many groups have arrived. */
template <int GROUPS> INLINE void wait_copies()
{
    asm volatile("cp.async.wait_group %0;" :: "n"(GROUPS) : "memory");
}

/* load_matrices reads four 8 x 8 matrices of fp16; lane l names row l % 8 of
 * matrix l / 8. */
INLINE void load_matrices(unsigned (&to)[4], unsigned from)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(from));
}

INLINE void load_matrices_transposed(unsigned (&to)[4], unsigned from)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(from));
}

/* multiply_add adds the product of a 16 x 16 and a 16 x 8 matrix to sum. */
INLINE void multiply_add(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/* power_of_two is 2^x within two units in the last place, and 0 for -inf. */
INLINE float power_of_two(float x)
{
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
    return power;
}

INLINE unsigned pack(float low, float high)
{
    unsigned pair;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}

#endif

INLINE int smaller(int a, int b) { return a < b ? a : b; }

/* swizzled is the place of a chunk in a tile. Eight rows of the same chunk, which
 * is what a matrix load asks for, fall into eight different groups of banks. */
INLINE unsigned swizzled(int row, int chunk)
{
    return row * ROW_BYTES + (chunk ^ row % 8) * 16;
}

/* What a thread keeps for its rows: lane / 4 and 8 below it in each tile of 16. */
struct Rows {
    float mixed[ROW_TILES][2 * HEAD_STEPS][4];
    float largest[ROW_TILES][2];
    float sum[ROW_TILES][4]; /* two per row: with TENSOR_SUM they are a product's tile */
};

struct Scores {
    float tile[ROW_TILES][2 * KEY_STEPS][4];
};

struct Weights {
    unsigned step[KEY_STEPS][ROW_TILES][4];
};

struct Queries {
    unsigned place;                          /* of this lane's row in shared memory */
    unsigned step[HEAD_STEPS][ROW_TILES][4]; /* with QUERY_REGISTERS */
};

/* Where a block is on its way along the keys. */
struct Walk {
    const __half *keys, *values;
    unsigned stages; /* shared memory */
    int S, tiles, stage;
};

/* copy_rows fetches COUNT rows of a head, zeros beyond the last: what the mask
 * hides must still be finite, because a weight of 0 does not hide a NaN. */
template <int COUNT> INLINE void copy_rows(unsigned to, const __half *from, int first, int S)
{
    constexpr int STEP = THREADS / CHUNKS;
    const int chunk = threadIdx.x % CHUNKS, row = threadIdx.x / CHUNKS;

    static_assert(COUNT % STEP == 0, "threads share the rows evenly");
    if (first + COUNT <= S) {
        const __half *source = from + (first + row) * HEAD_DIM + chunk * 8;
        UNROLL for (int r = 0; r < COUNT; r += STEP)
            copy_async(to + swizzled(row + r, chunk), source + r * HEAD_DIM);
        return;
    }
    UNROLL for (int r = 0; r < COUNT; r += STEP) {
        const int at = first + row + r;
        const __half *source = from + smaller(at, S - 1) * HEAD_DIM + chunk * 8;
        copy_async(to + swizzled(row + r, chunk), source, at < S ? 16 : 0);
    }
}

/* fetch starts one group of copies: values of the tile, and its keys or, with
 * OVERLAP, the next tile's. Behind the end the group is empty, so that waiting
 * can go on counting groups. */
INLINE void fetch(const Walk &walk, int tile, int stage)
{
    const unsigned place = walk.stages + stage * STAGE_BYTES;
    if (tile + OVERLAP < walk.tiles)
        copy_rows<BLOCK_N>(place, walk.keys, (tile + OVERLAP) * BLOCK_N, walk.S);
    if (tile < walk.tiles)
        copy_rows<BLOCK_N>(place + TILE_BYTES, walk.values, tile * BLOCK_N, walk.S);
    commit_copies();
}

/* arrive returns the place of the tile's stage once it is filled, and refills
 * the one that every warp has just left. */
INLINE unsigned arrive(Walk &walk, int tile)
{
    const unsigned place = walk.stages + walk.stage * STAGE_BYTES;

    if (NUM_STAGES == 1) {
        __syncthreads();
        fetch(walk, tile, 0);
        wait_copies<0>();
        __syncthreads();
        return place;
    }
    wait_copies<(NUM_STAGES > 1 ? NUM_STAGES - 2 : 0)>();
    __syncthreads();
    fetch(walk, tile + NUM_STAGES - 1, walk.stage == 0 ? NUM_STAGES - 1 : walk.stage - 1);
    walk.stage = walk.stage + 1 == NUM_STAGES ? 0 : walk.stage + 1;
    return place;
}

/* query_step reads the warp's queries, 16 elements of the head. */
INLINE void query_step(unsigned (&to)[ROW_TILES][4], const Queries &queries, int step)
{
    UNROLL for (int r = 0; r < ROW_TILES; r++)
        load_matrices(to[r], (queries.place ^ step * 32) + r * 16 * ROW_BYTES);
}

/* score multiplies the warp's queries with a tile of keys. */
INLINE void score(Scores &scores, const Queries &queries, unsigned keys)
{
    const int lane = threadIdx.x % 32;
    const unsigned place = swizzled(lane % 8 + lane / 16 * 8, lane / 8 % 2);

    UNROLL for (int r = 0; r < ROW_TILES; r++)
        UNROLL for (int n = 0; n < 2 * KEY_STEPS; n++)
            UNROLL for (int i = 0; i < 4; i++)
                scores.tile[r][n][i] = 0;
    UNROLL for (int d = 0; d < HEAD_STEPS; d++) {
        unsigned a[ROW_TILES][4];
        if (!QUERY_REGISTERS)
            query_step(a, queries, d);
        else
            UNROLL for (int r = 0; r < ROW_TILES; r++)
                UNROLL for (int i = 0; i < 4; i++)
                    a[r][i] = queries.step[d][r][i];
        UNROLL for (int n = 0; n < KEY_STEPS; n++) {
            unsigned b[4];
            load_matrices(b, keys + (place ^ d * 32) + n * 16 * ROW_BYTES);
            UNROLL for (int r = 0; r < ROW_TILES; r++) {
                multiply_add(scores.tile[r][2 * n], a[r], b[0], b[1]);
                multiply_add(scores.tile[r][2 * n + 1], a[r], b[2], b[3]);
            }
        }
    }
}

/* mask hides keys that do not exist or, when causal, lie behind the query. */
INLINE void mask(Scores &scores, int first_row, int first_key, int S, int causal)
{
    const int lane = threadIdx.x % 32;

    UNROLL for (int r = 0; r < ROW_TILES; r++)
        UNROLL for (int half = 0; half < 2; half++) {
            const int row = first_row + r * 16 + half * 8 + lane / 4;
            const int end = (causal ? smaller(S, row + 1) : S) - first_key - lane % 4 * 2;
            UNROLL for (int n = 0; n < 2 * KEY_STEPS; n++)
                UNROLL for (int i = 0; i < 2; i++)
                    if (n * 8 + i >= end)
                        scores.tile[r][n][half * 2 + i] = -__int_as_float(0x7f800000);
        }
}

/* raise updates the largest scores and returns whether they moved; factor is
 * then what older weights must be multiplied with.
 *
 * With LAZY_RESCALE it lets scores grow beyond the largest by a factor of 2^8
 * in their weights: fp16 holds that as precisely as 1, and the division by the
 * sum at the end undoes it. The vote keeps the branch common to the warp, and
 * mostly spares the exchange of maxima. */
INLINE bool raise(Rows &rows, const Scores &scores, float scale, float (&factor)[ROW_TILES][2])
{
    float high[ROW_TILES][2];
    bool beyond = false;

    UNROLL for (int r = 0; r < ROW_TILES; r++)
        UNROLL for (int half = 0; half < 2; half++) {
            float most = fmaxf(scores.tile[r][0][half * 2], scores.tile[r][0][half * 2 + 1]);
            UNROLL for (int n = 1; n < 2 * KEY_STEPS; n++)
                most = fmaxf(most, fmaxf(scores.tile[r][n][half * 2], scores.tile[r][n][half * 2 + 1]));
            high[r][half] = most * scale;
            beyond |= high[r][half] > rows.largest[r][half] + 8;
        }
    if (LAZY_RESCALE && !__any_sync(WHOLE_WARP, beyond))
        return false;
    UNROLL for (int r = 0; r < ROW_TILES; r++)
        UNROLL for (int half = 0; half < 2; half++) {
            float most = high[r][half];
            most = fmaxf(most, __shfl_xor_sync(WHOLE_WARP, most, 1));
            most = fmaxf(most, __shfl_xor_sync(WHOLE_WARP, most, 2));
            most = fmaxf(most, rows.largest[r][half]);
            factor[r][half] = power_of_two(rows.largest[r][half] - most);
            rows.largest[r][half] = most;
            if (!TENSOR_SUM)
                rows.sum[r][half * 2] *= factor[r][half];
        }
    return true;
}

/* rescale scales what is mixed so far to the new largest scores. */
INLINE void rescale(Rows &rows, const float (&factor)[ROW_TILES][2])
{
    UNROLL for (int r = 0; r < ROW_TILES; r++)
        UNROLL for (int i = 0; i < 4; i++) {
            UNROLL for (int n = 0; n < 2 * HEAD_STEPS; n++)
                rows.mixed[r][n][i] *= factor[r][i / 2];
            if (TENSOR_SUM)
                rows.sum[r][i] *= factor[r][i / 2];
        }
}

/* weigh turns the scores of 16 keys into weights. What a product leaves in a
 * lane is what the next product wants from it, so nothing is exchanged. */
INLINE void weigh(unsigned (&weights)[ROW_TILES][4], Rows &rows, const Scores &scores, float scale, int step)
{
    UNROLL for (int r = 0; r < ROW_TILES; r++)
        UNROLL for (int i = 0; i < 4; i++) {
            const float(&tile)[4] = scores.tile[r][2 * step + i / 2];
            const int half = i % 2;
            const float low = power_of_two(fmaf(tile[half * 2], scale, -rows.largest[r][half]));
            const float high = power_of_two(fmaf(tile[half * 2 + 1], scale, -rows.largest[r][half]));
            weights[r][i] = pack(low, high);
            if (!TENSOR_SUM)
                rows.sum[r][half * 2] += low + high;
        }
}

/* mix adds 16 values by their weights and, with TENSOR_SUM, the weights
 * themselves as a product with ones: that sums what was rounded to fp16. */
INLINE void mix(Rows &rows, const unsigned (&weights)[ROW_TILES][4], unsigned values, int step)
{
    const int lane = threadIdx.x % 32;
    const unsigned place = swizzled(lane % 16, lane / 16);

    if (TENSOR_SUM)
        UNROLL for (int r = 0; r < ROW_TILES; r++)
            multiply_add(rows.sum[r], weights[r], TWO_ONES, TWO_ONES);
    UNROLL for (int d = 0; d < HEAD_STEPS; d++) {
        unsigned b[4];
        load_matrices_transposed(b, values + (place ^ d * 32) + step * 16 * ROW_BYTES);
        UNROLL for (int r = 0; r < ROW_TILES; r++) {
            multiply_add(rows.mixed[r][2 * d], weights[r], b[0], b[1]);
            multiply_add(rows.mixed[r][2 * d + 1], weights[r], b[2], b[3]);
        }
    }
}

/* Everything that a warp works with on its way. */
struct Warp {
    Rows rows;
    Queries queries;
    Weights weights; /* with OVERLAP, of the tile before */
    Walk walk;
    float scale;
    int first_row, causal;
    int tiles; /* that its rows may see: in a causal block the upper warps stop early */
};

/* begin finds the scores of a tile and where the weights stand. */
template <bool MASKED>
INLINE bool begin(Warp &warp, Scores &scores, unsigned keys, int tile, float (&factor)[ROW_TILES][2])
{
    score(scores, warp.queries, keys);
    if (MASKED)
        mask(scores, warp.first_row, tile * BLOCK_N, warp.walk.S, warp.causal);
    return raise(warp.rows, scores, warp.scale, factor);
}

/* one_after_the_other takes a tile from its scores to the mixed values. */
template <bool MASKED> INLINE void one_after_the_other(Warp &warp, int tile)
{
    const unsigned place = arrive(warp.walk, tile);
    float factor[ROW_TILES][2];
    Scores scores;

    if (MASKED && tile >= warp.tiles)
        return;
    if (begin<MASKED>(warp, scores, place, tile, factor))
        rescale(warp.rows, factor);
    UNROLL for (int n = 0; n < KEY_STEPS; n++) {
        weigh(warp.weights.step[n], warp.rows, scores, warp.scale, n);
        mix(warp.rows, warp.weights.step[n], place + TILE_BYTES, n);
    }
}

/* side_by_side mixes a tile while the weights of the next, if there is one,
 * replace its own. */
template <bool MASKED> INLINE void side_by_side(Warp &warp, int tile)
{
    const unsigned place = arrive(warp.walk, tile);
    float factor[ROW_TILES][2];
    Scores scores;

    if (MASKED && tile + 1 >= warp.tiles) {
        if (tile + 1 == warp.tiles)
            UNROLL for (int n = 0; n < KEY_STEPS; n++)
                mix(warp.rows, warp.weights.step[n], place + TILE_BYTES, n);
        return;
    }
    const bool raised = begin<MASKED>(warp, scores, place, tile + 1, factor);
    UNROLL for (int n = 0; n < KEY_STEPS; n++) {
        mix(warp.rows, warp.weights.step[n], place + TILE_BYTES, n);
        weigh(warp.weights.step[n], warp.rows, scores, warp.scale, n);
    }
    if (raised)
        rescale(warp.rows, factor);
}

/* prologue finds the weights of the first tile before the loop, for OVERLAP. */
template <bool MASKED> INLINE void prologue(Warp &warp)
{
    float factor[ROW_TILES][2];
    Scores scores;

    begin<MASKED>(warp, scores, warp.walk.stages + (NUM_STAGES - 1) * STAGE_BYTES, 0, factor);
    UNROLL for (int n = 0; n < KEY_STEPS; n++)
        weigh(warp.weights.step[n], warp.rows, scores, warp.scale, n);
}

/* walk_keys visits all tiles; the scores of those from whole on need the mask.
 * They have a loop of their own, so that the others are not slowed by it. */
INLINE void walk_keys(Warp &warp, int whole)
{
    const int tiles = warp.walk.tiles;
    int tile = 0;

    if (!OVERLAP) {
        for (; tile < whole; tile++)
            one_after_the_other<false>(warp, tile);
        for (; tile < tiles; tile++)
            one_after_the_other<true>(warp, tile);
        return;
    }
    if (whole > 0)
        prologue<false>(warp);
    else
        prologue<true>(warp);
    for (; tile + 1 < whole; tile++)
        side_by_side<false>(warp, tile);
    for (; tile < tiles; tile++)
        side_by_side<true>(warp, tile);
}

/* start fetches the queries and the first stages, and waits for the queries.
 * With OVERLAP the first keys come along, to the stage that is filled last. */
INLINE void start(Warp &warp, const __half *q, unsigned shared, int first)
{
    const int warp_row = threadIdx.x / 32 * WARP_ROWS, lane = threadIdx.x % 32;
    const Walk &walk = warp.walk;

    copy_rows<BLOCK_M>(shared, q, first, walk.S);
    if (OVERLAP)
        copy_rows<BLOCK_N>(walk.stages + (NUM_STAGES - 1) * STAGE_BYTES, walk.keys, 0, walk.S);
    commit_copies();
    UNROLL for (int stage = 0; stage < NUM_STAGES - 1; stage++)
        fetch(walk, stage, stage);
    wait_copies<NUM_STAGES - 1>();
    __syncthreads();
    warp.queries.place = shared + swizzled(warp_row + lane % 16, lane / 16);
    if (QUERY_REGISTERS)
        UNROLL for (int d = 0; d < HEAD_STEPS; d++)
            query_step(warp.queries.step[d], warp.queries, d);
}

INLINE void clear(Rows &rows)
{
    UNROLL for (int r = 0; r < ROW_TILES; r++)
        UNROLL for (int i = 0; i < 4; i++) {
            UNROLL for (int n = 0; n < 2 * HEAD_STEPS; n++)
                rows.mixed[r][n][i] = 0;
            rows.sum[r][i] = 0;
            rows.largest[r][i / 2] = -__int_as_float(0x7f800000);
        }
}

/* epilogue divides the rows by their sums and puts them where the warp's queries
 * were, which no other warp reads. */
INLINE void epilogue(Rows &rows, unsigned char *place)
{
    const int lane = threadIdx.x % 32;

    UNROLL for (int r = 0; r < ROW_TILES; r++)
        UNROLL for (int half = 0; half < 2; half++) {
            float sum = rows.sum[r][half * 2];
            if (!TENSOR_SUM) {
                sum += __shfl_xor_sync(WHOLE_WARP, sum, 1);
                sum += __shfl_xor_sync(WHOLE_WARP, sum, 2);
            }
            const float inverse = 1 / sum;
            const int row = r * 16 + half * 8 + lane / 4;
            UNROLL for (int n = 0; n < 2 * HEAD_STEPS; n++)
                *(unsigned *)(place + swizzled(row, n) + lane % 4 * 4) =
                    pack(rows.mixed[r][n][half * 2] * inverse, rows.mixed[r][n][half * 2 + 1] * inverse);
        }
    __syncwarp();
}

/* store writes the warp's rows that exist, a chunk per lane. */
INLINE void store(__half *o, const unsigned char *place, int first_row, int S)
{
    const int chunk = threadIdx.x % CHUNKS, row = threadIdx.x % 32 / CHUNKS;

    UNROLL for (int r = 0; r < WARP_ROWS; r += 32 / CHUNKS)
        if (first_row + row + r < S)
            *(uint4 *)(o + (first_row + row + r) * HEAD_DIM + chunk * 8) =
                *(const uint4 *)(place + swizzled(row + r, chunk));
}

INLINE int tiles_of(int keys) { return (keys + BLOCK_N - 1) / BLOCK_N; }

/* The grid is blocks of queries by heads. D is HEAD_DIM; B and H are in the grid. */
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT_WARPS / NUM_WARPS)
attention_forward(const __half *q, const __half *k, const __half *v, __half *o,
                  float scale, int B, int H, int S, int D, int causal)
{
    /* Aligned to more than a row: steps along a row are made by xor on addresses. */
    extern __shared__ __align__(1024) unsigned char memory[];
    /* When causal the last queries have the most keys: they start first. */
    const int block = causal ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
    const int first = block * BLOCK_M, warp_row = threadIdx.x / 32 * WARP_ROWS;
    const size_t head = (size_t)blockIdx.y * S * HEAD_DIM;
    const unsigned shared = shared_address(memory);
    Warp warp;

    warp.walk.keys = k + head, warp.walk.values = v + head;
    warp.walk.stages = shared + QUERY_BYTES, warp.walk.stage = 0;
    warp.walk.S = S, warp.walk.tiles = tiles_of(causal ? smaller(S, first + BLOCK_M) : S);
    warp.scale = scale * 1.44269504f; /* log2(e) */
    warp.first_row = first + warp_row, warp.causal = causal;
    warp.tiles = tiles_of(causal ? smaller(S, warp.first_row + WARP_ROWS) : S);
    clear(warp.rows);
    start(warp, q + head, shared, first);
    walk_keys(warp, (causal ? first + 1 : S) / BLOCK_N);
    epilogue(warp.rows, memory + warp_row * ROW_BYTES);
    store(o + head, memory + warp_row * ROW_BYTES, warp.first_row, S);
}
