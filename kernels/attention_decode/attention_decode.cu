/* attention_decode: o = softmax(scale * q k^T) v for one new query per sequence, as in
 * decoding; fp16 in and out (with BF16 bf16), fp32 in between. Keys and values lie in pages
 * of PAGE tokens, [pages, PAGE, HK, D]; row b of the table names the pages of sequence b in
 * their order, and lengths[b] >= 1 says how many of its tokens count. Each head of keys is
 * for GROUP heads of queries, one after the other.
 *
 * The opinion: every key and value is read once and used by few queries, so the time is
 * that of the memory. All that matters is enough bytes on their way at any time, and that
 * sequences of any number and length keep all multiprocessors busy. The steps:
 *
 *  1. A block of threads has TOKENS tokens of a sequence, for HEADS heads of keys. Its warps
 *     share them out in tiles of TILE tokens; a warp is for one head. Where there are fewer
 *     heads, warps do the last one's work again.
 *  2. A warp copies its tiles into a ring of STAGES places of its own, so that no warp ever
 *     waits for another.
 *  3. Keys are the rows of the first product and queries the columns, eight at a time: what
 *     a tensor core wastes is then little, and a sum for every query in a lane is a sum over
 *     lanes only once a tile. Weights are transposed within the warp, and values are the
 *     rows of the second product, transposed on their way from shared memory.
 *  4. The results of the warps, each relative to its own largest score, are added up in
 *     shared memory. CLUSTER blocks, whose tokens follow each other, read each other's.
 *  5. Where a sequence has more blocks than that, they leave their results in memory, and the
 *     one that arrives last adds them up. It leaves the count at zero for the next launch.
 *
 * Scores are kept in units of log2(e) * scale. The scale must be positive. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#if BF16
typedef __nv_bfloat16 Element;
#define TYPE "bf16"
#else
typedef __half Element;
#define TYPE "f16"
#endif
#if CLUSTER > 1 && defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#error "clusters of blocks need sm_90 or later"
#endif
#define UNROLL _Pragma("unroll")
#define INLINE static __device__ __forceinline__

constexpr int THREADS = 32 * WARPS;
constexpr int PARTS = WARPS / HEADS; /* warps of a head */
constexpr int ROW_BYTES = 2 * HEAD_DIM;
constexpr int CHUNKS = ROW_BYTES / 16;
constexpr int HEAD_STEPS = HEAD_DIM / 16;
constexpr int KEY_STEPS = TILE / 16;
constexpr int QUERY_TILES = (GROUP + 7) / 8;
constexpr int QUERIES = 8 * QUERY_TILES;
constexpr int TILE_BYTES = TILE * ROW_BYTES;
constexpr int STAGE_BYTES = 2 * TILE_BYTES; /* keys, then values */
constexpr int RING_BYTES = STAGES * STAGE_BYTES;
constexpr int PAGES = TOKENS / PAGE + 2; /* that a block may touch */
/* Rows of results in shared memory: padded, so that the lanes of a warp write to all banks. */
constexpr int PITCH = HEAD_DIM + 4;
constexpr float LOWEST = -1e30f; /* below every score */
/* Results of other blocks that are read at a time; blocks of few tokens are for short sequences. */
constexpr int AT_ONCE = TOKENS < 128 ? 8 : 16;

static_assert(WARPS % HEADS == 0, "a warp is for one head");
static_assert(HEAD_DIM % 64 == 0 && TILE % 16 == 0 && TOKENS % TILE == 0, "whole tiles");
static_assert(QUERIES * (PITCH + 2) * 4 <= RING_BYTES, "results take the place of the ring");

INLINE unsigned shared_address(const void *pointer) { return (unsigned)__cvta_generic_to_shared(pointer); }

/* copy_in copies so many of 16 bytes and fills the rest with zeros. */
INLINE void copy_in(unsigned to, const void *from, int bytes)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}

INLINE void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int GROUPS> INLINE void wait_copies() { asm volatile("cp.async.wait_group %0;" ::"n"(GROUPS) : "memory"); }

INLINE void load_matrices(unsigned (&a)[4], unsigned from)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"(from) : "memory");
}

