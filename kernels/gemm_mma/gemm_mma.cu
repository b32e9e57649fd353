/* gemm_mma: C = A B^T, fp16 in and out, fp32 in between; A is [M, K], B is [N, K] and C
 * is [M, N], all row-major, as in a linear layer. With BF16 bf16 takes the place of
 * fp16, and with FP8 A and B are fp8 (e4m3, from sm_89 on). For sm_80 and later: gemm
 * is the same for Hopper alone, by instructions that older GPUs do not have.
 *
 * The steps:
 *
 *  1. A block of threads computes one tile of C after another, each of its warps a part
 *     of it. Tiles are counted so that blocks that run at the same time share what they
 *     read.
 *  2. K_BYTES of the rows of A and B at a time stream into STAGES places in shared
 *     memory, asynchronously, while earlier ones are used; those of the next tile while
 *     this one is finished and stored.
 *  3. A warp reads its rows of A and B from there as 8 x 8 matrices and multiplies
 *     32 bytes of every row at a time into registers. With AHEAD it reads the next
 *     32 bytes between the products of these.
 *  4. The sums are rounded and stored from the registers.
 *
 * Everything before the product is counted in bytes, because 32 bytes of a row lie the
 * same way in registers whether they are 16 elements or 32. Columns beyond K are zeros
 * in shared memory; rows beyond M or N are the last one again, and are not stored. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define UNROLL _Pragma("unroll")
#define INLINE static __device__ __forceinline__

#if FP8 && defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 890
#error "products of fp8 need a GPU of architecture sm_89 or later"
#endif

#if BF16
typedef __nv_bfloat16 Output;
#else
typedef __half Output;
#endif

constexpr int THREADS = 32 * WARPS_M * WARPS_N;
constexpr int STEP_BYTES = 32; /* of a row, what one product takes */
constexpr int STEPS = K_BYTES / STEP_BYTES;
constexpr int CHUNKS = K_BYTES / 16; /* of 16 bytes, in a row of a stage */
constexpr int WARP_ROWS = BLOCK_M / WARPS_M;
constexpr int WARP_COLUMNS = BLOCK_N / WARPS_N;
constexpr int ROW_TILES = WARP_ROWS / 16;
constexpr int COLUMN_TILES = WARP_COLUMNS / 8;
constexpr int A_BYTES = BLOCK_M * K_BYTES;
constexpr int STAGE_BYTES = A_BYTES + BLOCK_N * K_BYTES;
constexpr int COPY_ROWS = THREADS / CHUNKS; /* that the threads copy at a time */
constexpr int A_COPIES = BLOCK_M / COPY_ROWS;
constexpr int COPIES = A_COPIES + BLOCK_N / COPY_ROWS;
constexpr int PARTS = STEPS - 1; /* of these copies: before the last step they are on their way */
constexpr int FP8_STAGES = 512 / K_BYTES; /* whose sums the tensor cores keep */

static_assert(K_BYTES == 64 || K_BYTES == 128, "rows are swizzled in one or two lines of 128 bytes");
static_assert(WARP_ROWS % 16 == 0 && WARP_COLUMNS % 16 == 0, "a warp has whole tiles");
static_assert(BLOCK_M % COPY_ROWS == 0 && BLOCK_N % COPY_ROWS == 0, "threads share a stage evenly");
static_assert(COPY_ROWS % 8 == 0, "the swizzle is the same for all rows that a thread copies");
static_assert(STAGES >= 2, "one stage is filled while another is used");

INLINE unsigned shared_address(const void *pointer) { return (unsigned)__cvta_generic_to_shared(pointer); }

/* copy_async starts copying 16 bytes past the registers; of the source it reads only so
 * many bytes and puts zeros in place of the rest. */
INLINE void copy_async(unsigned to, const void *from, int bytes)
{
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" :: "r"(to), "l"(from), "r"(bytes) : "memory");
}

