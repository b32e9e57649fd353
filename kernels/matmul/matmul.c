/* matmul: C = A * B on the CPU; row-major, fp32, any size.
 *
 * The opinion: one register-tile kernel without a single branch on the size,
 * and everything ragged is made to fit it. The steps, outermost first:
 *
 *  1. C is split between the threads along its longer side, in whole register
 *     tiles. A thread owns its part of C, so the order of every sum is fixed
 *     and the result does not depend on the scheduling.
 *  2. B is cut into blocks of BLOCK_K x BLOCK_N, A into BLOCK_M x BLOCK_K, so
 *     that what the inner loops read again is still in a cache.
 *  3. A block of B is read in panels of PANEL columns, a block of A in strips
 *     of TILE_M rows. PACK copies the panels of B into the order in which the
 *     register tile walks them. A is always read in place: packing it as well
 *     never paid when measured, its values are broadcast one by one. Only the
 *     panel and the strip that stick out of the matrix are always copied and
 *     padded with zeros, which is what keeps step 4 free of tails.
 *  4. A register tile of TILE_M rows x TILE_N vectors of C is summed over the
 *     depth of the block and then stored, or added to what is there.
 *
 * Only the GNU vector extensions are used, no intrinsics: a vector wider than
 * the machine's is split by the compiler, so every point is valid everywhere.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The defaults repeat kernel.yaml, so that the file also compiles alone. */
#ifndef BLOCK_M
#define BLOCK_M 64
#endif
#ifndef BLOCK_N
#define BLOCK_N 64
#endif
#ifndef BLOCK_K
#define BLOCK_K 64
#endif
#ifndef TILE_M
#define TILE_M 4
#endif
#ifndef TILE_N
#define TILE_N 2
#endif
#ifndef VECTOR
#define VECTOR 4
#endif
#ifndef UNROLL
#define UNROLL 1
#endif
#ifndef PACK
#define PACK 0
#endif
#ifndef THREADS
#define THREADS 2
#endif

#define PANEL (TILE_N * VECTOR)

_Static_assert(BLOCK_M % TILE_M == 0, "a block of A is a whole number of strips");
_Static_assert(BLOCK_N % PANEL == 0, "a block of B is a whole number of panels");
_Static_assert(BLOCK_K % 16 == 0, "panels and strips begin on a cache line");

#define INLINE static inline __attribute__((always_inline))
#define NOINLINE static __attribute__((noinline)) /* one copy each: compile time */
#define PRAGMA(text) _Pragma(#text)
#ifdef __clang__
#define UNROLLED(count) PRAGMA(clang loop unroll_count(count))
#else
#define UNROLLED(count) PRAGMA(GCC unroll count)
#endif
/* The sums of a tile are registers only once the loops over them are gone. */
#define EACH(index, count) UNROLLED(count) for (int index = 0; index < count; index++)

/* Vectors are never passed by value: how, would depend on the target. */
typedef float vector __attribute__((vector_size(4 * VECTOR)));
/* The caller's buffers are only known to be aligned as floats. */
typedef float loose_vector
    __attribute__((vector_size(4 * VECTOR), aligned(4), may_alias));
#define VECTOR_AT(address) (*(loose_vector *)(address))

struct slice {
    const float *a, *b;
    float *c;
    ptrdiff_t N, K;
    ptrdiff_t row, row_end, column, column_end; /* the part of C it owns */
    float *panels, *strip;                      /* its scratch */
    pthread_t thread;
    bool started;
};

INLINE ptrdiff_t smaller(ptrdiff_t x, ptrdiff_t y) { return x < y ? x : y; }

/* tile sums TILE_M x PANEL elements of C over depth. Element (r, k) of the
 * strip of A is a[r * a_row + k * a_step], row k of the panel of B starts at
 * b + k * b_step. It is inlined so that the strides of packed operands are
 * constants and the sums live in registers. */
INLINE void tile(const float *a, ptrdiff_t a_row, ptrdiff_t a_step,
                 const float *b, ptrdiff_t b_step, ptrdiff_t depth,
                 float *c, ptrdiff_t c_row, bool add)
{
    vector sum[TILE_M][TILE_N] = {{{0}}};

    UNROLLED(UNROLL)
    for (ptrdiff_t k = 0; k < depth; k++) {
        vector across[TILE_N];
        EACH(n, TILE_N)
            across[n] = VECTOR_AT(b + k * b_step + n * VECTOR);
        EACH(r, TILE_M) {
            const float down = a[r * a_row + k * a_step];
            EACH(n, TILE_N)
                sum[r][n] += down * across[n];
        }
    }
    EACH(r, TILE_M)
        EACH(n, TILE_N) {
            float *to = c + r * c_row + n * VECTOR;
            if (add)
                sum[r][n] += VECTOR_AT(to);
            VECTOR_AT(to) = sum[r][n];
        }
}

/* edge_tile computes a tile of which only rows x columns lie inside C. Its
 * operands are padded to the full tile, the result goes by way of the stack. */
NOINLINE void edge_tile(const float *a, ptrdiff_t a_row, ptrdiff_t a_step,
                        const float *b, ptrdiff_t b_step, ptrdiff_t depth,
                        float *c, ptrdiff_t c_row, bool add,
                        ptrdiff_t rows, ptrdiff_t columns)
{
    float full[TILE_M * PANEL];

    tile(a, a_row, a_step, b, b_step, depth, full, PANEL, false);
    for (ptrdiff_t r = 0; r < rows; r++)
        for (ptrdiff_t n = 0; n < columns; n++)
            c[r * c_row + n] = (add ? c[r * c_row + n] : 0) + full[r * PANEL + n];
}