INLINE void load_transposed(unsigned (&a)[4], unsigned from)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"(from) : "memory");
}

/* transposed is the transpose of a matrix of 8 x 8 that lies in the registers of a warp. */
INLINE unsigned transposed(unsigned a)
{
    unsigned b;
    asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(b) : "r"(a));
    return b;
}

/* multiply adds 16 rows of a times 8 columns of b, 16 products each. */
INLINE void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2])
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." TYPE "." TYPE ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
                 "{%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

INLINE float power_of_two(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

INLINE unsigned packed(float low, float high)
{
#if BF16
    const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
#else
    const __half2 pair = __floats2half2_rn(low, high);
#endif
    return *(const unsigned *)&pair;
}

/* Walk is what a warp copies: the tokens of its block up to last, of one head. */
struct Walk {
    const Element *keys, *values; /* of the head, in the first page */
    const int *pages;             /* of the block, in shared memory */
    unsigned ring;
    int first, last, stride; /* tokens; elements from one token to the next */
};

/* fetch starts the copies of the tile that begins at a token. Chunk c of row r lies at
 * c ^ (r % 8), so that eight rows of a column lie in all banks. */
INLINE void fetch(const Walk &walk, int token, int stage)
{
    const int lane = threadIdx.x % 32;
    const unsigned to = walk.ring + stage * STAGE_BYTES;
    UNROLL for (int i = 0; i < TILE * CHUNKS / 32; i++) {
        const int row = (i * 32 + lane) / CHUNKS, chunk = lane % CHUNKS;
        const int at = min(token + row, walk.last - 1), bytes = token + row < walk.last ? 16 : 0;
        const int page = walk.pages[at / PAGE - walk.first / PAGE];
        const size_t from = ((size_t)page * PAGE + at % PAGE) * walk.stride + chunk * 8;
        const unsigned place = to + row * ROW_BYTES + (chunk ^ row % 8) * 16;
        copy_in(place, walk.keys + from, bytes);
        copy_in(place + TILE_BYTES, walk.values + from, bytes);
    }
}

/* State is what a warp knows about its queries: lane 4 * g + c has rows g and g + 8 of every
 * 16 columns of the head, for queries 2 c and 2 c + 1 of every eight. The sum is over the
 * keys that the lane has seen. */
struct State {
    float mixed[HEAD_STEPS][QUERY_TILES][4];
    float largest[QUERY_TILES][2], sum[QUERY_TILES][2];
};

typedef float Scores[KEY_STEPS][QUERY_TILES][4];

/* score multiplies a tile of keys with the queries. */
INLINE void score(Scores &scores, unsigned keys, const unsigned (&queries)[HEAD_STEPS][QUERY_TILES][2])
{
    const int lane = threadIdx.x % 32;
    UNROLL for (int k = 0; k < KEY_STEPS; k++) {
        UNROLL for (int q = 0; q < QUERY_TILES; q++)
            UNROLL for (int i = 0; i < 4; i++)
                scores[k][q][i] = 0;
        UNROLL for (int step = 0; step < HEAD_STEPS; step++) {
            const int row = 16 * k + lane % 16, chunk = 2 * step + lane / 16;
            unsigned a[4];
            load_matrices(a, keys + row * ROW_BYTES + (chunk ^ row % 8) * 16);
            UNROLL for (int q = 0; q < QUERY_TILES; q++)
                multiply(scores[k][q], a, queries[step][q]);
        }
    }
}

/* mask makes scores of tokens from valid on the lowest there are. */
INLINE void mask(Scores &scores, int valid)
{
    const int row = threadIdx.x % 32 / 4;
    UNROLL for (int k = 0; k < KEY_STEPS; k++)
        UNROLL for (int q = 0; q < QUERY_TILES; q++)
            UNROLL for (int i = 0; i < 4; i++)
                if (16 * k + row + i / 2 * 8 >= valid)
                    scores[k][q][i] = LOWEST;
}

/* weigh turns scores into weights, as the second operand of a product, and rescales what
 * is mixed so far. */
INLINE void weigh(State &state, const Scores &scores, unsigned (&weights)[KEY_STEPS][QUERY_TILES][2], float scale)
{
    UNROLL for (int q = 0; q < QUERY_TILES; q++) {
        float largest[2], factor[2];
        UNROLL for (int j = 0; j < 2; j++) {
            largest[j] = LOWEST;
            UNROLL for (int k = 0; k < KEY_STEPS; k++)
                largest[j] = fmaxf(largest[j], fmaxf(scores[k][q][j], scores[k][q][j + 2]));
            UNROLL for (int distance = 4; distance < 32; distance *= 2)
                largest[j] = fmaxf(largest[j], __shfl_xor_sync(0xffffffffu, largest[j], distance));
            largest[j] = fmaxf(largest[j] * scale, state.largest[q][j]);
            factor[j] = power_of_two(state.largest[q][j] - largest[j]);
            state.largest[q][j] = largest[j];
            state.sum[q][j] *= factor[j];
        }
        UNROLL for (int k = 0; k < KEY_STEPS; k++)
            UNROLL for (int half = 0; half < 2; half++) {
                const float low = power_of_two(fmaf(scores[k][q][2 * half], scale, -largest[0]));
                const float high = power_of_two(fmaf(scores[k][q][2 * half + 1], scale, -largest[1]));
                state.sum[q][0] += low;
                state.sum[q][1] += high;
                weights[k][q][half] = transposed(packed(low, high));
            }
        UNROLL for (int step = 0; step < HEAD_STEPS; step++)
            UNROLL for (int i = 0; i < 4; i++)
                state.mixed[step][q][i] *= factor[i % 2];
    }
}

/* mix adds values times weights. */
INLINE void mix(State &state, unsigned values, const unsigned (&weights)[KEY_STEPS][QUERY_TILES][2])
{
    const int lane = threadIdx.x % 32;
    UNROLL for (int k = 0; k < KEY_STEPS; k++)
        UNROLL for (int step = 0; step < HEAD_STEPS; step++) {
            const int row = 16 * k + lane % 8 + lane / 16 * 8, chunk = 2 * step + lane / 8 % 2;
            unsigned a[4];
            load_transposed(a, values + row * ROW_BYTES + (chunk ^ row % 8) * 16);
            UNROLL for (int q = 0; q < QUERY_TILES; q++)
                multiply(state.mixed[step][q], a, weights[k][q]);
        }
}

/* walk_tiles lets a warp see its tiles of the block's tokens. */
INLINE void walk_tiles(State &state, const Walk &walk, const Element *query, float scale)
{
    const int lane = threadIdx.x % 32, part = threadIdx.x / 32 / HEADS;
    const int begin = walk.first + part * TILE, step = PARTS * TILE;
    UNROLL for (int stage = 0; stage < STAGES - 1; stage++) {
        if (begin + stage * step < walk.last)
            fetch(walk, begin + stage * step, stage);
        commit_copies();
    }
    unsigned queries[HEAD_STEPS][QUERY_TILES][2];
    UNROLL for (int i = 0; i < HEAD_STEPS; i++)
        UNROLL for (int q = 0; q < QUERY_TILES; q++)
            UNROLL for (int half = 0; half < 2; half++) {
                const int row = 8 * q + lane / 4, column = 16 * i + 8 * half + lane % 4 * 2;
                queries[i][q][half] = row < GROUP ? *(const unsigned *)(query + row * HEAD_DIM + column) : 0;
            }
    int stage = 0;
    for (int token = begin; token < walk.last; token += step) {
        wait_copies<STAGES - 2>();
        __syncwarp(); /* all lanes' copies have arrived, and the stage before was read */
        const int ahead = token + (STAGES - 1) * step, free = stage == 0 ? STAGES - 1 : stage - 1;
        if (ahead < walk.last)
            fetch(walk, ahead, free);
        commit_copies();
        const unsigned keys = walk.ring + stage * STAGE_BYTES;
        Scores scores;
        unsigned weights[KEY_STEPS][QUERY_TILES][2];
        score(scores, keys, queries);
        if (token + TILE > walk.last)
            mask(scores, walk.last - token);
        weigh(state, scores, weights, scale);
        mix(state, keys + TILE_BYTES, weights);
        stage = stage == STAGES - 1 ? 0 : stage + 1;
    }
}

/* Result is four columns of a query's result, still to be divided by the sum. */
struct Result {
    float4 mixed;
    float largest, sum;
};

INLINE Result nothing() { return {make_float4(0, 0, 0, 0), LOWEST, 0}; }

/* add adds a result that is relative to another largest score. */
INLINE void add(Result &to, float4 mixed, float largest, float sum)
{
    const float both = fmaxf(to.largest, largest);
    const float old = power_of_two(to.largest - both), now = power_of_two(largest - both);
    to.mixed.x = to.mixed.x * old + mixed.x * now;
    to.mixed.y = to.mixed.y * old + mixed.y * now;
    to.mixed.z = to.mixed.z * old + mixed.z * now;
    to.mixed.w = to.mixed.w * old + mixed.w * now;
    to.sum = to.sum * old + sum * now;
    to.largest = both;
}

/* leave puts a warp's results into its part of shared memory. */
INLINE void leave(const State &state, float *results)
{
    const int lane = threadIdx.x % 32;
    UNROLL for (int q = 0; q < QUERY_TILES; q++)
        UNROLL for (int j = 0; j < 2; j++) {
            const int query = 8 * q + lane % 4 * 2 + j;
            float sum = state.sum[q][j];
            UNROLL for (int distance = 4; distance < 32; distance *= 2)
                sum += __shfl_xor_sync(0xffffffffu, sum, distance);
            if (lane < 4) {
                results[QUERIES * PITCH + 2 * query] = state.largest[q][j];
                results[QUERIES * PITCH + 2 * query + 1] = sum;
            }
            UNROLL for (int step = 0; step < HEAD_STEPS; step++)
                UNROLL for (int half = 0; half < 2; half++)
                    results[query * PITCH + 16 * step + 8 * half + lane / 4] = state.mixed[step][q][j + 2 * half];
        }
}

#if CLUSTER > 1
/* at_rank is the same place in the memory of another block of the cluster. */
INLINE const char *at_rank(const char *memory, int rank)
{
    const char *there;
    asm volatile("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(memory), "r"(rank));
    return there;
}

INLINE void arrive() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }
INLINE void await() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
#else
INLINE const char *at_rank(const char *memory, int) { return memory; }
INLINE void arrive() {}
INLINE void await() { __syncthreads(); }
#endif

/* of_cluster adds up what the warps of a head have left, in all blocks of the cluster. */
INLINE Result of_cluster(const char *memory, int head, int query, int column)
{
    Result result = nothing();
    UNROLL for (int rank = 0; rank < CLUSTER; rank++) {
        const char *there = at_rank(memory, rank);
        UNROLL for (int part = 0; part < PARTS; part++) {
            const float *results = (const float *)(there + (part * HEADS + head) * RING_BYTES);
            const float2 stats = *(const float2 *)(results + QUERIES * PITCH + 2 * query);
            add(result, *(const float4 *)(results + query * PITCH + column), stats.x, stats.y);
        }
    }
    return result;
}

/* of_all adds up what the clusters of a sequence have left, AT_ONCE at a time: their
 * latencies overlap. */
INLINE Result of_all(const float *partial, const float *stats, int clusters, int column)
{
    Result result = nothing();
    for (int cluster = 0; cluster < clusters; cluster += AT_ONCE) {
        float4 mixed[AT_ONCE];
        float2 stat[AT_ONCE];
        UNROLL for (int i = 0; i < AT_ONCE; i++) {
            const size_t at = min(cluster + i, clusters - 1);
            stat[i] = __ldcg((const float2 *)stats + at);
            mixed[i] = __ldcg((const float4 *)(partial + at * HEAD_DIM + column));
        }
        UNROLL for (int i = 0; i < AT_ONCE; i++)
            if (cluster + i < clusters)
                add(result, mixed[i], stat[i].x, stat[i].y);
    }
    return result;
}

INLINE void store(Element *to, const Result &result)
{
    const float share = 1 / result.sum;
    *(uint2 *)to = make_uint2(packed(result.mixed.x * share, result.mixed.y * share),
                              packed(result.mixed.z * share, result.mixed.w * share));
}

/* arrives_last says whether all other blocks of the sequence and heads have left their results. One
 * thread counts for its block: barriers put the others' stores before its atomic, and their loads behind. */
INLINE bool arrives_last(unsigned *arrived, unsigned blocks)
{
    __shared__ bool last;
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned before;
        asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;"
                     : "=r"(before) : "l"(arrived), "r"(blocks - 1) : "memory");
        last = before == blocks - 1;
    }
    __syncthreads();
    return last;
}