INLINE void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/* wait_copies returns when all but the last so many groups have arrived. */
template <int GROUPS> INLINE void wait_copies() { asm volatile("cp.async.wait_group %0;" :: "n"(GROUPS) : "memory"); }

/* load_matrices reads four matrices of 8 rows of 16 bytes; lane l names row l % 8 of
 * matrix l / 8. */
INLINE void load_matrices(unsigned &a, unsigned &b, unsigned &c, unsigned &d, unsigned from)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(from) : "memory");
}

#if FP8
#define TYPES "m16n8k32.row.col.f32.e4m3.e4m3.f32 "
#elif BF16
#define TYPES "m16n8k16.row.col.f32.bf16.bf16.f32 "
#else
#define TYPES "m16n8k16.row.col.f32.f16.f16.f32 "
#endif

/* multiply_add adds the product of 16 rows of A and 8 rows of B to sum. */
INLINE void multiply_add(float (&sum)[4], const unsigned (&a)[4], const unsigned (&b)[2])
{
    asm volatile("mma.sync.aligned." TYPES "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
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

/* swizzled is the place of a chunk in a stage. Eight rows of the same chunk, which is
 * what a matrix load asks for, fall into eight different groups of banks. */
INLINE unsigned swizzled(int row, int chunk)
{
    return row * K_BYTES + (chunk ^ row / (128 / K_BYTES) % CHUNKS) * 16;
}

/* What a warp multiplies at a time, and its sums: lane l has rows l / 4 and 8 below it
 * of each tile, and columns l % 4 * 2 and the next. */
struct Operands {
    unsigned a[ROW_TILES][4], b[COLUMN_TILES][2];
};

struct Sums {
    float tile[ROW_TILES][COLUMN_TILES][4];
};

/* The matrices, and in how many tiles and stages they are taken. */
struct Problem {
    const char *a, *b;
    int M, N, row_bytes, rows, columns, stages;
};

/* Where a tile of C begins. */
struct Tile {
    int row, column;
};

/* tile_at says where the so-manieth tile is. Columns are taken GROUP rows of tiles at a
 * time. */
INLINE Tile tile_at(const Problem &problem, int number)
{
    const int band = number / (GROUP * problem.columns), first = band * GROUP;
    const int height = min(problem.rows - first, GROUP), within = number - band * GROUP * problem.columns;
    return {(first + within % height) * BLOCK_M, within / height * BLOCK_N};
}

/* Where copying is: some stages ahead of the products, perhaps in the next tile. What is the same for
 * all threads is kept apart from what is not, and what changes with a tile from what changes with a
 * stage: every instruction of a copy takes time from the products. */
struct Ahead {
    const char *a, *b;      /* the first rows of the tile, at the stage */
    unsigned rows[COPIES];  /* how far behind them lies what this thread copies */
    int number, stage;
    __device__ __forceinline__ Ahead(const Problem &problem) : number(blockIdx.x), stage(0) { begin(problem); }
    __device__ __forceinline__ bool more(const Problem &problem) const { return number < problem.rows * problem.columns; }
    __device__ __forceinline__ void begin(const Problem &problem)
    {
        if (!more(problem))
            return;
        const Tile tile = tile_at(problem, number);
        a = problem.a + (size_t)tile.row * problem.row_bytes;
        b = problem.b + (size_t)tile.column * problem.row_bytes;
        UNROLL for (int i = 0; i < COPIES; i++) {
            const int last = i < A_COPIES ? problem.M - 1 - tile.row : problem.N - 1 - tile.column;
            const int row = threadIdx.x / CHUNKS + (i < A_COPIES ? i : i - A_COPIES) * COPY_ROWS;
            rows[i] = min(row, last) * problem.row_bytes + threadIdx.x % CHUNKS * 16;
        }
    }
    __device__ __forceinline__ void next(const Problem &problem)
    {
        a += K_BYTES, b += K_BYTES;
        if (++stage < problem.stages)
            return;
        stage = 0;
        number += gridDim.x;
        begin(problem);
    }
};

/* fetch starts one of PARTS parts of the copies of a stage. Copies that are spread over
 * the products of another stage do not hold them up. */
INLINE void fetch(const Problem &problem, const Ahead &ahead, unsigned to, int part)
{
    const int chunk = threadIdx.x % CHUNKS, inside = ahead.stage * K_BYTES + chunk * 16 < problem.row_bytes ? 16 : 0;
    const unsigned place = to + swizzled(threadIdx.x / CHUNKS, chunk);
    UNROLL for (int i = part * COPIES / PARTS; i < (part + 1) * COPIES / PARTS; i++) {
        const bool of_a = i < A_COPIES;
        const int within = (of_a ? i : i - A_COPIES) * COPY_ROWS;
        copy_async(place + (of_a ? 0 : A_BYTES) + within * K_BYTES, (of_a ? ahead.a : ahead.b) + ahead.rows[i], inside);
    }
}

/* Where the warp reads what it multiplies in a step of a stage, and how. */
struct Source {
    unsigned a, b;
    __device__ __forceinline__ Source(unsigned stage, int step)
    {
        const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        a = stage + (warp / WARPS_N * WARP_ROWS * K_BYTES + swizzled(lane % 16, lane / 16) ^ step * STEP_BYTES);
        b = stage + A_BYTES + (warp % WARPS_N * WARP_COLUMNS * K_BYTES + swizzled(lane % 8 + lane / 16 * 8, lane / 8 % 2) ^ step * STEP_BYTES);
    }
    __device__ __forceinline__ void load_rows(Operands &to, int m) const
    {
        load_matrices(to.a[m][0], to.a[m][1], to.a[m][2], to.a[m][3], a + m * 16 * K_BYTES);
    }
    __device__ __forceinline__ void load_columns(Operands &to, int n) const
    {
        load_matrices(to.b[n][0], to.b[n][1], to.b[n + 1][0], to.b[n + 1][1], b + n * 8 * K_BYTES);
    }
    __device__ __forceinline__ void load(Operands &to) const
    {
        UNROLL for (int m = 0; m < ROW_TILES; m++)
            load_rows(to, m);
        UNROLL for (int n = 0; n < COLUMN_TILES; n += 2)
            load_columns(to, n);
    }
};

/* multiply adds a step. With AHEAD what comes next is read in between, not all at once. */
INLINE void multiply(Sums &sums, const Operands &operands, Operands &ahead, const Source &source)
{
    UNROLL for (int m = 0; m < ROW_TILES; m++)
        UNROLL for (int i = 0; i < COLUMN_TILES; i++) {
            const int n = m % 2 ? COLUMN_TILES - 1 - i : i; /* there and back: what was used last is used again */
            const int done = m * COLUMN_TILES + i;
            if (AHEAD && i == 0)
                source.load_rows(ahead, m);
            if (AHEAD && done % (2 * ROW_TILES) == ROW_TILES)
                source.load_columns(ahead, done / (2 * ROW_TILES) * 2);
            multiply_add(sums.tile[m][n], operands.a[m], operands.b[n]);
        }
}

/* collect adds sums to the total and begins anew. */
INLINE void collect(Sums &total, Sums &sums)
{
    UNROLL for (int m = 0; m < ROW_TILES; m++)
        UNROLL for (int n = 0; n < COLUMN_TILES; n++)
            UNROLL for (int i = 0; i < 4; i++) {
                total.tile[m][n][i] += sums.tile[m][n][i];
                sums.tile[m][n][i] = 0;
            }
}

/* arrived returns when a stage is filled, and all warps have read the one before it. */
INLINE void arrived()
{
    wait_copies<STAGES - 2>();
    __syncthreads();
}

/* use multiplies one stage and meanwhile fetches another into the place of the one
 * before; next is where the stage after this one lies. */
INLINE void use(Sums &sums, Operands (&operands)[2], const Problem &problem, Ahead &ahead, unsigned stage, unsigned next, unsigned before)
{
    const bool more = ahead.more(problem);
    if (!AHEAD)
        arrived();
    UNROLL for (int step = 0; step < STEPS; step++) {
        const bool last = step == STEPS - 1;
        if (last)
            commit_copies(); /* behind the end the group is empty, and waiting goes on counting */
        if (AHEAD && last)
            arrived();
        if (!AHEAD)
            Source(stage, step).load(operands[0]);
        if (step < PARTS && more)
            fetch(problem, ahead, before, step);
        multiply(sums, operands[AHEAD ? step % 2 : 0], operands[(step + 1) % 2], last ? Source(next, 0) : Source(stage, step + 1));
    }
    ahead.next(problem);
}

/* store rounds the sums and stores them. Neighbours exchange what they have of two
 * tiles, so that each stores 8 bytes of one, and a row is 32 bytes and not 16. */
INLINE void store(const Sums &sums, const Problem &problem, Tile tile, Output *c)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, odd = lane % 2;
    const int row = tile.row + warp / WARPS_N * WARP_ROWS + lane / 4;
    const int column = tile.column + warp % WARPS_N * WARP_COLUMNS + 8 * odd + lane % 4 / 2 * 4;
    UNROLL for (int m = 0; m < 2 * ROW_TILES; m++) {
        const int half = m % 2, at = row + m * 8;
        Output *to = c + (size_t)at * problem.N + column;
        UNROLL for (int n = 0; n < COLUMN_TILES; n += 2) {
            const float(&left)[4] = sums.tile[m / 2][n], (&right)[4] = sums.tile[m / 2][n + 1];
            const unsigned low = packed(left[2 * half], left[2 * half + 1]), high = packed(right[2 * half], right[2 * half + 1]);
            const unsigned other = __shfl_xor_sync(0xffffffffu, odd ? low : high, 1);
            if (at < problem.M && column + 8 * n < problem.N)
                *(uint2 *)(to + 8 * n) = odd ? make_uint2(other, high) : make_uint2(low, other);
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    gemm_mma(const char *a, const char *b, Output *c, int M, int N, int K)
{
    extern __shared__ __align__(128) char memory[];
    const unsigned places = shared_address(memory), end = places + STAGES * STAGE_BYTES;
    const int row_bytes = FP8 ? K : 2 * K;
    const Problem problem = {a, b, M, N, row_bytes, (M + BLOCK_M - 1) / BLOCK_M, (N + BLOCK_N - 1) / BLOCK_N, (row_bytes + K_BYTES - 1) / K_BYTES};
    Ahead ahead(problem);
    UNROLL for (int stage = 0; stage < STAGES - 1; stage++) {
        if (ahead.more(problem))
            UNROLL for (int part = 0; part < PARTS; part++)
                fetch(problem, ahead, places + stage * STAGE_BYTES, part);
        commit_copies();
        ahead.next(problem);
    }
    Operands operands[2];
    if (AHEAD) {
        arrived();
        Source(places, 0).load(operands[0]);
    }
    unsigned at = places, before = end - STAGE_BYTES;
    for (int number = blockIdx.x; number < problem.rows * problem.columns; number += gridDim.x) {
        Sums sums = {}, total = {};
        for (int stage = 0; stage < problem.stages; stage++) {
            const unsigned next = at + STAGE_BYTES == end ? places : at + STAGE_BYTES;
            use(sums, operands, problem, ahead, at, next, before);
            if (FP8 && stage % FP8_STAGES == FP8_STAGES - 1)
                collect(total, sums);
            before = at;
            at = next;
        }
        if (FP8)
            collect(total, sums);
        store(FP8 ? total : sums, problem, tile_at(problem, number), c);
    }
}
