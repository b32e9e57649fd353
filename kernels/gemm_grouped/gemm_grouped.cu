/* gemm_grouped: one matrix product per expert of a mixture, C[g] = A[g] B[g]^T, bf16 in and out,
 * fp32 in between. Rows offsets[g] to offsets[g + 1] of A [T, K] and C [T, N] are group g's, and
 * B is [E, N, K]. Groups may have any number of rows, none included. For Hopper.
 *
 * The opinion: with few rows the time is that of reading the weights of the groups that have any,
 * with many that of the tensor cores, and between them of both. So tiles of all groups are one
 * list, and no group waits for another. With SPLIT it is another kernel, for groups of a few rows:
 * columns.cuh. The steps:
 *
 *  1. Each block of a persistent grid counts the tiles of all groups. Tile by tile it then finds
 *     the group by bisection; tiles of a group that have the same columns follow each other, so
 *     that weights are read from memory once. With MIXED the tiles of the next group with these
 *     columns come then, so that groups of few rows, which wait for memory, run beside groups of
 *     many, which wait for the tensor cores; without, the other columns of the group.
 *  2. One thread, the producer, copies tiles of A and B into a ring of STAGES places by the tensor
 *     copy engine, with PIECE A in pieces of so many rows as far as the group has rows. What
 *     lies behind them, of the next group or left over in the ring, is multiplied too, and not
 *     written.
 *  3. CONSUMERS warpgroups multiply from shared memory into registers, ROWS rows each; one whose
 *     rows are all of no group does not, which leaves the tensor cores to the other. With
 *     PINGPONG each has tiles of its own, in turns: while one writes, the other multiplies. A
 *     parity tells two rounds of the ring apart and no more, so that none waits in the ring
 *     before its turn has come.
 *  4. Warps round their rows, turn them in shared memory so that a row is written in pieces of
 *     128 bytes, and write those that belong to the group.
 *
 * Rows in shared memory are 128 bytes, swizzled as the engine and the tensor cores agree on: chunk
 * c of row r lies at c ^ (r % 8). What lies outside a matrix is read as zero. */
#include <cuda_bf16.h>

#define UNROLL _Pragma("unroll")
#define INLINE static __device__ __forceinline__

#if SPLIT > 0
#include "columns.cuh"
#else

constexpr int ROW_BYTES = 128; /* the width of the swizzle */
constexpr int BLOCK_K = ROW_BYTES / 2;
constexpr int STEP_BYTES = 32; /* of a row, what one product takes */
constexpr int THREADS = 128 * (CONSUMERS + 1);
constexpr int SHARERS = PINGPONG ? 1 : CONSUMERS; /* consumers of a tile */
constexpr int BLOCK_M = ROWS * SHARERS;
constexpr int TILES = ROWS / 64; /* of 64 rows, per consumer */
constexpr int A_BYTES = BLOCK_M * ROW_BYTES;
constexpr int STAGE_BYTES = A_BYTES + BLOCK_N * ROW_BYTES;
constexpr int PANEL_BYTES = 64 * ROW_BYTES; /* 64 rows of 64 columns */
constexpr int COPY_ROWS = PIECE > 0 ? PIECE : BLOCK_M; /* of A, at once */

static_assert(ROWS % 64 == 0 && CONSUMERS <= 2, "whole tiles of 64 rows, and registers for them");
static_assert(BLOCK_M % COPY_ROWS == 0 && COPY_ROWS % 8 == 0, "pieces keep the swizzle");
static_assert(!PINGPONG || CONSUMERS == 2, "turns are for two");

INLINE unsigned shared_address(const void *pointer) { return (unsigned)__cvta_generic_to_shared(pointer); }

INLINE void barrier_init(unsigned barrier, int arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(barrier), "r"(arrivals) : "memory");
}

INLINE void barrier_expect(unsigned barrier, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(barrier), "r"(bytes) : "memory");
}

INLINE void barrier_wait(unsigned barrier, int parity)
{
    asm volatile("{\n.reg .pred done;\nWAIT:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@done bra DONE;\nbra WAIT;\nDONE:\n}"
                 :: "r"(barrier), "r"(parity) : "memory");
}

INLINE void barrier_arrive(unsigned barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(barrier) : "memory");
}

/* A copy engine's descriptor of a tensor, made by the driver. */
struct alignas(64) TensorMap {
    unsigned char opaque[128];
};