extern "C" __global__ void __launch_bounds__(THREADS)
#if CLUSTER > 1
    __cluster_dims__(1, CLUSTER, 1)
#endif
attention_decode(const Element *q, const Element *k, const Element *v, const int *table, const int *lengths, Element *o,
                 float *partial, float *stats, unsigned *arrived, float scale, int B, int HK, int S)
{
    extern __shared__ __align__(128) char memory[];
    const int head = blockIdx.x * HEADS, batch = blockIdx.z, warp = threadIdx.x / 32;
    const int cluster = blockIdx.y / CLUSTER, rank = blockIdx.y % CLUSTER;
    int *pages = (int *)(memory + WARPS * RING_BYTES);

    /* Which pages a block reads does not depend on the length: both are on their way at once. */
    const int first = blockIdx.y * TOKENS, all = (S + PAGE - 1) / PAGE, page = first / PAGE;
    const int length = lengths[batch];
    for (int i = threadIdx.x; i < PAGES && page + i < all; i += THREADS)
        pages[i] = table[(size_t)batch * all + page + i];
    if (cluster * CLUSTER * TOKENS >= length)
        return;
    __syncthreads();

    const size_t row = ((size_t)batch * HK + head) * GROUP; /* of the block's first query */
    const int heads = min(HEADS, HK - head), own = min(warp % HEADS, heads - 1);
    Walk walk;
    walk.keys = k + (head + own) * HEAD_DIM, walk.values = v + (head + own) * HEAD_DIM;
    walk.pages = pages, walk.ring = shared_address(memory) + warp * RING_BYTES;
    walk.first = first, walk.last = min(length, first + TOKENS), walk.stride = HK * HEAD_DIM;
    State state = {};
    UNROLL for (int i = 0; i < QUERY_TILES; i++)
        state.largest[i][0] = state.largest[i][1] = LOWEST;
    walk_tiles(state, walk, q + (row + own * GROUP) * HEAD_DIM, scale * 1.44269504f /* log2(e) */);
    __syncwarp();
    leave(state, (float *)(memory + warp * RING_BYTES));
    arrive();
    await();

    constexpr int QUADS = HEAD_DIM / 4;
    const int clusters = (length + CLUSTER * TOKENS - 1) / (CLUSTER * TOKENS), most = gridDim.y / CLUSTER;
    for (int i = rank * THREADS + threadIdx.x; i < heads * GROUP * QUADS; i += CLUSTER * THREADS) {
        const int query = i / QUADS, column = i % QUADS * 4;
        const Result result = of_cluster(memory, query / GROUP, query % GROUP, column);
        const size_t place = (row + query) * most + cluster;
        if (clusters == 1) {
            store(o + (row + query) * HEAD_DIM + column, result);
        } else {
            __stcg((float4 *)(partial + place * HEAD_DIM + column), result.mixed);
            if (column == 0)
                __stcg((float2 *)stats + place, make_float2(result.largest, result.sum));
        }
    }
    arrive();
    if (clusters > 1 && arrives_last(arrived + (size_t)batch * gridDim.x + blockIdx.x, clusters * CLUSTER))
        for (int i = threadIdx.x; i < heads * GROUP * QUADS; i += THREADS) {
            const size_t query = row + i / QUADS, place = query * most;
            const int column = i % QUADS * 4;
            store(o + query * HEAD_DIM + column,
                  of_all(partial + place * HEAD_DIM, stats + 2 * place, clusters, column));
        }
    if (CLUSTER > 1)
        await(); /* no block ends while others read its memory */
}
