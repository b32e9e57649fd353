/* gemm_grouped_fp8: one matrix product per expert of a mixture, C[g] = A[g] B[g]^T, of fp8 (e4m3)
 * with scales, bf16 out. Rows offsets[g] to offsets[g + 1] of A [T, K] and C [T, N] are group g's,
 * and B is [E, N, K]. A scale of A is for 128 values of a row: a_scales [K / 128, T]. One of B is
 * for a block of 128 x 128: b_scales [E, N / 128, K / 128]. For Hopper.
 *
 * It is gemm_grouped, whose steps and layouts it shares. What differs:
 *
 *  1. A step is 128 values of K, so that each has one scale. Tensor cores sum a step, of which they
 *     keep few bits; then the sum is scaled and added in fp32.
 *  2. Both sums of a consumer's whole tile would be more registers than there are. So it has the
 *     products of 64 rows and WIDTH columns at a time, a part, which has one scale of B. While it
 *     adds, the tensor cores are another consumer's, which has other columns of the tile. With TURNS
 *     they begin one after the other: else both multiply, and then both add.
 *  3. A second warp copies the scales of a step into the ring: a barrier is full once both the
 *     engine and that warp's copies have arrived.
 *
 * Rows in shared memory are 128 bytes, swizzled as the engine and the tensor cores agree on: chunk
 * c of row r lies at c ^ (r % 8). What lies outside a matrix is read as zero. */
#include <cuda_bf16.h>

#define UNROLL _Pragma("unroll")
#define ONCE _Pragma("unroll 1") /* producers have few registers */
#define INLINE static __device__ __forceinline__

constexpr int ROW_BYTES = 128; /* the width of the swizzle */
constexpr int BLOCK_K = 128;   /* values that share a scale */
constexpr int STEP_BYTES = 32; /* of a row, what one product takes */
constexpr int THREADS = 128 * (CONSUMERS + 1);
constexpr int COLUMNS = BLOCK_N / CONSUMERS; /* of a consumer */
constexpr int WIDTH = COLUMNS < 128 ? COLUMNS : 128;
constexpr int TILES = BLOCK_M / 64, ACROSS = COLUMNS / WIDTH; /* parts, down and across */
constexpr int BLOCKS = (BLOCK_N + 127) / 128; /* of a tile's columns that share scales */
constexpr int A_BYTES = BLOCK_M * ROW_BYTES;
constexpr int STAGE_BYTES = A_BYTES + BLOCK_N * ROW_BYTES;
constexpr int SCALES = BLOCK_M + 2; /* of a stage: those of A, then those of B, two at most */
constexpr int PANEL_BYTES = 64 * ROW_BYTES; /* 64 rows, and 64 columns of C */
constexpr int COPY_ROWS = PIECE > 0 ? PIECE : BLOCK_M; /* of A, at once */

static_assert(!TURNS || CONSUMERS == 2, "turns are for two");
static_assert(WIDTH == 64 || WIDTH == 128, "products there are");
static_assert(BLOCK_M % COPY_ROWS == 0 && COPY_ROWS % 8 == 0, "pieces keep the swizzle");

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

/* copy_number copies four bytes, of which copies_arrive will tell. */
INLINE void copy_number(unsigned to, const float *from)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(to), "l"(from) : "memory");
}

/* copies_arrive arrives at a barrier when this thread's copies so far are there. */
INLINE void copies_arrive(unsigned barrier)
{
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" :: "r"(barrier) : "memory");
}

/* descriptor describes rows of 128 swizzled bytes to the tensor cores: groups of 8 rows are 1,024
 * bytes apart. It is the lower half of what they take, in units of 16 bytes; the upper half is
 * always the same. */
INLINE unsigned descriptor(unsigned address) { return (address & 0x3ffff) >> 4 | 1u << 16; }
#define DESCRIPTORS(A, B) \
    ".reg .b64 a, b;\nmov.b64 a, {" A ", 0x40000040};\nmov.b64 b, {" B ", 0x40000040};\n"