INLINE void copy_rows(unsigned to, const TensorMap *map, int column, int row, unsigned barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%2, %3}], [%4];"
                 :: "r"(to), "l"(map), "r"(column), "r"(row), "r"(barrier) : "memory");
}

INLINE void copy_weights(unsigned to, const TensorMap *map, int column, int row, int group, unsigned barrier)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%2, %3, %4}], [%5];"
                 :: "r"(to), "l"(map), "r"(column), "r"(row), "r"(group), "r"(barrier) : "memory");
}

/* descriptor describes rows of 128 swizzled bytes to the tensor cores: groups of 8
 * rows are 1,024 bytes apart. */
INLINE unsigned long long descriptor(unsigned address)
{
    return (unsigned long long)((address & 0x3ffff) >> 4) | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

/* multiply adds 64 rows of A times BLOCK_N rows of B, STEP_BYTES of each, to d, or
 * begins with them where add is 0. */
#if BLOCK_N == 64
INLINE void multiply(float (&d)[32], unsigned long long a, unsigned long long b, int add)
{
    asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %34, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15,"
                 " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
                 "%32, %33, add, 1, 1, 0, 0;\n}"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
                   "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
                   "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
                   "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
                 : "l"(a), "l"(b), "r"(add));
}
#elif BLOCK_N == 128
INLINE void multiply(float (&d)[64], unsigned long long a, unsigned long long b, int add)
{
    asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %66, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15,"
                 " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31,"
                 " %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47,"
                 " %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
                 "%64, %65, add, 1, 1, 0, 0;\n}"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
                   "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
                   "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
                   "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]),
                   "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),
                   "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
                   "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
                   "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
                 : "l"(a), "l"(b), "r"(add));
}
#elif BLOCK_N == 256
INLINE void multiply(float (&d)[128], unsigned long long a, unsigned long long b, int add)
{
    asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %130, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15,"
                 " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31,"
                 " %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47,"
                 " %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63,"
                 " %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79,"
                 " %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95,"
                 " %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111,"
                 " %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
                 "%128, %129, add, 1, 1, 0, 0;\n}"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
                   "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
                   "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
                   "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]),
                   "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),
                   "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
                   "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
                   "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]),
                   "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]),
                   "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]),
                   "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]),
                   "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]),
                   "+f"(d[96]), "+f"(d[97]), "+f"(d[98]), "+f"(d[99]), "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103]),
                   "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107]), "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), "+f"(d[111]),
                   "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115]), "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119]),
                   "+f"(d[120]), "+f"(d[121]), "+f"(d[122]), "+f"(d[123]), "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127])
                 : "l"(a), "l"(b), "r"(add));
}
#else
#error "BLOCK_N must be 64, 128 or 256"
#endif

INLINE void multiply_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
INLINE void multiply_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int PENDING> INLINE void multiply_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(PENDING) : "memory");
}

INLINE void store_matrices(unsigned to, unsigned a, unsigned b, unsigned c, unsigned d)
{
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
                 :: "r"(to), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
}

INLINE uint4 load_shared(unsigned from)
{
    uint4 x;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w) : "r"(from) : "memory");
    return x;
}

INLINE unsigned packed(float low, float high)
{
    const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
    return *(const unsigned *)&pair;
}

