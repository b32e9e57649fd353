/* attention_hopper: o = softmax(scale * q k^T) v for every head, for the chips
 * with asynchronous tensor cores (sm_90a); fp16 in and out (with BF16 bf16), fp32 in
 * between, [B, H, S, D] row-major, causal or not. Keys and values may have fewer heads,
 * HK: each is then for H / HK heads of queries, one after the other. With FP8 queries,
 * keys and values are fp8 (e4m3), and D is 128.
 *
 * The opinion: at D = 64 the tensor cores and the exponentials take equally long, so
 * neither should wait for the other (Shah et al. 2024, "FlashAttention-3"). So several
 * warpgroups run on a multiprocessor, each with 64 queries of its own: while one
 * multiplies, others compute exponentials. The steps:
 *
 *  1. A block of threads walks over items, each an equal share of the queries of
 *     one head for every consuming warpgroup. Blocks may stay until all items are
 *     done, so that the next keys are there before an item begins.
 *  2. One thread of the producing warpgroup has tiles of keys and values copied
 *     into a ring of STAGES places each, and the queries of the next item ahead
 *     of time. Barriers in shared memory say when a place may be read or
 *     overwritten.
 *  3. score: queries times keys. find_weights: scores become weights, which never
 *     leave the registers: what one product leaves in a lane is what the next one
 *     wants from it. mix: weights times values. OVERLAP says which of them run beside
 *     each other within a warpgroup, CHAINS whether it has two sets of 64 queries in
 *     turns. With SHARED_WEIGHTS the second product reads weights from shared memory.
 *  4. Rows are divided by their sum, put into shared memory by the warp that owns
 *     them and copied out by the copy engine, which also drops the rows that do
 *     not exist.
 *
 * With TRUST_MAX scores are compared in the first tile of an item only: see
 * weigh_trusting. That is right for any input, and fast where no later score is
 * larger by 12 powers of two, which is nearly everywhere. With KEEP_MAX the first tile
 * of an item trusts what the rows of the item before had.
 *
 * Products of fp8 want both operands along the sum: values must lie with their keys in a
 * row, and lie in memory with their columns in one. So with FP8 the other three warps of
 * the producing warpgroup transpose every tile of values on its way to the consumers. They
 * write the keys in the order in which a lane has the weights: see transpose_tile.
 *
 * Scores are kept in units of log2(e) * scale, where a weight is one multiply-add
 * and one power of two. The scale must be positive. Every row sees key 0 in its
 * first tile, masked or not, so its largest score is finite from then on. */

#if BF16
#define TYPE "bf16"
#else
#define TYPE "f16"
#endif
#if FP8
#define INPUT "e4m3"
#define STEP "32" /* elements that one product sums */
#define ALONG     /* an operand of fp8 always lies along the sum */
#define ACROSS
#else
#define INPUT TYPE
#define STEP "16"
#define ALONG ", 0"
#define ACROSS ", 1"
#endif
#define UNROLL _Pragma("unroll")
#define INLINE static __device__ __forceinline__

constexpr int WARPGROUP = 128;
constexpr int CHAIN_ROWS = 64; /* what one product takes */
constexpr int GROUP_ROWS = CHAINS * CHAIN_ROWS;
constexpr int BLOCK_M = CONSUMERS * GROUP_ROWS;
constexpr int THREADS = (CONSUMERS + 1) * WARPGROUP;
constexpr int CONSUMER_WARPS = CONSUMERS * 4;
constexpr int TILES_AT_ONCE = TILES_UNROLLED; /* a pragma does not know macros */

/* A panel is rows of 128 bytes, which is as far as a swizzle reaches: so many columns of
 * the inputs, and 64 of the result. */
constexpr int ROW_BYTES = 128;
constexpr int INPUT_BYTES = FP8 ? 1 : 2;
constexpr int PANEL_COLUMNS = ROW_BYTES / INPUT_BYTES;
constexpr int PANELS = HEAD_DIM / PANEL_COLUMNS;
constexpr int RESULT_PANELS = HEAD_DIM / 64;
constexpr int TILE_PANEL = BLOCK_N * ROW_BYTES;
constexpr int TILE_BYTES = PANELS * TILE_PANEL;
constexpr int CHAIN_PANEL = CHAIN_ROWS * ROW_BYTES;
constexpr int CHAIN_BYTES = PANELS * CHAIN_PANEL;
constexpr int GROUP_BYTES = CHAINS * CHAIN_BYTES;
constexpr int QUERY_BYTES = CONSUMERS * GROUP_BYTES;
constexpr int RESULT_BYTES = RESULT_PANELS * CHAIN_PANEL; /* of a chain */

/* Values that are still to be transposed have places of their own, and a transposed tile
 * is panels of 32 keys, one after the other: rows of 32 bytes, one for every column. */
constexpr int TRANSPOSERS = 3; /* warps */
constexpr int RAW_PLACES = FP8 ? 2 : 0;
constexpr int VALUE_PANEL = HEAD_DIM * 32;

constexpr int OUTPUTS_AT = QUERY_PLACES * QUERY_BYTES;
constexpr int KEYS_AT = OUTPUTS_AT + CONSUMERS * CHAINS * RESULT_BYTES;
constexpr int VALUES_AT = KEYS_AT + STAGES * TILE_BYTES;
constexpr int RAW_AT = VALUES_AT + STAGES * TILE_BYTES;
/* With MIX_EARLY ones follow: a panel of the 16 keys of a step, of which a product takes 8 columns. */
constexpr int ONES_AT = RAW_AT + RAW_PLACES * TILE_BYTES;
constexpr int ONES_BYTES = MIX_EARLY ? 16 * ROW_BYTES : 0;
constexpr int WEIGHTS_AT = ONES_AT + ONES_BYTES;
constexpr int WEIGHT_PANELS = SHARED_WEIGHTS ? (BLOCK_N * INPUT_BYTES + ROW_BYTES - 1) / ROW_BYTES : 0; /* of a chain */
constexpr int BARRIERS_AT = WEIGHTS_AT + CONSUMERS * CHAINS * WEIGHT_PANELS * CHAIN_PANEL;

/* Weights up to here are exact enough in fp16, and their products cannot overflow; in
 * fp8 there are no larger ones. */
constexpr float TRUSTED = FP8 ? 448 : 4096;
constexpr float TRUSTED_EXPONENT = FP8 ? 8.8f : 12;

/* With LAZY_RESCALE a weight may grow to this power of two. */
constexpr float GROWTH = FP8 ? 4 : 8;

/* The weight of the largest score, as a power of two. Numbers of fp8 end at 2^-9: the larger
 * the largest weight, the more of the small ones are left, as long as there is room to grow.
 * With KEEP_MAX the next rows may have larger scores or smaller ones. */
constexpr float TOP = KEEP_MAX ? 6 : !FP8 ? 0 : TRUST_MAX || LAZY_RESCALE ? 4 : 8;

constexpr int HEAD_STEPS = HEAD_DIM * INPUT_BYTES / 32;
constexpr int KEY_STEPS = BLOCK_N * INPUT_BYTES / 32;
constexpr int SCORES = BLOCK_N / 2;  /* of a chain's tile, per thread */
constexpr int RESULTS = HEAD_DIM / 2;
constexpr int SUMS = MIX_EARLY ? 4 : 0; /* behind the results: a row's sum, twice for each of two rows */

/* With MIX_EARLY weights are found, and values mixed, so many steps of 16 keys at a time. */
constexpr int STEP_SCORES = SCORES / KEY_STEPS;
constexpr int STEPS_AT_ONCE = KEY_STEPS > 2 ? 2 : KEY_STEPS;

/* In steps nothing is being mixed while weights are found. */
constexpr bool IN_STEPS = OVERLAP % 3 == 0;

/* Whether a warpgroup without rows skips its tiles: at D = 64 the question costs more than it saves. */
constexpr bool SKIPS_ROWS = OVERLAP == 0 && HEAD_DIM == 128;

