/* gemm: C = A B^T, fp16 in and out, fp32 in between; A is [M, K], B is [N, K] and C
 * is [M, N], all row-major, as in a linear layer. For Hopper. With BF16 bf16 takes the
 * place of fp16, and with FP8 A and B are fp8 (e4m3).
 *
 * The steps:
 *
 *  1. A persistent grid of blocks (or of clusters of blocks) walks over the tiles of
 *     C, in an order that keeps neighbours in time neighbours in the matrices.
 *  2. One warp, the producer, copies tiles of A and B into a ring of STAGES places by
 *     the tensor copy engine. The blocks of a cluster have the same columns of C, each
 *     copies its share of the tile of B, and the engine delivers it to all of them.
 *  3. BLOCK_M / ROWS warpgroups, the consumers, multiply from shared memory into
 *     registers, ROWS rows each.
 *  4. A finished tile is rounded, put into shared memory and copied out by the
 *     engine while the next tile is loaded and multiplied.
 *
 * Rows in shared memory are 128 bytes, swizzled as the engine and the tensor cores
 * agree on (128-byte mode): chunk c of row r lies at c ^ (r % 8). What lies outside a
 * matrix is read as zero and not written. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define UNROLL _Pragma("unroll")
#define INLINE static __device__ __forceinline__

constexpr int ROW_BYTES = 128; /* the width of the swizzle */
constexpr int STEP_BYTES = 32; /* of a row, what one product takes */
constexpr int BLOCK_K = FP8 ? ROW_BYTES : ROW_BYTES / 2;
constexpr int CONSUMERS = BLOCK_M / ROWS;
constexpr int THREADS = 128 * (CONSUMERS + 1);
constexpr int TILES = ROWS / 64; /* of 64 rows, per consumer */
constexpr int A_BYTES = BLOCK_M * ROW_BYTES;
constexpr int B_BYTES = BLOCK_N * ROW_BYTES;
constexpr int STAGE_BYTES = A_BYTES + B_BYTES;
constexpr int PANEL_BYTES = 64 * 128; /* 64 rows of 64 columns of C */
constexpr int OUT_PANELS = TILES * BLOCK_N / 64; /* of C, per consumer */
constexpr int FP8_STEPS = 4; /* whose sums the tensor cores keep */
constexpr int B_SHARE = BLOCK_N / CLUSTER; /* rows of B that a block copies */

static_assert(BLOCK_M % ROWS == 0 && ROWS % 64 == 0, "a consumer has whole tiles of 64 rows");
static_assert(PANELS <= OUT_PANELS, "no more places than panels");
static_assert(B_SHARE % 8 == 0, "a share of B is whole groups of 8 rows");

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

/* barrier_arrive_at arrives at the same barrier of another block of the cluster. What it says is that
 * the tensor cores have read a place; nothing was written, so no fence for the cluster is due. */
INLINE void barrier_arrive_at(unsigned barrier, int block)
{
    asm volatile("{\n.reg .b32 there;\n"
                 "mapa.shared::cluster.u32 there, %0, %1;\n"
                 "mbarrier.arrive.shared::cluster.b64 _, [there];\n}"
                 :: "r"(barrier), "r"(block) : "memory");
}

INLINE void barrier_arrive(unsigned barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(barrier) : "memory");
}

INLINE void cluster_barrier()
{
    asm volatile("barrier.cluster.arrive.release.aligned;\n"
                 "barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/* A copy engine's descriptor of a tensor, made by the driver. */
struct alignas(64) TensorMap {
    unsigned char opaque[128];
};

INLINE void copy_in(unsigned to, const TensorMap *map, int column, int row, unsigned barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%2, %3}], [%4];"
                 :: "r"(to), "l"(map), "r"(column), "r"(row), "r"(barrier) : "memory");
}

/* copy_in_to_all delivers to the same place of every block of the cluster. */
INLINE void copy_in_to_all(unsigned to, const TensorMap *map, int column, int row, unsigned barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster"
                 " [%0], [%1, {%2, %3}], [%4], %5;"
                 :: "r"(to), "l"(map), "r"(column), "r"(row), "r"(barrier), "h"((unsigned short)((1 << CLUSTER) - 1)) : "memory");
}