/* multiply adds 64 rows of A times WIDTH rows of B, STEP_BYTES of each, to d, or
 * begins with them where add is 0. */
#if BLOCK_N / CONSUMERS == 64
INLINE void multiply(float (&d)[32], unsigned a, unsigned b, int add)
{
    asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %34, 0;\n" DESCRIPTORS("%32", "%33")
                 "wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15,"
                 " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
                 "a, b, add, 1, 1;\n}"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
                   "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
                   "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
                   "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
                 : "r"(a), "r"(b), "r"(add));
}
#else
INLINE void multiply(float (&d)[64], unsigned a, unsigned b, int add)
{
    asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %66, 0;\n" DESCRIPTORS("%64", "%65")
                 "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15,"
                 " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31,"
                 " %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47,"
                 " %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
                 "a, b, add, 1, 1;\n}"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
                   "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
                   "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
                   "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]),
                   "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),
                   "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
                   "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
                   "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
                 : "r"(a), "r"(b), "r"(add));
}
#endif

INLINE void multiply_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
INLINE void multiply_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
INLINE void multiply_wait() { asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory"); }

/* A consumer with TURNS begins to multiply when the other has given it its turn. */
INLINE void turn_wait(int consumer) { asm volatile("bar.sync %0, 256;" :: "r"(consumer + 1) : "memory"); }
INLINE void turn_give(int consumer) { asm volatile("bar.arrive %0, 256;" :: "r"(consumer + 1) : "memory"); }

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

INLINE float load_number(unsigned from)
{
    float x;
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(x) : "r"(from) : "memory");
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
};

/* One memory for all: the ring, what warps turn, the scales, the barriers, and for every group where
 * its tiles end and its rows begin. The swizzle counts from multiples of 1,024 bytes. */