/* Registers are dealt out per thread in eights; the block owns what it started with. */
constexpr int ENTRY_REGISTERS = 65536 / (BLOCKS * THREADS) / 8 * 8 > 248 ? 248 : 65536 / (BLOCKS * THREADS) / 8 * 8;
constexpr int KEPT_REGISTERS = 8 * PRODUCER_REGISTERS; /* by the producers */
constexpr int LEFT_REGISTERS = (ENTRY_REGISTERS * (CONSUMERS + 1) - KEPT_REGISTERS) / CONSUMERS / 8 * 8;
constexpr int CONSUMER_REGISTERS = LEFT_REGISTERS > 240 ? 240 : LEFT_REGISTERS;

static_assert(HEAD_DIM == 64 || HEAD_DIM == 128, "one or two panels");
static_assert(!FP8 || HEAD_DIM == 128, "a row of values is a panel");
static_assert(BLOCK_N * INPUT_BYTES % 32 == 0 && BLOCK_N <= 256, "a tile of keys is a whole number of steps");
static_assert(CHAINS == 1 || CHAINS == 2, "a warpgroup has registers for two chains");
/* With OVERLAP the scores of the next item are started before this one ends. */
static_assert(QUERY_PLACES == 2 || QUERY_REGISTERS || OVERLAP == 0, "the next queries need a place");
static_assert(OVERLAP == 1 || CHAINS == 1, "two chains are never in step");
static_assert(OVERLAP != 3 || !QUERY_REGISTERS, "queries are read where they lie");
static_assert(!MIX_EARLY || (OVERLAP == 0 && HEAD_DIM == 64), "only in steps; ones are the second panel of values");
static_assert(!MIX_EARLY || !SHARED_WEIGHTS, "weights are in registers");
static_assert(!KEEP_MAX || (TRUST_MAX && !FP8), "what is kept is trusted; fp8 has no room for it");
/* Overlapped, the first tile is weighed when its keys are gone, and the last again from what is left in its place. */
static_assert(!KEEP_MAX || OVERLAP == 0, "scores that do not fit what is kept are found again");
static_assert(CHAINS == 1 || STAGES > 1, "the chains of a warpgroup are a tile apart");

/* A copy engine's descriptor of a tensor, made by the driver. */
struct alignas(64) TensorMap {
    unsigned char opaque[128];
};

INLINE unsigned shared_address(const void *pointer) { return (unsigned)__cvta_generic_to_shared(pointer); }

/* ---- barriers in shared memory ---- */

INLINE void barrier_init(unsigned barrier, int count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count));
}

INLINE void barrier_arrive(unsigned barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/* barrier_expect arrives and announces so many bytes from the copy engine. */
INLINE void barrier_expect(unsigned barrier, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

/* barrier_wait returns when the phase of that parity is over. */
INLINE void barrier_wait(unsigned barrier, int parity)
{
    asm volatile("{\n"
                 ".reg .pred done;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@done bra over;\n"
                 "bra again;\n"
                 "over:\n"
                 "}" ::"r"(barrier), "r"(parity) : "memory");
}

/* ---- the copy engine ---- */

INLINE void copy_in(unsigned to, const TensorMap *map, int column, int row, int head, unsigned barrier)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(to), "l"(map), "r"(barrier), "r"(column), "r"(row), "r"(head)
                 : "memory");
}

INLINE void copy_out(const TensorMap *map, unsigned from, int column, int row, int head)
{
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(map),
                 "r"(from), "r"(column), "r"(row), "r"(head) : "memory");
}

INLINE void commit_copies() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

/* copies_read returns when all but the last so many groups have read their source. */
template <int GROUPS> INLINE void copies_read()
{
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(GROUPS) : "memory");
}

INLINE void prefetch(const TensorMap *map) { asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory"); }

/* publish makes ordinary writes to shared memory visible to the copy engine and the products. */
INLINE void publish() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

/* ---- asynchronous products ---- */

INLINE void products_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
INLINE void products_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int GROUPS> INLINE void products_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(GROUPS) : "memory");
}

/* fence_operand keeps the compiler from using an accumulator before the product
 * that writes it has finished. */
template <int N> INLINE void fence_operand(float (&d)[N])
{
    UNROLL for (int i = 0; i < N; i++) asm volatile("" : "+f"(d[i])::"memory");
}

/* A descriptor of a tile in shared memory with the 128-byte swizzle: the address,
 * the distance of panels (for operands that lie across) and of groups of 8 rows.
 * What lies some bytes further in the same tile is found by adding, not anew. */
INLINE unsigned descriptor(unsigned address, int panel) { return address >> 4 & 0x3fff | panel >> 4 << 16; }

INLINE unsigned long long further(unsigned descriptor, int bytes)
{
    return (unsigned long long)(1024 >> 4 | 1 << 30) << 32 | (descriptor + (bytes >> 4));
}

/* The same for a transposed tile of values: swizzled over 32 bytes. */
INLINE unsigned long long further_transposed(unsigned descriptor, int bytes)
{
    return (unsigned long long)(256 >> 4 | 3u << 30) << 32 | (descriptor + (bytes >> 4));
}

/* Products of 64 rows, N columns and 32 bytes of sums. The second operand lies in shared
 * memory; the first does too or is in registers. score begins with d = a b: an
 * accumulator that went in with its old content would have been touched while other
 * products run, and the compiler then lets none run beside another. score_more adds.
 * In mix the second operand lies across (a row of it is a step), and add says
 * whether it adds. The numbers are those of the operands behind N / 2 accumulators. */
#define WGMMA(N, LIST) "wgmma.mma_async.sync.aligned.m64n" #N "k" STEP ".f32." INPUT "." INPUT " {" LIST "}, "
#define FALSE_P "{\n.reg .pred p;\nsetp.ne.b32 p, 0, 0;\n"
#define FOUR(A, B, C, D) "{%" #A ",%" #B ",%" #C ",%" #D "}"
#define PRODUCTS(N, LIST, REGISTERS, A, B, C, D, E, F)                                                             \
    template <class...> INLINE void score(float (&d)[N / 2], unsigned long long a, unsigned long long b)           \
    {                                                                                                              \
        asm volatile(FALSE_P WGMMA(N, LIST) "%" #A ", %" #B ", p, 1, 1" ALONG ALONG ";\n}"                    \
                     : REGISTERS(OUT) : "l"(a), "l"(b));                                                           \
    }                                                                                                              \
    template <class...> INLINE void score_more(float (&d)[N / 2], unsigned long long a, unsigned long long b)      \
    {                                                                                                              \
        asm volatile(WGMMA(N, LIST) "%" #A ", %" #B ", 1, 1, 1" ALONG ALONG ";"                               \
                     : REGISTERS(INOUT) : "l"(a), "l"(b));                                                         \
    }                                                                                                              \
    template <class...> INLINE void score(float (&d)[N / 2], const unsigned (&a)[4], unsigned long long b)         \
    {                                                                                                              \
        asm volatile(FALSE_P WGMMA(N, LIST) FOUR(A, B, C, D) ", %" #E ", p, 1, 1" ALONG ";\n}"                     \
                     : REGISTERS(OUT) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));                      \
    }                                                                                                              \
    template <class...> INLINE void score_more(float (&d)[N / 2], const unsigned (&a)[4], unsigned long long b)    \
    {                                                                                                              \
        asm volatile(WGMMA(N, LIST) FOUR(A, B, C, D) ", %" #E ", 1, 1, 1" ALONG ";"                                \
                     : REGISTERS(INOUT) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));                      \
    }                                                                                                              \
    template <class...> INLINE void mix(float (&d)[N / 2], const unsigned (&a)[4], unsigned long long b, int add)  \
    {                                                                                                              \
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #F ", 0;\n" WGMMA(N, LIST) FOUR(A, B, C, D)              \
                     ", %" #E ", p, 1, 1" ACROSS ";\n}"                                                            \
                     : REGISTERS(INOUT) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));            \
    }                                                                                                              \
    template <class...> INLINE void mix(float (&d)[N / 2], unsigned long long a, unsigned long long b, int add)    \
    {                                                                                                              \
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #C ", 0;\n" WGMMA(N, LIST) "%" #A ", %" #B               \
                     ", p, 1, 1" ALONG ACROSS ";\n}"                                                               \
                     : REGISTERS(INOUT) : "l"(a), "l"(b), "r"(add));                                               \
    }