INLINE void copy_out(const TensorMap *map, unsigned from, int column, int row)
{
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];"
                 :: "l"(map), "r"(from), "r"(column), "r"(row) : "memory");
}

/* descriptor describes rows of 128 swizzled bytes to the tensor cores: groups of 8
 * rows are 1,024 bytes apart. */
INLINE unsigned long long descriptor(unsigned address)
{
    return (unsigned long long)((address & 0x3ffff) >> 4) | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

/* multiply adds 64 rows of A times BLOCK_N rows of B, STEP_BYTES of each, to d, or
 * begins with them where add is 0. Operands of 16 bits could also lie across. */
#if FP8
#define TYPES "k32.f32.e4m3.e4m3 "
#define ALONG ";\n}"
#elif BF16
#define TYPES "k16.f32.bf16.bf16 "
#define ALONG ", 0, 0;\n}"
#else
#define TYPES "k16.f32.f16.f16 "
#define ALONG ", 0, 0;\n}"
#endif
#if BLOCK_N == 64
INLINE void multiply(float (&d)[32], unsigned long long a, unsigned long long b, int add)
{
    asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %34, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64" TYPES
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15,"
                 " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
                 "%32, %33, add, 1, 1" ALONG
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
                 "wgmma.mma_async.sync.aligned.m64n128" TYPES
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15,"
                 " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31,"
                 " %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47,"
                 " %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
                 "%64, %65, add, 1, 1" ALONG
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
#elif BLOCK_N == 192
INLINE void multiply(float (&d)[96], unsigned long long a, unsigned long long b, int add)
{
    asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %98, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n192" TYPES
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15,"
                 " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31,"
                 " %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47,"
                 " %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63,"
                 " %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79,"
                 " %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95}, "
                 "%96, %97, add, 1, 1" ALONG
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
                   "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95])
                 : "l"(a), "l"(b), "r"(add));
}
#elif BLOCK_N == 256
INLINE void multiply(float (&d)[128], unsigned long long a, unsigned long long b, int add)
{
    asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %130, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n256" TYPES
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15,"
                 " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31,"
                 " %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47,"
                 " %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63,"
                 " %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79,"
                 " %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95,"
                 " %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111,"
                 " %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
                 "%128, %129, add, 1, 1" ALONG
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
#error "BLOCK_N must be 64, 128, 192 or 256"
#endif

INLINE void multiply_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
INLINE void multiply_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int PENDING> INLINE void multiply_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(PENDING) : "memory"); }