struct Layout {
    unsigned ring, out, scales, full, empty;
    int *ends, *offsets;
    __device__ __forceinline__ Layout(char *memory, int E)
    {
        const unsigned start = shared_address(memory);
        ring = (start + 1023) / 1024 * 1024;
        out = ring + STAGES * STAGE_BYTES;
        scales = out + CONSUMERS * PANEL_BYTES;
        full = scales + STAGES * SCALES * 4;
        empty = full + 8 * STAGES;
        ends = (int *)(memory + (empty + 8 * STAGES - start));
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
        ONCE for (int step = 0; step < problem.steps; step++, place.next()) {
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

/* produce_scales is for one warp. Rows and columns that are of no group keep what lies there. */
INLINE void produce_scales(const Layout &at, const float *a_scales, const float *b_scales, const Problem &problem,
                           int T, int N)
{
    const int tiles = problem.tiles(), lane = threadIdx.x % 32, blocks = (N + 127) / 128;
    Place place;
    place.parity = 1;
    for (int number = blockIdx.x; number < tiles; number += gridDim.x) {
        const Tile tile = tile_at(problem, number);
        const int block = tile.column / 128 + lane;
        const float *a = a_scales + tile.row, *b = b_scales + ((size_t)tile.group * blocks + block) * problem.steps;
        ONCE for (int step = 0; step < problem.steps; step++, place.next()) {
            const unsigned to = at.scales + place.stage * SCALES * 4;
            barrier_wait(at.empty + 8 * place.stage, place.parity);
            UNROLL for (int row = lane; row < BLOCK_M; row += 32)
                if (tile.row + row < tile.end)
                    copy_number(to + 4 * row, a + (size_t)step * T + row);
            if (lane < BLOCKS && block < blocks)
                copy_number(to + 4 * (BLOCK_M + lane), b + step);
            copies_arrive(at.full + 8 * place.stage);
        }
    }
}

/* add_up multiplies so many steps of A and B, of B the consumer's columns of a tile. A place is
 * free when every warp has read it: scales are read by each for itself. */
INLINE void add_up(const Layout &at, float (&sums)[TILES][COLUMNS / 2], int consumer, Place &place, int steps)
{
    const int first = consumer * COLUMNS, row = threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
    UNROLL for (int t = 0; t < TILES; t++)
        UNROLL for (int i = 0; i < COLUMNS / 2; i++)
            sums[t][i] = 0;
    for (int step = 0; step < steps; step++, place.next()) {
        barrier_wait(at.full + 8 * place.stage, place.parity);
        const unsigned a = descriptor(at.ring + place.stage * STAGE_BYTES);
        const unsigned b = descriptor(at.ring + place.stage * STAGE_BYTES + A_BYTES + first * ROW_BYTES);
        const unsigned scales = at.scales + place.stage * SCALES * 4;
        UNROLL for (int part = 0; part < TILES * ACROSS; part++) {
            const int t = part / ACROSS, across = part % ACROSS * WIDTH, column = first + across;
            float some[WIDTH / 2];
            if (TURNS)
                turn_wait(consumer);
            multiply_begin();
            UNROLL for (int k = 0; k < ROW_BYTES / STEP_BYTES; k++)
                multiply(some, a + (t * PANEL_BYTES + STEP_BYTES * k) / 16,
                         b + (across * ROW_BYTES + STEP_BYTES * k) / 16, k > 0);
            multiply_commit();
            if (TURNS)
                turn_give(consumer ^ 1);
            const float scale = load_number(scales + 4 * (BLOCK_M + column / 128));
            const float upper = scale * load_number(scales + 4 * (row + 64 * t));
            const float lower = scale * load_number(scales + 4 * (row + 64 * t + 8));
            multiply_wait();
            if (part == TILES * ACROSS - 1) {
                __syncwarp();
                if (threadIdx.x % 32 == 0)
                    barrier_arrive(at.empty + 8 * place.stage);
            }
            UNROLL for (int i = 0; i < WIDTH / 2; i++)
                sums[t][across / 2 + i] += some[i] * (i % 4 < 2 ? upper : lower);
        }
    }
}

/* write rounds a warp's 16 rows of every 64 and writes those before end: 64 columns at a time,
 * by way of its own part of shared memory. */
INLINE void write(unsigned out, __nv_bfloat16 *c, float (&sums)[TILES][COLUMNS / 2], const Tile &tile, int N)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32, inner = lane % 16;
    const unsigned mine = out + warp * 16 * ROW_BYTES;
    UNROLL for (int t = 0; t < TILES; t++) {
        const int first = tile.row + 64 * t + 16 * warp;
        UNROLL for (int across = 0; across < COLUMNS / 64; across++) {
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
    const int tiles = problem.tiles();
    Place place;
    if (TURNS && consumer == 1)
        turn_give(0);
    for (int number = blockIdx.x; number < tiles; number += gridDim.x) {
        Tile tile = tile_at(problem, number);
        float sums[TILES][COLUMNS / 2];
        add_up(at, sums, consumer, place, problem.steps);
        tile.column += consumer * COLUMNS;
        write(at.out + consumer * PANEL_BYTES, c, sums, tile, N);
    }
    if (TURNS && consumer == 0) /* the last turn given */
        turn_wait(0);
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
gemm_grouped_fp8(const __grid_constant__ TensorMap a_map, const __grid_constant__ TensorMap b_map,
                 const float *a_scales, const float *b_scales, const int *offsets, __nv_bfloat16 *c,
                 int T, int E, int N, int K)
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
            barrier_init(at.full + 8 * stage, 1 + 32);
            barrier_init(at.empty + 8 * stage, 4 * CONSUMERS);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    for (int i = threadIdx.x; i <= E; i += THREADS)
        at.offsets[i] = offsets[i];
    __syncthreads();
    if (threadIdx.x < 32)
        count_tiles(at, E);
    __syncthreads();

    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 56;");
        if (threadIdx.x == 0)
            produce(at, &a_map, &b_map, problem);
        else if (threadIdx.x / 32 == 1)
            produce_scales(at, a_scales, b_scales, problem, T, N);
        __syncwarp();
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" :: "n"(CONSUMERS == 1 ? 240 : 224));
        consume(at, c, __shfl_sync(0xffffffffu, threadIdx.x / 128 - 1, 0), problem, N);
    }
}