#define OUT(x) "=f"(x)
#define INOUT(x) "+f"(x)
#define R8(m, i) m(d[i]), m(d[i + 1]), m(d[i + 2]), m(d[i + 3]), m(d[i + 4]), m(d[i + 5]), m(d[i + 6]), m(d[i + 7])
#define R32(m) R8(m, 0), R8(m, 8), R8(m, 16), R8(m, 24)
#define R36(m) R32(m), m(d[32]), m(d[33]), m(d[34]), m(d[35])
#define R40(m) R32(m), R8(m, 32)
#define R48(m) R40(m), R8(m, 40)
#define R56(m) R48(m), R8(m, 48)
#define R64(m) R56(m), R8(m, 56)
#define R80(m) R64(m), R8(m, 64), R8(m, 72)
#define R88(m) R80(m), R8(m, 80)
#define R96(m) R88(m), R8(m, 88)
#define L32 \
    "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define L36 L32 ",%32,%33,%34,%35"
#define L40 L36 ",%36,%37,%38,%39"
#define L48 L40 ",%40,%41,%42,%43,%44,%45,%46,%47"
#define L56 L48 ",%48,%49,%50,%51,%52,%53,%54,%55"
#define L64 L56 ",%56,%57,%58,%59,%60,%61,%62,%63"
#define L80 L64 ",%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79"
#define L88 L80 ",%80,%81,%82,%83,%84,%85,%86,%87"
#define L96 L88 ",%88,%89,%90,%91,%92,%93,%94,%95"

PRODUCTS(64, L32, R32, 32, 33, 34, 35, 36, 37)
PRODUCTS(72, L36, R36, 36, 37, 38, 39, 40, 41)
PRODUCTS(80, L40, R40, 40, 41, 42, 43, 44, 45)
PRODUCTS(96, L48, R48, 48, 49, 50, 51, 52, 53)
PRODUCTS(112, L56, R56, 56, 57, 58, 59, 60, 61)
PRODUCTS(128, L64, R64, 64, 65, 66, 67, 68, 69)
PRODUCTS(160, L80, R80, 80, 81, 82, 83, 84, 85)
PRODUCTS(176, L88, R88, 88, 89, 90, 91, 92, 93)
PRODUCTS(192, L96, R96, 96, 97, 98, 99, 100, 101)

/* ---- small things ---- */

INLINE void load_matrices(unsigned (&to)[4], unsigned from)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(from) : "memory");
}

INLINE void load_across(unsigned (&to)[4], unsigned from)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(from) : "memory");
}

INLINE void store_matrices(unsigned to, unsigned a, unsigned b, unsigned c, unsigned d)
{
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(a), "r"(b), "r"(c), "r"(d)
                 : "memory");
}