/* pack_panel copies depth rows of a panel of B, columns wide. */
static void pack_panel(float *to, const float *b, ptrdiff_t b_row,
                       ptrdiff_t depth, ptrdiff_t columns)
{
    for (ptrdiff_t k = 0; k < depth; k++, to += PANEL, b += b_row) {
        if (columns == PANEL) { /* a constant size is a few vector moves */
            memcpy(to, b, PANEL * sizeof *to);
            continue;
        }
        memcpy(to, b, (size_t)columns * sizeof *to);
        memset(to + columns, 0, (size_t)(PANEL - columns) * sizeof *to);
    }
}

/* pack_strip transposes rows x depth of a strip of A, so that the TILE_M
 * values of one step lie side by side. */
static void pack_strip(float *to, const float *a, ptrdiff_t a_row,
                       ptrdiff_t depth, ptrdiff_t rows)
{
    for (ptrdiff_t r = 0; r < TILE_M; r++)
        for (ptrdiff_t k = 0; k < depth; k++)
            to[k * TILE_M + r] = r < rows ? a[r * a_row + k] : 0;
}

/* multiply_block adds to C the product of one block of A, height x depth at
 * (i, k), and one block of B, depth x width at (k, j); the first block of the
 * depth overwrites instead. Of B, what has to be packed is packed already. */
NOINLINE void
multiply_block(const struct slice *s, ptrdiff_t i, ptrdiff_t height,
               ptrdiff_t j, ptrdiff_t width, ptrdiff_t k, ptrdiff_t depth)
{
    const float *a_block = s->a + i * s->K + k;
    const ptrdiff_t whole = height / TILE_M * TILE_M;

    if (whole < height)
        pack_strip(s->strip, a_block + whole * s->K, s->K, depth, height - whole);

    for (ptrdiff_t n = 0; n < width; n += PANEL) {
        const ptrdiff_t columns = smaller(PANEL, width - n);
        const bool packed = PACK || columns < PANEL;
        const float *b = packed ? s->panels + n * depth : s->b + k * s->N + j + n;
        const ptrdiff_t b_step = packed ? PANEL : s->N;
        float *c = s->c + i * s->N + j + n;

        for (ptrdiff_t r = 0; r < whole; r += TILE_M) {
            const float *a = a_block + r * s->K;
            if (columns == PANEL)
                tile(a, s->K, 1, b, PACK ? PANEL : s->N, depth, c + r * s->N, s->N, k > 0);
            else
                edge_tile(a, s->K, 1, b, b_step, depth, c + r * s->N, s->N, k > 0,
                          TILE_M, columns);
        }
        if (whole < height)
            edge_tile(s->strip, 1, TILE_M, b, b_step, depth, c + whole * s->N, s->N, k > 0,
                      height - whole, columns);
    }
}

static void *multiply_slice(void *argument)
{
    const struct slice *s = argument;

    for (ptrdiff_t j = s->column; j < s->column_end; j += BLOCK_N) {
        ptrdiff_t width = smaller(BLOCK_N, s->column_end - j);
        for (ptrdiff_t k = 0; k < s->K; k += BLOCK_K) {
            ptrdiff_t depth = smaller(BLOCK_K, s->K - k);
            for (ptrdiff_t n = 0; n < width; n += PANEL)
                if (PACK || width - n < PANEL)
                    pack_panel(s->panels + n * depth, s->b + k * s->N + j + n, s->N,
                               depth, smaller(PANEL, width - n));
            for (ptrdiff_t i = s->row; i < s->row_end; i += BLOCK_M)
                multiply_block(s, i, smaller(BLOCK_M, s->row_end - i), j, width, k, depth);
        }
    }
    return NULL;
}

/* cut returns where part number index of size begins when size is shared out
 * in whole units, as evenly as they allow. */
static ptrdiff_t cut(ptrdiff_t size, ptrdiff_t unit, ptrdiff_t index)
{
    ptrdiff_t units = (size + unit - 1) / unit;
    return smaller(size, units * index / THREADS * unit);
}

void matmul(const float *a, const float *b, float *c, int32_t M, int32_t N, int32_t K)
{
    struct slice slices[THREADS];
    const size_t panels = (size_t)BLOCK_N * BLOCK_K, strip = (size_t)TILE_M * BLOCK_K;
    float *scratch = aligned_alloc(64, THREADS * (panels + strip) * sizeof *scratch);

    /* There is no way to report it, and C must not pass for a result. */
    if (!scratch)
        abort();

    for (int t = 0; t < THREADS; t++) {
        struct slice *s = &slices[t];
        *s = (struct slice){.a = a, .b = b, .c = c, .N = N, .K = K,
                            .row_end = M, .column_end = N};
        s->panels = scratch + t * (panels + strip);
        s->strip = s->panels + panels;
        if (N >= M) {
            s->column = cut(N, PANEL, t);
            s->column_end = cut(N, PANEL, t + 1);
        } else {
            s->row = cut(M, TILE_M, t);
            s->row_end = cut(M, TILE_M, t + 1);
        }
        /* The caller works too, on the last slice; a thread that cannot be
         * had only costs time. */
        s->started = t + 1 < THREADS &&
                     pthread_create(&s->thread, NULL, multiply_slice, s) == 0;
        if (!s->started)
            multiply_slice(s);
    }
    for (int t = 0; t < THREADS; t++)
        if (slices[t].started)
            pthread_join(slices[t].thread, NULL);
    free(scratch);
}