INLINE void store_matrices(unsigned to, unsigned a, unsigned b, unsigned c, unsigned d)
{
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
                 :: "r"(to), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
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

/* Tile is where a tile of C lies, in tiles. */
struct Tile { int row, column; };

/* tile_at says which tile of C is the so-manieth. Columns are taken GROUP rows of
 * tiles at a time, so that the blocks that run at the same time share what they read. */
INLINE Tile tile_at(int number, int rows, int columns)
{
    const int band = number / (GROUP * columns), first = band * GROUP;
    const int height = min(rows - first, GROUP), within = number - band * GROUP * columns;
    return {first + within % height, within / height};
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

/* One memory for all: the ring, the tile of C that leaves, the barriers. The swizzle
 * counts from multiples of 1,024 bytes. */
struct Layout {
    unsigned ring, out, full, empty;
    __device__ __forceinline__ Layout(const void *memory)
    {
        ring = (shared_address(memory) + 1023) / 1024 * 1024;
        out = ring + STAGES * STAGE_BYTES;
        full = out + CONSUMERS * PANELS * PANEL_BYTES;
        empty = full + 8 * STAGES;
    }
};

INLINE void produce(const Layout &at, const TensorMap *a_map, const TensorMap *b_map, int rows, int columns, int steps)
{
    const int rank = blockIdx.x % CLUSTER;
    Place place;
    place.parity = 1; /* a new ring is empty */
    for (int number = blockIdx.x / CLUSTER; number < rows * columns; number += gridDim.x / CLUSTER) {
        const Tile tile = tile_at(number, rows, columns);
        for (int step = 0; step < steps; step++, place.next()) {
            const unsigned full = at.full + 8 * place.stage, to = at.ring + place.stage * STAGE_BYTES;
            barrier_wait(at.empty + 8 * place.stage, place.parity);
            barrier_expect(full, STAGE_BYTES);
            copy_in(to, a_map, step * BLOCK_K, (tile.row * CLUSTER + rank) * BLOCK_M, full);
            const unsigned share = to + A_BYTES + rank * B_SHARE * 128;
            if (CLUSTER > 1)
                copy_in_to_all(share, b_map, step * BLOCK_K, tile.column * BLOCK_N + rank * B_SHARE, full);
            else
                copy_in(share, b_map, step * BLOCK_K, tile.column * BLOCK_N, full);
        }
    }
}

/* release tells the producers of all blocks that write into this one's ring that a
 * place is free. */
INLINE void release(unsigned empty)
{
    if (CLUSTER == 1) {
        if (threadIdx.x % 128 == 0)
            barrier_arrive(empty);
    } else if (threadIdx.x % 128 < CLUSTER) {
        barrier_arrive_at(empty, threadIdx.x % 128);
    }
}

/* write rounds a consumer's part of a tile of C and sends it off, panel by panel,
 * through PANELS places. */
INLINE void write(const Layout &at, const TensorMap *c_map, float (&sums)[TILES][BLOCK_N / 2], int consumer, int row, int column)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
    UNROLL for (int panel = 0; panel < OUT_PANELS; panel++) {
        const int t = panel / (BLOCK_N / 64), across = panel % (BLOCK_N / 64);
        const unsigned out = at.out + (consumer * PANELS + panel % PANELS) * PANEL_BYTES;
        if (threadIdx.x % 128 == 0) /* what was in this place has left */
            asm volatile("cp.async.bulk.wait_group.read %0;" :: "n"(PANELS - 1) : "memory");
        asm volatile("bar.sync %0, 128;" :: "r"(consumer + 1) : "memory");
        UNROLL for (int i = 0; i < 4; i++) {
            const float *s = &sums[t][32 * across + 8 * i];
            const int inner = warp * 16 + lane % 16, chunk = 2 * i + lane / 16;
            store_matrices(out + inner * 128 + ((chunk ^ (inner % 8)) * 16),
                           packed(s[0], s[1]), packed(s[2], s[3]), packed(s[4], s[5]), packed(s[6], s[7]));
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("bar.sync %0, 128;" :: "r"(consumer + 1) : "memory");
        if (threadIdx.x % 128 == 0) {
            copy_out(c_map, out, column + 64 * across, row + consumer * ROWS + 64 * t);
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        }
    }
}

/* add_step begins to multiply one step of A and B, with new sums or on top of those that are there. */
INLINE void add_step(const Layout &at, float (&sums)[TILES][BLOCK_N / 2], int consumer, const Place &place, bool add)
{
    barrier_wait(at.full + 8 * place.stage, place.parity);
    const unsigned a = at.ring + place.stage * STAGE_BYTES + consumer * ROWS * 128;
    const unsigned b = at.ring + place.stage * STAGE_BYTES + A_BYTES;
    multiply_begin();
    UNROLL for (int k = 0; k < ROW_BYTES / STEP_BYTES; k++)
        UNROLL for (int t = 0; t < TILES; t++)
            multiply(sums[t], descriptor(a + t * PANEL_BYTES + STEP_BYTES * k), descriptor(b + STEP_BYTES * k), add || k > 0);
    multiply_commit();
}

/* add_up multiplies so many steps of A and B. The last one is still running when it returns. */
INLINE void add_up(const Layout &at, float (&sums)[TILES][BLOCK_N / 2], int consumer, Place &place, int &last, int first, int steps)
{
    for (int step = first; step < steps; step++) {
        add_step(at, sums, consumer, place, step > 0);
        if (step > 0) {
            multiply_wait<1>();
            release(at.empty + 8 * last);
        }
        last = place.stage;
        place.next();
    }
}

/* finish waits for the last step. */
INLINE void finish(const Layout &at, int last)
{
    multiply_wait<0>();
    release(at.empty + 8 * last);
}

INLINE void add(float (&sums)[TILES][BLOCK_N / 2], const float (&some)[TILES][BLOCK_N / 2])
{
    UNROLL for (int t = 0; t < TILES; t++)
        UNROLL for (int i = 0; i < BLOCK_N / 2; i++)
            sums[t][i] += some[t][i];
}

/* Of sums of fp8 the tensor cores keep few bits, so those of FP8_STEPS steps at a time are added in fp32. add_some
 * multiplies such steps; while the first of them runs, it adds what the steps before them have left, if there are any. */
INLINE void add_some(const Layout &at, float (&sums)[TILES][BLOCK_N / 2], float (&some)[TILES][BLOCK_N / 2],
                     const float (&before)[TILES][BLOCK_N / 2], bool any, int consumer, Place &place, int &last, int steps)
{
    add_step(at, some, consumer, place, false);
    if (any) {
        multiply_wait<1>();
        release(at.empty + 8 * last);
        add(sums, before);
    }
    last = place.stage;
    place.next();
    add_up(at, some, consumer, place, last, 1, min(FP8_STEPS, steps));
}

INLINE void add_up_fp8(const Layout &at, float (&sums)[TILES][BLOCK_N / 2], int consumer, Place &place, int steps)
{
    float even[TILES][BLOCK_N / 2], odd[TILES][BLOCK_N / 2];
    UNROLL for (int t = 0; t < TILES; t++)
        UNROLL for (int i = 0; i < BLOCK_N / 2; i++)
            sums[t][i] = 0;
    int last = -1; /* no stage's products are running */
    for (; steps > 0; steps -= 2 * FP8_STEPS) {
        add_some(at, sums, even, odd, last >= 0, consumer, place, last, steps);
        if (steps <= FP8_STEPS) {
            finish(at, last);
            add(sums, even);
            return;
        }
        add_some(at, sums, odd, even, true, consumer, place, last, steps - FP8_STEPS);
    }
    finish(at, last);
    add(sums, odd);
}

INLINE void consume(const Layout &at, const TensorMap *c_map, int consumer, int rows, int columns, int steps)
{
    const int rank = blockIdx.x % CLUSTER;
    Place place;
    for (int number = blockIdx.x / CLUSTER; number < rows * columns; number += gridDim.x / CLUSTER) {
        const Tile tile = tile_at(number, rows, columns);
        float sums[TILES][BLOCK_N / 2];
        if (FP8) {
            add_up_fp8(at, sums, consumer, place, steps);
        } else {
            int last = 0; /* the stage whose products are still running */
            add_up(at, sums, consumer, place, last, 0, steps);
            finish(at, last);
        }
        write(at, c_map, sums, consumer, (tile.row * CLUSTER + rank) * BLOCK_M, tile.column * BLOCK_N);
    }
    if (threadIdx.x % 128 == 0)
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
#if CLUSTER > 1
    __cluster_dims__(CLUSTER, 1, 1)
#endif
    gemm(const __grid_constant__ TensorMap a_map, const __grid_constant__ TensorMap b_map,
         const __grid_constant__ TensorMap c_map, int M, int N, int K)
{
    extern __shared__ char memory[];
    const Layout at(memory);
    if (threadIdx.x == 0) {
        UNROLL for (int stage = 0; stage < STAGES; stage++) {
            barrier_init(at.full + 8 * stage, 1);
            barrier_init(at.empty + 8 * stage, CONSUMERS * CLUSTER);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    if (CLUSTER > 1)
        cluster_barrier();
    else
        __syncthreads();

    const int rows = (M + BLOCK_M * CLUSTER - 1) / (BLOCK_M * CLUSTER), columns = (N + BLOCK_N - 1) / BLOCK_N;
    const int steps = (K + BLOCK_K - 1) / BLOCK_K;
    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" :: "n"(CONSUMERS == 3 ? 32 : 40));
        if (threadIdx.x == 0)
            produce(at, &a_map, &b_map, rows, columns, steps);
        __syncwarp();
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" :: "n"(CONSUMERS == 1 ? 240 : CONSUMERS == 2 ? 232 : 160));
        consume(at, &c_map, threadIdx.x / 128 - 1, rows, columns, steps);
    }
    if (CLUSTER > 1)
        cluster_barrier(); /* no block ends while others arrive at its barriers */
}