INLINE unsigned pack(float low, float high)
{
    unsigned pair;
    asm("cvt.rn." TYPE "x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}

INLINE unsigned pack_fp8(float a, float b, float c, float d)
{
    unsigned four;
    asm("{\n.reg .b16 low, high;\n"
        "cvt.rn.satfinite.e4m3x2.f32 low, %2, %1;\n"
        "cvt.rn.satfinite.e4m3x2.f32 high, %4, %3;\n"
        "mov.b32 %0, {low, high};\n}" : "=r"(four) : "f"(a), "f"(b), "f"(c), "f"(d));
    return four;
}

/* power_of_two is 2^x within two units in the last place, and 0 for -inf. */
INLINE float power_of_two(float x)
{
    float power;
    asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
    return power;
}

/* polynomial_power_of_two is 2^x within 1e-4, a fifth of the rounding to fp16 that
 * follows, without the special-function unit: the whole part of x is added to the
 * exponent of a cubic in the rest (minimax on [-1/2, 1/2]). */
INLINE float polynomial_power_of_two(float x)
{
    const float shifter = 12582912.0f; /* 1.5 * 2^23: adding it rounds to whole numbers */
    x = fminf(fmaxf(x, -126.0f), 127.0f); /* what is too large must stay so: see weigh_trusting */
    const float shifted = x + shifter, rest = x - (shifted - shifter);
    float power = fmaf(0.055171659f, rest, 0.24261113f);
    power = fmaf(power, rest, 0.69326099f);
    power = fmaf(power, rest, 0.99992807f);
    return __int_as_float(__float_as_int(power) + (__float_as_int(shifted) << 23));
}

INLINE int smaller(int a, int b) { return a < b ? a : b; }
INLINE int tiles_of(int keys) { return (keys + BLOCK_N - 1) / BLOCK_N; }

/* swizzled is the place of 16 bytes in a panel, as the copy engine puts them. */
INLINE unsigned swizzled(int row, int chunk) { return row * ROW_BYTES + (chunk ^ row % 8) * 16; }

/* ---- who does what ---- */

/* The barriers of a block, 8 bytes each: two per place for keys and for values,
 * two per place for the queries of a warpgroup, and two per place for raw values. */
struct Barriers {
    unsigned at;
    __device__ unsigned keys_full(int place) const { return at + 8 * place; }
    __device__ unsigned keys_empty(int place) const { return at + 8 * (STAGES + place); }
    __device__ unsigned values_full(int place) const { return at + 8 * (2 * STAGES + place); }
    __device__ unsigned values_empty(int place) const { return at + 8 * (3 * STAGES + place); }
    __device__ unsigned queries_full(int group, int place) const { return at + 8 * (4 * STAGES + group * QUERY_PLACES + place); }
    __device__ unsigned queries_empty(int group, int place) const
    {
        return at + 8 * (4 * STAGES + (CONSUMERS + group) * QUERY_PLACES + place);
    }
    __device__ unsigned raw_full(int place) const { return at + 8 * (4 * STAGES + 2 * CONSUMERS * QUERY_PLACES + place); }
    __device__ unsigned raw_empty(int place) const { return raw_full(RAW_PLACES + place); }
};

/* A position in a ring of places: the place, and the parity of the round. */
template <int PLACES> struct Ring {
    int place = 0, round = 0;
    __device__ void advance()
    {
        if (++place == PLACES)
            place = 0, round ^= 1;
    }
};

/* The problem: so many heads of queries in all, group of them for one of keys. */
struct Problem {
    int S, heads, group, causal, blocks; /* of queries, per head */
    __device__ int columns() const { return causal ? heads : blocks; }
    __device__ int rows() const { return causal ? blocks : heads; }
};

/* Items are a table: a row for each head or, when causal, for each block of queries. A block of
 * threads takes every gridDim-th. It finds its next by adding: to divide is a chain of forty
 * instructions, between two items of every warpgroup. */
struct Position {
    int row, column, rows_on, columns_on;
    __device__ explicit Position(const Problem &problem)
        : row((int)(blockIdx.x / problem.columns())), column((int)(blockIdx.x % problem.columns())),
          rows_on((int)(gridDim.x / problem.columns())), columns_on((int)(gridDim.x % problem.columns()))
    {
    }
    __device__ void advance(const Problem &problem)
    {
        row += rows_on, column += columns_on;
        if (column >= problem.columns())
            column -= problem.columns(), row++;
    }
};

/* An item: BLOCK_M queries of a head. When causal the ones with the most keys come
 * first, so that the last blocks of threads to finish have the least to do. */
struct Item {
    int head, first, tiles;
    __device__ Item(const Problem &problem, const Position &at)
    {
        const int block = problem.causal ? problem.blocks - 1 - at.row : at.column;
        head = problem.causal ? at.column : at.row;
        first = block * BLOCK_M;
        tiles = tiles_of(problem.causal ? smaller(problem.S, first + BLOCK_M) : problem.S);
    }
};

/* Which share of an item a warpgroup takes. When causal the later shares are longer:
 * warpgroups change places from item to item. */
INLINE int share_of(const Problem &problem, int group, int turn)
{
    return problem.causal && (turn & 1) ? CONSUMERS - 1 - group : group;
}

INLINE void produce(unsigned shared, const Barriers &barriers, const Problem &problem, Position at, const TensorMap *q_map,
                    const TensorMap *k_map, const TensorMap *v_map)
{
    Ring<STAGES> ring;
    Ring<RAW_PLACES> raw;
    Ring<QUERY_PLACES> queries;
    int turn = 0;

    for (; at.row < problem.rows(); at.advance(problem), turn++) {
        const Item item(problem, at);
        const int key_head = item.head / problem.group;
        for (int tile = 0; tile < item.tiles; tile++) {
            /* All warpgroups wait for the first keys, and each for its own queries. */
            barrier_wait(barriers.keys_empty(ring.place), ring.round ^ 1);
            barrier_expect(barriers.keys_full(ring.place), TILE_BYTES);
            for (int panel = 0; panel < PANELS; panel++)
                copy_in(shared + KEYS_AT + ring.place * TILE_BYTES + panel * TILE_PANEL, k_map, panel * PANEL_COLUMNS,
                        tile * BLOCK_N, key_head, barriers.keys_full(ring.place));
            if (tile == 0)
                for (int group = 0; group < CONSUMERS; group++) {
                    const unsigned full = barriers.queries_full(group, queries.place);
                    const unsigned to = shared + queries.place * QUERY_BYTES + group * GROUP_BYTES;
                    const int row = item.first + share_of(problem, group, turn) * GROUP_ROWS;
                    barrier_wait(barriers.queries_empty(group, queries.place), queries.round ^ 1);
                    barrier_expect(full, GROUP_BYTES);
                    for (int chain = 0; chain < CHAINS; chain++)
                        for (int panel = 0; panel < PANELS; panel++)
                            copy_in(to + chain * CHAIN_BYTES + panel * CHAIN_PANEL, q_map, panel * PANEL_COLUMNS,
                                    row + chain * CHAIN_ROWS, item.head, full);
                }
            if (FP8) {
                barrier_wait(barriers.raw_empty(raw.place), raw.round ^ 1);
                barrier_expect(barriers.raw_full(raw.place), TILE_BYTES);
                copy_in(shared + RAW_AT + raw.place * TILE_BYTES, v_map, 0, tile * BLOCK_N, key_head, barriers.raw_full(raw.place));
                raw.advance();
            } else {
                barrier_wait(barriers.values_empty(ring.place), ring.round ^ 1);
                barrier_expect(barriers.values_full(ring.place), TILE_BYTES);
                for (int panel = 0; panel < PANELS; panel++)
                    copy_in(shared + VALUES_AT + ring.place * TILE_BYTES + panel * TILE_PANEL, v_map, panel * 64,
                            tile * BLOCK_N, key_head, barriers.values_full(ring.place));
            }
            ring.advance();
        }
        queries.advance();
    }
}

/* transpose_tile transposes a warp's share of a tile of values, 32 keys by 16 columns, twice, at a
 * time. ldmatrix transposes pairs of bytes: lane 4 i + j then has columns 2 i and 2 i + 1 of
 * keys 2 j, 2 j + 1 and of those 8, 16 and 24 further. The keys 2 j, 2 j + 1, 2 j + 8, 2 j + 9 of
 * a column become a word: of them a lane has scores after one product, and a word of
 * weights, keys in this order, is what it needs for the other. The sum does not mind.
 * The lower half of the lanes stores the even column first and the upper half the odd one:
 * so the eight rows of a matrix lie in different banks. */
INLINE void transpose_tile(unsigned from, unsigned to, int warp)
{
    const int lane = threadIdx.x % 32, column = lane % 8 * 2 + (lane % 8 / 4 ^ lane / 16);
    const unsigned first = lane < 16 ? 0x6420 : 0x7531, second = first ^ 0x6420 ^ 0x7531;

    to += column * 32 + (lane / 8 % 2 ^ column / 4 % 2) * 16;
    for (int part = warp; part < BLOCK_N / 32 * 4; part += TRANSPOSERS) {
        const int panel = part / 4, chunk = part % 4 * 2;
        unsigned pairs[2][4];
        UNROLL for (int i = 0; i < 2; i++)
            load_across(pairs[i], from + swizzled(panel * 32 + lane, chunk + i));
        UNROLL for (int i = 0; i < 2; i++)
            store_matrices(to + panel * VALUE_PANEL + (chunk + i) * 16 * 32,
                           __byte_perm(pairs[i][0], pairs[i][1], first), __byte_perm(pairs[i][2], pairs[i][3], first),
                           __byte_perm(pairs[i][0], pairs[i][1], second), __byte_perm(pairs[i][2], pairs[i][3], second));
    }
}

INLINE void transpose(unsigned shared, const Barriers &barriers, const Problem &problem, Position at, int warp)
{
    Ring<STAGES> ring;
    Ring<RAW_PLACES> raw;

    for (; at.row < problem.rows(); at.advance(problem)) {
        const Item item(problem, at);
        for (int tile = 0; tile < item.tiles; tile++) {
            barrier_wait(barriers.raw_full(raw.place), raw.round);
            barrier_wait(barriers.values_empty(ring.place), ring.round ^ 1);
            transpose_tile(shared + RAW_AT + raw.place * TILE_BYTES, shared + VALUES_AT + ring.place * TILE_BYTES, warp);
            publish();
            __syncwarp();
            if (threadIdx.x % 32 == 0) {
                barrier_arrive(barriers.values_full(ring.place));
                barrier_arrive(barriers.raw_empty(raw.place));
            }
            ring.advance();
            raw.advance();
        }
    }
}

/* What a warpgroup keeps of one chain. A thread has two rows, 8 apart. */
struct Chain {
    float scores[SCORES];
    float mixed[RESULTS + SUMS];
    unsigned weights[KEY_STEPS][4];
    unsigned weights_at; /* with SHARED_WEIGHTS */
    unsigned queries[QUERY_REGISTERS ? HEAD_STEPS : 1][4];
    float largest[2], sum[2];
};

/* start_scores multiplies the queries of a chain with a tile of keys. */
INLINE void start_scores(Chain &chain, unsigned query_tile, unsigned key_tile)
{
    UNROLL for (int d = 0; d < HEAD_STEPS; d++) {
        const unsigned long long b = further(key_tile, d / 4 * TILE_PANEL + d % 4 * 32);
        const unsigned long long a = further(query_tile, d / 4 * CHAIN_PANEL + d % 4 * 32);
        if (QUERY_REGISTERS && d == 0)
            score(chain.scores, chain.queries[0], b);
        else if (QUERY_REGISTERS)
            score_more(chain.scores, chain.queries[QUERY_REGISTERS ? d : 0], b);
        else if (d == 0)
            score(chain.scores, a, b);
        else
            score_more(chain.scores, a, b);
    }
}

/* ones_nearer is what a descriptor of values says less so many bytes further: how far the ones are. */
INLINE unsigned ones_nearer(int bytes) { return MIX_EARLY ? bytes >> 4 << 16 : 0; }

/* mix_step adds the values of a step by their weights. */
INLINE void mix_step(Chain &chain, unsigned tile, int n, int add)
{
    const int bytes = n * 16 * ROW_BYTES;
    const unsigned long long b = FP8 ? further_transposed(tile, n * VALUE_PANEL) : further(tile - ones_nearer(bytes), bytes);
    const int onto = n > 0 ? 1 : add;

    if (SHARED_WEIGHTS)
        mix(chain.mixed, further(descriptor(chain.weights_at, 16), n / 4 * CHAIN_PANEL + n % 4 * 32), b, onto);
    else
        mix(chain.mixed, chain.weights[n], b, onto);
}

/* start_mixing adds a tile of values by their weights, or begins with them. */
INLINE void start_mixing(Chain &chain, unsigned tile, int add)
{
    UNROLL for (int n = 0; n < KEY_STEPS; n++)
        mix_step(chain, tile, n, add);
}

INLINE void load_queries(Chain &chain, unsigned place)
{
    const int lane = threadIdx.x % 32, row = threadIdx.x % WARPGROUP / 32 * 16 + lane % 16;

    if (QUERY_REGISTERS)
        UNROLL for (int d = 0; d < HEAD_STEPS; d++)
            load_matrices(chain.queries[QUERY_REGISTERS ? d : 0], place + d / 4 * CHAIN_PANEL + swizzled(row, d % 4 * 2 + lane / 16));
}

/* mask hides the keys that do not exist or, when causal, come after the query. */
INLINE void mask(Chain &chain, int first_key, int row, const Problem &problem)
{
    const int column = first_key + threadIdx.x % 4 * 2;
    int limit[2] = {problem.S - column, problem.S - column};

    if (problem.causal)
        limit[0] = smaller(limit[0], row + 1 - column), limit[1] = smaller(limit[1], row + 9 - column);
    UNROLL for (int i = 0; i < SCORES; i++)
        if (i / 4 * 8 + i % 2 >= limit[i % 4 / 2])
            chain.scores[i] = -__int_as_float(0x7f800000);
}

/* raise finds where the weights of a tile stand and brings what is mixed so far to
 * it. With LAZY_RESCALE weights may grow before anything is rescaled. */
INLINE void raise(Chain &chain, float scale, bool first, float (&factor)[2], bool &rescale)
{
    float most[2];

    UNROLL for (int half = 0; half < 2; half++) {
        float part[2] = {chain.scores[half * 2], chain.scores[half * 2 + 1]};
        UNROLL for (int n = 1; n < SCORES / 4; n++)
            UNROLL for (int i = 0; i < 2; i++)
                part[i] = fmaxf(part[i], chain.scores[n * 4 + half * 2 + i]);
        most[half] = fmaxf(part[0], part[1]);
        most[half] = fmaxf(most[half], __shfl_xor_sync(0xffffffffu, most[half], 1));
        most[half] = fmaxf(most[half], __shfl_xor_sync(0xffffffffu, most[half], 2)) * scale - TOP;
    }
    rescale = false;
    if (first) {
        UNROLL for (int half = 0; half < 2; half++)
            chain.largest[half] = most[half], chain.sum[half] = 0;
        return;
    }
    if (LAZY_RESCALE && !__any_sync(0xffffffffu, most[0] > chain.largest[0] + GROWTH || most[1] > chain.largest[1] + GROWTH))
        return;
    rescale = true;
    UNROLL for (int half = 0; half < 2; half++) {
        most[half] = fmaxf(most[half], chain.largest[half]);
        factor[half] = power_of_two(chain.largest[half] - most[half]);
        chain.largest[half] = most[half];
        chain.sum[half] *= factor[half];
    }
}

INLINE void rescale_results(Chain &chain, const float (&factor)[2])
{
    UNROLL for (int i = 0; i < RESULTS + SUMS; i++)
        chain.mixed[i] *= factor[i % 4 / 2];
}

INLINE float exponent(const Chain &chain, float scale, int i)
{
    return fmaf(chain.scores[i], scale, -chain.largest[i % 4 / 2]);
}

INLINE float weight_of(float x, int i)
{
    /* Spread over both rows and both columns of a thread. */
    const bool polynomial = POLYNOMIAL > 0 && (i * 5 + i / 4) % (POLYNOMIAL > 0 ? POLYNOMIAL : 1) == 0;
    return polynomial ? polynomial_power_of_two(x) : power_of_two(x);
}

/* weigh_steps turns the exponents of so many steps into weights, in place. */
INLINE void weigh_steps(Chain &chain, int first)
{
    UNROLL for (int i = first * STEP_SCORES; i < smaller(first + STEPS_AT_ONCE, KEY_STEPS) * STEP_SCORES; i++)
        chain.scores[i] = weight_of(chain.scores[i], i);
}

/* rows_reach says whether each row does in one of its four lanes. */
INLINE bool rows_reach(bool upper, bool lower)
{
    unsigned a = __ballot_sync(0xffffffffu, upper), b = __ballot_sync(0xffffffffu, lower);

    a |= a >> 1, b |= b >> 1;
    return ((a | a >> 2) & (b | b >> 2) & 0x11111111u) == 0x11111111u;
}

/* find_exponents turns scores into the exponents of their weights, in place, and those of the first
 * steps into weights: the answer is not ready before. It returns whether none is too large and, where
 * the maximum was kept, each row has one that is not too small. Positive numbers compare like integers,
 * of which three are compared at a time; no number is larger than all. */
INLINE bool find_exponents(Chain &chain, float scale, bool kept)
{
    int most[2] = {}; /* of each row */

    UNROLL for (int i = 0; i < SCORES; i++)
        chain.scores[i] = exponent(chain, scale, i);
    UNROLL for (int i = 0; i < SCORES; i += 2)
        most[i / 2 % 2] = __vimax3_s32(most[i / 2 % 2], __float_as_int(chain.scores[i]), __float_as_int(chain.scores[i + 1]));
    weigh_steps(chain, 0);
    if (kept && !rows_reach(most[0] > 0, most[1] > 0))
        return false;
    return !__any_sync(0xffffffffu, max(most[0], most[1]) > __float_as_int(TRUSTED_EXPONENT));
}

/* weigh turns scores into weights, in place. */
INLINE void weigh(Chain &chain, float scale)
{
    float sum[4] = {chain.sum[0], 0, chain.sum[1], 0};

    UNROLL for (int i = 0; i < SCORES; i++) {
        chain.scores[i] = weight_of(exponent(chain, scale, i), i);
        sum[i % 4] += chain.scores[i];
    }
    chain.sum[0] = sum[0] + sum[1];
    chain.sum[1] = sum[2] + sum[3];
    fence_operand(chain.scores);
    /* The compiler would move the wait for the products that run meanwhile to before
     * most of the exponentials. A barrier that depends on their sum, and is
     * never reached, keeps it in its place. */
    if (__any_sync(0xffffffffu, chain.sum[0] + chain.sum[1] < 0))
        asm volatile("bar.sync 15, 32;" ::: "memory");
}

/* weigh_trusting weighs as if no score were much larger than the largest one of the
 * first tile, and says whether that was right: no weight is larger than their sum,
 * which is needed anyway. That saves the comparisons, and the exponentials need not
 * wait for all scores. Otherwise the scores are lost and nothing else has changed. Where
 * the maximum was kept, sums begin, and must not be too small. */
INLINE bool weigh_trusting(Chain &chain, float scale, bool kept)
{
    float sum[4];

    UNROLL for (int i = 0; i < SCORES; i++) {
        chain.scores[i] = weight_of(exponent(chain, scale, i), i);
        sum[i % 4] = i < 4 ? chain.scores[i] : sum[i % 4] + chain.scores[i];
    }
    fence_operand(chain.scores);
    sum[0] += sum[1], sum[2] += sum[3];
    /* The comparison fails for a sum that is no number. */
    if (__any_sync(0xffffffffu, !(sum[0] <= TRUSTED) || !(sum[2] <= TRUSTED)))
        return false;
    if (kept) {
        if (!rows_reach(sum[0] >= 1, sum[2] >= 1))
            return false;
        chain.sum[0] = 0, chain.sum[1] = 0;
    }
    chain.sum[0] += sum[0], chain.sum[1] += sum[2];
    return true;
}

/* multiply_add is the synchronous product of a warp: 16 rows, 8 columns and 32 bytes of sums. */
INLINE void multiply_add(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
{
    asm volatile("mma.sync.aligned.m16n8k" STEP ".row.col.f32." INPUT "." INPUT ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/* score_again finds the scores of a tile once more. It happens rarely and in one warp
 * at a time, so it uses the products that a warp can make alone. */
INLINE void score_again(Chain &chain, unsigned queries, unsigned keys)
{
    const int lane = threadIdx.x % 32, row = threadIdx.x % WARPGROUP / 32 * 16 + lane % 16;

    UNROLL for (int n = 0; n < BLOCK_N / 16; n++) {
        float sum[2][4] = {};
        UNROLL for (int d = 0; d < HEAD_STEPS; d++) {
            unsigned a[4], b[4];
            if (!QUERY_REGISTERS)
                load_matrices(a, queries + d / 4 * CHAIN_PANEL + swizzled(row, d % 4 * 2 + lane / 16));
            load_matrices(b, keys + d / 4 * TILE_PANEL + swizzled(n * 16 + lane / 16 * 8 + lane % 8, d % 4 * 2 + lane / 8 % 2));
            multiply_add(sum[0], QUERY_REGISTERS ? chain.queries[QUERY_REGISTERS ? d : 0] : a, b[0], b[1]);
            multiply_add(sum[1], QUERY_REGISTERS ? chain.queries[QUERY_REGISTERS ? d : 0] : a, b[2], b[3]);
        }
        UNROLL for (int i = 0; i < 8; i++)
            chain.scores[n * 8 + i] = sum[i / 4][i % 4];
    }
}

/* store_weights puts packed weights where a product reads them from shared memory. Those of the
 * tile before have been read. */
INLINE void store_weights(const Chain &chain)
{
    const int lane = threadIdx.x % 32, row = threadIdx.x % WARPGROUP / 32 * 16 + lane % 16;

    UNROLL for (int n = 0; n < KEY_STEPS; n++)
        store_matrices(chain.weights_at + n / 4 * CHAIN_PANEL + swizzled(row, n % 4 * 2 + lane / 16),
                       chain.weights[n][0], chain.weights[n][1], chain.weights[n][2], chain.weights[n][3]);
    publish();
    asm volatile("bar.sync %0, 128;" ::"r"(8 + (int)threadIdx.x / WARPGROUP) : "memory");
}

INLINE void pack_steps(Chain &chain, int first, int end)
{
    UNROLL for (int i = first * 4; i < end * 4; i++) {
        const float *s = chain.scores + (FP8 ? i / 2 * 8 + i % 2 * 2 : 2 * i);
        chain.weights[i / 4][i % 4] = FP8 ? pack_fp8(s[0], s[1], s[4], s[5]) : pack(s[0], s[1]);
    }
}

INLINE void pack_weights(Chain &chain)
{
    pack_steps(chain, 0, KEY_STEPS);
    if (SHARED_WEIGHTS)
        store_weights(chain);
}

/* mix_early starts mixing some steps at a time, and finds the weights of the next meanwhile. */
INLINE void mix_early(Chain &chain, unsigned tile, int add)
{
    UNROLL for (int n = 0; n < KEY_STEPS; n += STEPS_AT_ONCE) {
        const int end = smaller(n + STEPS_AT_ONCE, KEY_STEPS);
        pack_steps(chain, n, end);
        products_begin();
        UNROLL for (int i = n; i < end; i++)
            mix_step(chain, tile, i, add);
        weigh_steps(chain, end);
    }
}

/* finish divides the rows of a chain by their sums and has them copied out, a warp
 * its own 16 rows. The place was last used CHAINS copies ago. */
INLINE void finish(const Chain &chain, const float (&sums)[2], unsigned place, const TensorMap *o_map, int row, int head, int S)
{
    /* Taken from a shuffle, so that the compiler knows it to be one for the warp. */
    const int lane = threadIdx.x % 32, warp = __shfl_sync(0xffffffffu, threadIdx.x % WARPGROUP / 32, 0);

    place += warp * 16 * ROW_BYTES;
    if (lane == 0)
        copies_read<CHAINS - 1>();
    __syncwarp();
    float inverse[2];
    UNROLL for (int half = 0; half < 2; half++) {
        float sum = MIX_EARLY ? chain.mixed[MIX_EARLY ? RESULTS + 2 * half : 0] : sums[half];
        if (!MIX_EARLY) {
            sum += __shfl_xor_sync(0xffffffffu, sum, 1);
            sum += __shfl_xor_sync(0xffffffffu, sum, 2);
        }
        asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse[half]) : "f"(sum));
    }
    const unsigned to = place + swizzled(lane % 16, lane / 16);
    UNROLL for (int n = 0; n < RESULTS / 4; n += 2) {
        unsigned pairs[4];
        UNROLL for (int i = 0; i < 4; i++)
            pairs[i] = pack(chain.mixed[n * 4 + 2 * i] * inverse[i % 2], chain.mixed[n * 4 + 2 * i + 1] * inverse[i % 2]);
        store_matrices((to ^ n % 8 * 16) + n / 8 * CHAIN_PANEL, pairs[0], pairs[1], pairs[2], pairs[3]);
    }
    publish();
    __syncwarp();
    if (lane == 0) {
        for (int panel = 0; panel < RESULT_PANELS; panel++)
            if (row + warp * 16 < S)
                copy_out(o_map, place + panel * CHAIN_PANEL, panel * 64, row + warp * 16, head);
        commit_copies();
    }
}

/* Where a warpgroup is: an item, its first row there and how many tiles its rows
 * see; the tiles beyond them are skipped. */
struct Walk {
    Position at;
    int turn, head, row, tiles, skipped;
    __device__ bool start(const Problem &problem, int group)
    {
        if (at.row >= problem.rows())
            return false;
        const Item item(problem, at);
        head = item.head;
        row = item.first + share_of(problem, group, turn) * GROUP_ROWS;
        tiles = problem.causal ? smaller(item.tiles, tiles_of(row + GROUP_ROWS)) : item.tiles;
        if (SKIPS_ROWS && row >= problem.S)
            tiles = 0;
        skipped = item.tiles - tiles;
        return true;
    }
};

/* A consuming warpgroup. At the end of an item it goes on to the next without
 * emptying its pipeline, unless it has tiles to skip: other warpgroups may need
 * the places that this one would hold while it waits. */
struct Consumer {
    unsigned shared;
    Barriers barriers;
    Problem problem;
    const TensorMap *o_map;
    float scale;
    int group, lane, thread_row;

    Ring<STAGES> keys, values; /* the next to wait for */
    Ring<QUERY_PLACES> queries;
    Walk walk, last;
    int query_place; /* of the item that scores are started for */

    __device__ unsigned output(int c) const { return shared + OUTPUTS_AT + (group * CHAINS + c) * RESULT_BYTES; }
    __device__ unsigned query_at(int place, int c) const { return shared + place * QUERY_BYTES + group * GROUP_BYTES + c * CHAIN_BYTES; }
    __device__ unsigned query(int c) const { return query_at(query_place, c); }
    __device__ unsigned key(int place) const { return shared + KEYS_AT + place * TILE_BYTES; }

    /* Descriptors are found from that of the first place: the fewer instructions between what a
     * product waits for and the product, the better. */
    unsigned first_keys, first_values;
    __device__ unsigned query_tile(int c) const
    {
        return descriptor(shared, 16) + (query_place * QUERY_BYTES + group * GROUP_BYTES + c * CHAIN_BYTES) / 16;
    }
    __device__ unsigned key_tile(int place) const { return first_keys + place * (TILE_BYTES / 16); }
    __device__ unsigned value_tile(int place) const
    {
        return first_values + place * (TILE_BYTES / 16 - ones_nearer(TILE_BYTES));
    }

    __device__ __forceinline__ void release(unsigned barrier) const
    {
        if (lane == 0)
            barrier_arrive(barrier);
    }

    __device__ __forceinline__ void await_queries()
    {
        barrier_wait(barriers.queries_full(group, queries.place), queries.round);
        query_place = queries.place;
        queries.advance();
    }

    __device__ __forceinline__ int await_keys()
    {
        const int place = keys.place;
        barrier_wait(barriers.keys_full(place), keys.round);
        keys.advance();
        return place;
    }

    __device__ __forceinline__ int await_values()
    {
        const int place = values.place;
        barrier_wait(barriers.values_full(place), values.round);
        values.advance();
        return place;
    }

    /* next_keys waits for the keys of the next tile, of this item or of the next. It
     * returns false where the pipeline ends. */
    __device__ __forceinline__ bool next_keys(bool ends, int &place)
    {
        if (ends) {
            last = walk;
            walk.at.advance(problem), walk.turn++;
            if (last.skipped > 0 || !walk.start(problem, group))
                return false;
            await_queries();
        }
        place = await_keys();
        return true;
    }

    /* skip releases the tiles that only other warpgroups need. A place is released
     * only after its copy has arrived: else two rounds mix. It returns false at the end
     * of the work. */
    __device__ __forceinline__ bool skip()
    {
        for (int tile = 0; tile < last.skipped; tile++) {
            const int place = await_keys();
            if (SKIPS_ROWS)
                await_turn(), end_turn(); /* others wait for its turns */
            release(barriers.keys_empty(place));
            release(barriers.values_empty(await_values()));
        }
        return last.skipped > 0 && walk.start(problem, group);
    }

    /* find_weights turns the scores of a tile into weights, not yet packed. Queries
     * and keys are where they came from. */
    __device__ __forceinline__ void find_weights(Chain &chain, int row, int tile, unsigned queries, unsigned keys,
                                                 float (&factor)[2], bool &rescale) const
    {
        const bool masked = (tile + 1) * BLOCK_N > (problem.causal ? smaller(problem.S, row + 1) : problem.S);

        const bool kept = KEEP_MAX && tile == 0 && walk.turn > 0;

        rescale = false;
        if (masked)
            mask(chain, tile * BLOCK_N, row + thread_row, problem);
        if (TRUST_MAX && (tile > 0 || kept)) {
            if (MIX_EARLY ? __builtin_expect(find_exponents(chain, scale, kept), 1) : weigh_trusting(chain, scale, kept))
                return;
            score_again(chain, queries, keys);
            if (masked)
                mask(chain, tile * BLOCK_N, row + thread_row, problem);
        }
        raise(chain, scale, tile == 0, factor, rescale);
        if (IN_STEPS && rescale)
            rescale_results(chain, factor);
        if (MIX_EARLY)
            find_exponents(chain, scale, false);
        else
            weigh(chain, scale);
    }

    __device__ __forceinline__ void copy_result(const Chain &chain, const float (&sums)[2], int c) const
    {
        finish(chain, sums, output(c), o_map, last.row + c * CHAIN_ROWS, last.head, problem.S);
    }

    /* With PINGPONG warpgroups start their products one after the other, so that each
     * finds its weights while others multiply. When causal they have different numbers
     * of tiles and would wait for ever. */
    __device__ __forceinline__ void await_turn() const
    {
        if (PINGPONG && !problem.causal)
            asm volatile("bar.sync %0, 256;" ::"r"(1 + group) : "memory");
    }

    __device__ __forceinline__ void end_turn() const
    {
        if (PINGPONG && !problem.causal)
            asm volatile("bar.arrive %0, 256;" ::"r"(group + 1 < CONSUMERS ? 2 + group : 1) : "memory");
    }

    /* one_chain: the scores of the next tile are computed together with the mixing
     * of this one. With OVERLAP 2 the next weights are found while still mixing. */
    __device__ __forceinline__ void one_chain(Chain &chain)
    {
        do {
            int tile = 0, key_place;
            float factor[2], sums[2];
            bool rescale, more = true;

            await_queries();
            load_queries(chain, query(0));
            key_place = await_keys();
            products_begin();
            start_scores(chain, query_tile(0), key_tile(key_place));
            products_commit();
            products_wait<0>();
            fence_operand(chain.scores);
            release(barriers.keys_empty(key_place));
            if (QUERY_REGISTERS)
                release(barriers.queries_empty(group, query_place));
            find_weights(chain, walk.row, 0, 0, 0, factor, rescale);
            pack_weights(chain);
            _Pragma("unroll TILES_AT_ONCE") while (more) {
                const bool ends = tile + 1 == walk.tiles;
                const int value_place = await_values(), query_before = query_place;

                more = next_keys(ends, key_place);
                if (QUERY_REGISTERS && ends && more)
                    load_queries(chain, query(0));
                await_turn();
                products_begin();
                start_scores(chain, query_tile(0), key_tile(key_place));
                products_commit();
                start_mixing(chain, value_tile(value_place), tile > 0);
                products_commit();
                end_turn();
                products_wait<OVERLAP == 2 ? 1 : 0>();
                fence_operand(chain.scores);
                /* Only now is it sure that the queries have been read, not only asked for. */
                if (QUERY_REGISTERS && ends && more)
                    release(barriers.queries_empty(group, query_place));
                if (!QUERY_REGISTERS && ends)
                    release(barriers.queries_empty(group, query_before));
                if (!TRUST_MAX && more)
                    release(barriers.keys_empty(key_place));
                tile = ends ? 0 : tile + 1;
                UNROLL for (int half = 0; half < 2; half++)
                    sums[half] = chain.sum[half];
                find_weights(chain, walk.row, tile, query(0), key(key_place), factor, rescale);
                if (TRUST_MAX && more)
                    release(barriers.keys_empty(key_place));
                products_wait<0>();
                fence_operand(chain.mixed);
                release(barriers.values_empty(value_place));
                if (ends)
                    copy_result(chain, sums, 0);
                if (rescale)
                    rescale_results(chain, factor);
                pack_weights(chain);
            }
        } while (skip());
    }

    __device__ __forceinline__ bool next_item()
    {
        walk.at.advance(problem), walk.turn++;
        return walk.start(problem, group);
    }

    /* in_steps: scores, weights and mixing one after the other, which takes the fewest
     * registers: other warpgroups keep the tensor cores busy meanwhile. */
    __device__ __forceinline__ void in_steps(Chain &chain)
    {
        while (true) {
            int value_place = 0;

            await_queries();
            _Pragma("unroll TILES_AT_ONCE") for (int tile = 0; tile < walk.tiles; tile++) {
                /* Of the tile before: behind the last one the next item is found meanwhile. */
                products_wait<0>();
                fence_operand(chain.mixed);
                const int key_place = await_keys();
                float factor[2];
                bool rescale;

                /* Once per tile: ptxas 13.0 gave their registers to others after the
                 * products of the first, as the machine code showed. */
                load_queries(chain, query(0));
                await_turn();
                products_begin();
                start_scores(chain, query_tile(0), key_tile(key_place));
                products_commit();
                end_turn();
                if (tile > 0)
                    release(barriers.values_empty(value_place));
                products_wait<0>();
                fence_operand(chain.scores);
                if (!TRUST_MAX)
                    release(barriers.keys_empty(key_place));
                find_weights(chain, walk.row, tile, query(0), key(key_place), factor, rescale);
                if (!MIX_EARLY)
                    pack_weights(chain);
                value_place = await_values();
                if (MIX_EARLY) {
                    mix_early(chain, value_tile(value_place), tile > 0);
                } else {
                    products_begin();
                    start_mixing(chain, value_tile(value_place), tile > 0);
                }
                products_commit();
                /* Behind the products: an arrival before them is in their way. */
                if (TRUST_MAX)
                    release(barriers.keys_empty(key_place));
                if (tile + 1 == walk.tiles)
                    release(barriers.queries_empty(group, query_place));
            }
            last = walk;
            const bool more = next_item();
            products_wait<0>();
            fence_operand(chain.mixed);
            if (!SKIPS_ROWS || last.tiles > 0) {
                release(barriers.values_empty(value_place));
                copy_result(chain, chain.sum, 0);
            } else {
                release(barriers.queries_empty(group, query_place));
            }
            if (last.skipped > 0)
                skip();
            if (!more)
                return;
        }
    }

    /* steps_ahead: the same steps, but the first scores of the next item are computed while
     * the result of this one is written. */
    __device__ __forceinline__ void steps_ahead(Chain &chain)
    {
        do {
            int tile = 0, key_place;
            float factor[2];
            bool rescale, more = true;

            await_queries();
            key_place = await_keys();
            products_begin();
            start_scores(chain, query_tile(0), key_tile(key_place));
            products_commit();
            products_wait<0>();
            fence_operand(chain.scores);
            _Pragma("unroll TILES_AT_ONCE") while (more) {
                const bool ends = tile + 1 == walk.tiles;
                int value_place;

                if (!TRUST_MAX)
                    release(barriers.keys_empty(key_place)); /* its scores are here */
                find_weights(chain, walk.row, tile, query(0), key(key_place), factor, rescale);
                if (TRUST_MAX)
                    release(barriers.keys_empty(key_place));
                if (ends)
                    release(barriers.queries_empty(group, query_place));
                pack_weights(chain);
                value_place = await_values();
                products_begin();
                start_mixing(chain, value_tile(value_place), tile > 0);
                products_commit();
                more = next_keys(ends, key_place);
                products_wait<0>();
                fence_operand(chain.mixed);
                release(barriers.values_empty(value_place));
                await_turn();
                products_begin();
                start_scores(chain, query_tile(0), key_tile(key_place));
                products_commit();
                end_turn();
                if (ends)
                    copy_result(chain, chain.sum, 0);
                products_wait<0>();
                fence_operand(chain.scores);
                tile = ends ? 0 : tile + 1;
            }
        } while (skip());
    }

    /* two_chains: while the tensor cores work for one chain, the threads find the
     * weights of the other, which is half a tile behind. Products without a use (at
     * the start and at the end) are made all the same: the compiler lets products run
     * side by side only where no branch decides about their accumulators. */
    __device__ __forceinline__ void two_chains(Chain &first, Chain &second)
    {
        do {
            int tile = 0, key_place, value_before = 0, add_before = 0;
            bool more = true, idle = true; /* idle: no item before this one is unfinished */

            await_queries();
            load_queries(first, query(0));
            key_place = await_keys();
            products_begin();
            start_scores(first, query_tile(0), key_tile(key_place));
            products_commit();
            UNROLL for (int n = 0; n < KEY_STEPS; n++)
                UNROLL for (int i = 0; i < 4; i++)
                    second.weights[n][i] = 0;
            products_wait<0>();
            fence_operand(first.scores);
            _Pragma("unroll TILES_AT_ONCE") while (more) {
                const bool ends = tile + 1 == walk.tiles;
                const int row = walk.row, key_now = key_place, query_now = query_place;
                float factor[2];
                bool rescale;

                if (tile == 0)
                    load_queries(second, query(1));
                products_begin();
                start_mixing(second, value_tile(value_before), add_before);
                start_scores(second, query_tile(1), key_tile(key_now));
                products_commit();
                /* Only now is it sure that the queries have been read, not only asked for. */
                if (QUERY_REGISTERS && tile == 0)
                    release(barriers.queries_empty(group, query_now));

                if (tile == 0 && !idle)
                    copy_result(first, first.sum, 0);
                find_weights(first, row, tile, query(0), key(key_now), factor, rescale);
                if (rescale)
                    rescale_results(first, factor);
                pack_weights(first);

                const Walk before = last;
                const int value_now = await_values();
                more = next_keys(ends, key_place);
                if (QUERY_REGISTERS && ends && more)
                    load_queries(first, query(0));
                products_begin();
                start_mixing(first, value_tile(value_now), tile > 0);
                start_scores(first, query_tile(0), key_tile(key_place));
                products_commit();

                products_wait<1>();
                fence_operand(second.scores);
                fence_operand(second.mixed);
                if (!TRUST_MAX)
                    release(barriers.keys_empty(key_now));
                if (!idle)
                    release(barriers.values_empty(value_before));
                if (!QUERY_REGISTERS && !TRUST_MAX && ends)
                    release(barriers.queries_empty(group, query_now));
                if (tile == 0 && !idle)
                    finish(second, second.sum, output(1), o_map, before.row + CHAIN_ROWS, before.head, problem.S);
                find_weights(second, row + CHAIN_ROWS, tile, query_at(query_now, 1), key(key_now), factor, rescale);
                if (TRUST_MAX)
                    release(barriers.keys_empty(key_now));
                if (!QUERY_REGISTERS && TRUST_MAX && ends)
                    release(barriers.queries_empty(group, query_now));
                if (rescale)
                    rescale_results(second, factor);
                pack_weights(second);

                products_wait<0>();
                fence_operand(first.scores);
                fence_operand(first.mixed);
                value_before = value_now, add_before = tile > 0;
                idle = false;
                tile = ends ? 0 : tile + 1;
            }
            products_begin();
            start_mixing(second, value_tile(value_before), add_before);
            products_commit();
            copy_result(first, first.sum, 0);
            products_wait<0>();
            fence_operand(second.mixed);
            release(barriers.values_empty(value_before));
            copy_result(second, second.sum, 1);
        } while (skip());
    }
};

INLINE void consume(unsigned shared, const Barriers &barriers, const Problem &problem, const Position &at, const TensorMap *o_map,
                    float scale, int group)
{
    const int lane = threadIdx.x % 32;
    Consumer consumer{shared, barriers, problem, o_map, scale, group, lane, (int)threadIdx.x % WARPGROUP / 32 * 16 + lane / 4,
                      {}, {}, {}, {at}, {at}};
    Chain chain[CHAINS];

    /* From a shuffle, so that the compiler cannot find them anew behind every wait. */
    consumer.first_keys = __shfl_sync(0xffffffffu, descriptor(shared + KEYS_AT, 16), 0);
    consumer.first_values = __shfl_sync(
        0xffffffffu, descriptor(shared + VALUES_AT, FP8 ? 16 : MIX_EARLY ? ONES_AT - VALUES_AT : TILE_PANEL), 0);
    consumer.walk.turn = 0;
    if (!consumer.walk.start(problem, group))
        return;
    UNROLL for (int c = 0; c < CHAINS; c++) {
        chain[c].weights_at = shared + WEIGHTS_AT + (group * CHAINS + c) * WEIGHT_PANELS * CHAIN_PANEL;
        if (KEEP_MAX)
            chain[c].largest[0] = chain[c].largest[1] = 0; /* kept where the first item has no rows */
    }
    if (group == CONSUMERS - 1)
        consumer.end_turn(); /* the first may begin */
    if (OVERLAP == 0)
        consumer.in_steps(chain[0]);
    else if (OVERLAP == 3)
        consumer.steps_ahead(chain[0]);
    else if (CHAINS == 1)
        consumer.one_chain(chain[0]);
    else
        consumer.two_chains(chain[0], chain[CHAINS - 1]);
    if (lane == 0)
        copies_read<0>();
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
attention_forward(const __grid_constant__ TensorMap q_map, const __grid_constant__ TensorMap k_map,
                  const __grid_constant__ TensorMap v_map, const __grid_constant__ TensorMap o_map, float scale, int B,
                  int H, int HK, int S, int D, int causal)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    const unsigned shared = shared_address(memory);
    const Barriers barriers{shared + BARRIERS_AT};
    const Problem problem{S, B * H, H / HK, causal, (S + BLOCK_M - 1) / BLOCK_M};
    const Position at(problem);

    if (MIX_EARLY && threadIdx.x < ONES_BYTES / 16) {
        const unsigned one = BF16 ? 0x3f803f80u : 0x3c003c00u;
        asm volatile("st.shared.v4.b32 [%0], {%1, %1, %1, %1};" ::"r"(shared + ONES_AT + threadIdx.x * 16), "r"(one) : "memory");
        publish();
    }
    if (threadIdx.x == 0) {
        prefetch(&q_map), prefetch(&k_map), prefetch(&v_map), prefetch(&o_map);
        for (int place = 0; place < STAGES; place++) {
            barrier_init(barriers.keys_full(place), 1);
            barrier_init(barriers.keys_empty(place), CONSUMER_WARPS);
            barrier_init(barriers.values_full(place), FP8 ? TRANSPOSERS : 1);
            barrier_init(barriers.values_empty(place), CONSUMER_WARPS);
        }
        for (int group = 0; group < CONSUMERS; group++)
            for (int place = 0; place < QUERY_PLACES; place++) {
                barrier_init(barriers.queries_full(group, place), 1);
                barrier_init(barriers.queries_empty(group, place), 4);
            }
        for (int place = 0; place < RAW_PLACES; place++) {
            barrier_init(barriers.raw_full(place), 1);
            barrier_init(barriers.raw_empty(place), TRANSPOSERS);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    /* Taken from a shuffle, so that the compiler knows it to be one for the warp. */
    const int group = __shfl_sync(0xffffffffu, threadIdx.x / WARPGROUP, 0);
    if (group == CONSUMERS) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(KEPT_REGISTERS));
        if (threadIdx.x == CONSUMERS * WARPGROUP)
            produce(shared, barriers, problem, at, &q_map, &k_map, &v_map);
        else if (FP8 && threadIdx.x >= CONSUMERS * WARPGROUP + 32)
            transpose(shared, barriers, problem, at, threadIdx.x / 32 - CONSUMERS * 4 - 1);
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(CONSUMER_REGISTERS));
        consume(shared, barriers, problem, at, &o_map, scale * 1.44269504f, group);
    }
}