/* Place counts round the ring. */
struct Place {
    int stage = 0, parity = 0;
    __device__ __forceinline__ void next()
    {
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
    __device__ __forceinline__ void skip(int steps)
    {
        stage += steps;
        parity ^= stage / STAGES & 1;
        stage %= STAGES;
    }
};

/* One memory for all: the ring, what warps turn, the barriers, and for every group where its tiles
 * end and its rows begin. The swizzle counts from multiples of 1,024 bytes. */
struct Layout {
    unsigned ring, out, full, empty, turns;
    int *ends, *offsets;
    __device__ __forceinline__ Layout(char *memory, int E)
    {
        const unsigned start = shared_address(memory);
        ring = (start + 1023) / 1024 * 1024;
        out = ring + STAGES * STAGE_BYTES;
        full = out + CONSUMERS * PANEL_BYTES;
        empty = full + 8 * STAGES;
        turns = empty + 8 * STAGES;
        ends = (int *)(memory + (turns + 16 - start));
        offsets = ends + E;
    }
};

struct Problem {
    const int *offsets;
    const int *ends; /* of the groups' tiles, of the first columns */
    int E, columns, steps;
    __device__ __forceinline__ int tiles() const { return ends[E - 1] * columns; }
};

/* count_tiles is for one warp: the first so many tiles are those of the groups up to each. */
INLINE void count_tiles(const Layout &at, int E)
{
    int before = 0;
    for (int first = 0; first < E; first += 32) {
        const int group = first + threadIdx.x;
        const int rows = group < E ? at.offsets[group + 1] - at.offsets[group] : 0;
        int end = (rows + BLOCK_M - 1) / BLOCK_M;
        UNROLL for (int distance = 1; distance < 32; distance *= 2) {
            const int other = __shfl_up_sync(0xffffffffu, end, distance);
            end += threadIdx.x >= distance ? other : 0;
        }
        end += before;
        if (group < E)
            at.ends[group] = end;
        before = __shfl_sync(0xffffffffu, end, 31);
    }
}

/* Tile is where a tile of C lies: rows from row up to end, columns from column on. */
struct Tile { int group, row, end, column; };

INLINE Tile tile_at(const Problem &problem, int number)
{
    const int all = problem.ends[problem.E - 1];
    const int index = MIXED ? number % all : number / problem.columns;
    int low = 0, high = problem.E - 1; /* the first group whose tiles end beyond */
    while (low < high) {
        const int middle = (low + high) / 2;
        if (problem.ends[middle] > index)
            high = middle;
        else
            low = middle + 1;
    }
    const int start = problem.offsets[low], end = problem.offsets[low + 1];
    const int before = low > 0 ? problem.ends[low - 1] : 0, rows = problem.ends[low] - before;
    const int within = number - before * problem.columns;
    const int row = MIXED ? index - before : within % rows, column = MIXED ? number / all : within / rows;
    return {low, start + row * BLOCK_M, end, column * BLOCK_N};
}

INLINE void produce(const Layout &at, const TensorMap *a_map, const TensorMap *b_map, const Problem &problem)
{
    const int tiles = problem.tiles();
    Place place;
    place.parity = 1; /* a new ring is empty */
    for (int number = blockIdx.x; number < tiles; number += gridDim.x) {
        const Tile tile = tile_at(problem, number);
        const int pieces = (min(tile.end - tile.row, BLOCK_M) + COPY_ROWS - 1) / COPY_ROWS;
        for (int step = 0; step < problem.steps; step++, place.next()) {
            const unsigned full = at.full + 8 * place.stage, to = at.ring + place.stage * STAGE_BYTES;
            barrier_wait(at.empty + 8 * place.stage, place.parity);
            barrier_expect(full, (PIECE > 0 ? pieces : 1) * COPY_ROWS * ROW_BYTES + BLOCK_N * ROW_BYTES);
            copy_weights(to + A_BYTES, b_map, step * BLOCK_K, tile.column, tile.group, full);
            UNROLL for (int row = 0; row < BLOCK_M; row += COPY_ROWS)
                if (row == 0 || row < pieces * COPY_ROWS)
                    copy_rows(to + row * ROW_BYTES, a_map, step * BLOCK_K, tile.row + row, full);
        }
    }
}

/* release tells the producer that a place is free. */
INLINE void release(unsigned empty)
{
    if (threadIdx.x % 128 == 0)
        barrier_arrive(empty);
}

/* add_up multiplies so many steps of A and B; rows are the consumer's first of the tile. When the
 * last ones are on their way it is the turn of the next consumer. */
INLINE void add_up(const Layout &at, float (&sums)[TILES][BLOCK_N / 2], int rows, Place &place, int steps, unsigned next)
{
    int last = 0; /* the stage whose products are still running */
    for (int step = 0; step < steps; step++, place.next()) {
        barrier_wait(at.full + 8 * place.stage, place.parity);
        const unsigned a = at.ring + place.stage * STAGE_BYTES + rows * ROW_BYTES;
        const unsigned b = at.ring + place.stage * STAGE_BYTES + A_BYTES;
        multiply_begin();
        UNROLL for (int k = 0; k < ROW_BYTES / STEP_BYTES; k++)
            UNROLL for (int t = 0; t < TILES; t++)
                multiply(sums[t], descriptor(a + t * PANEL_BYTES + STEP_BYTES * k),
                         descriptor(b + STEP_BYTES * k), step > 0 || k > 0);
        multiply_commit();
        if (step > 0) {
            multiply_wait<1>();
            release(at.empty + 8 * last);
        }
        last = place.stage;
    }
    if (PINGPONG && threadIdx.x % 128 == 0)
        barrier_arrive(next);
    multiply_wait<0>();
    release(at.empty + 8 * last);
}

/* pass lets so many steps go by without multiplying. */
INLINE void pass(const Layout &at, Place &place, int steps)
{
    for (int step = 0; step < steps; step++, place.next()) {
        barrier_wait(at.full + 8 * place.stage, place.parity);
        release(at.empty + 8 * place.stage);
    }
}

/* write rounds a warp's 16 rows of every 64 and writes those before end: 64 columns at a time,
 * by way of its own part of shared memory. */
INLINE void write(unsigned out, __nv_bfloat16 *c, float (&sums)[TILES][BLOCK_N / 2], const Tile &tile, int rows, int N)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32, inner = lane % 16;
    const unsigned mine = out + warp * 16 * ROW_BYTES;
    UNROLL for (int t = 0; t < TILES; t++) {
        const int first = tile.row + rows + 64 * t + 16 * warp;
        UNROLL for (int across = 0; across < BLOCK_N / 64; across++) {
            __syncwarp(); /* what was here has been read */
            UNROLL for (int i = 0; i < 4; i++) {
                const float *s = &sums[t][32 * across + 8 * i];
                const int chunk = 2 * i + lane / 16;
                store_matrices(mine + inner * ROW_BYTES + ((chunk ^ (inner % 8)) * 16),
                               packed(s[0], s[1]), packed(s[2], s[3]), packed(s[4], s[5]), packed(s[6], s[7]));
            }
            __syncwarp();
            const int column = tile.column + 64 * across + lane % 8 * 8;
            UNROLL for (int i = 0; i < 4; i++) {
                const int row = 4 * i + lane / 8;
                if (first + row < tile.end && column < N)
                    *(uint4 *)(c + (size_t)(first + row) * N + column) =
                        load_shared(mine + row * ROW_BYTES + ((lane % 8 ^ row % 8) * 16));
            }
        }
    }
}

INLINE void consume(const Layout &at, __nv_bfloat16 *c, int consumer, const Problem &problem, int N)
{
    const int tiles = problem.tiles(), rows = PINGPONG ? 0 : consumer * ROWS;
    const int stride = PINGPONG ? 2 * gridDim.x : gridDim.x;
    int parity = consumer ^ 1; /* the first turn is the first consumer's */
    Place place;
    if (PINGPONG && consumer == 1)
        place.skip(problem.steps);
    for (int number = blockIdx.x + (PINGPONG ? consumer * gridDim.x : 0); number < tiles; number += stride) {
        const Tile tile = tile_at(problem, number);
        if (tile.row + rows >= tile.end) {
            pass(at, place, problem.steps);
            continue;
        }
        float sums[TILES][BLOCK_N / 2];
        if (PINGPONG) {
            barrier_wait(at.turns + 8 * consumer, parity);
            parity ^= 1;
        }
        add_up(at, sums, rows, place, problem.steps, at.turns + 8 * (consumer ^ 1));
        if (PINGPONG)
            place.skip(problem.steps);
        write(at.out + consumer * PANEL_BYTES, c, sums, tile, rows, N);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
gemm_grouped(const __grid_constant__ TensorMap a_map, const __grid_constant__ TensorMap b_map, const int *offsets,
             __nv_bfloat16 *c, int T, int E, int N, int K)
{
    extern __shared__ char memory[];
    const Layout at(memory, E);
    const Problem problem = {at.offsets, at.ends, E, (N + BLOCK_N - 1) / BLOCK_N, (K + BLOCK_K - 1) / BLOCK_K};
    if (threadIdx.x == 64) {
        asm volatile("prefetch.tensormap [%0];" :: "l"(&a_map) : "memory");
        asm volatile("prefetch.tensormap [%0];" :: "l"(&b_map) : "memory");
    }
    if (threadIdx.x == 32) {
        UNROLL for (int stage = 0; stage < STAGES; stage++) {
            barrier_init(at.full + 8 * stage, 1);
            barrier_init(at.empty + 8 * stage, SHARERS);
        }
        barrier_init(at.turns, 1);
        barrier_init(at.turns + 8, 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    for (int i = threadIdx.x; i <= E; i += THREADS)
        at.offsets[i] = offsets[i];
    __syncthreads();
    if (threadIdx.x < 32)
        count_tiles(at, E);
    __syncthreads();

    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == 0)
            produce(at, &a_map, &b_map, problem);
        __syncwarp();
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" :: "n"(CONSUMERS == 1 ? 240 : 232));
        consume(at, c, threadIdx.x / 128 - 1, problem, N);
    }
}
#endif
