/* attention: o = softmax(scale * q k^T) v for every head, on the CPU; fp32,
 * [B, H, S, D] row-major, any size.
 *
 * The opinion: the S x S scores are never stored. A block of queries walks
 * along the keys and keeps, per query, the largest score so far, the sum of
 * the exponentials relative to it, and the weighted values; when the largest
 * score grows, sum and values are scaled down (Milakov and Gimelshein 2018,
 * "Online normalizer calculation for softmax"; Dao et al. 2022,
 * "FlashAttention"). The steps:
 *
 *  1. The blocks of BLOCK_M queries of all heads are shared out between the
 *     threads as contiguous runs. No two threads write the same row of o, so
 *     the result does not depend on the scheduling.
 *  2. score: BLOCK_M queries times BLOCK_N keys, in register tiles. With PACK_K
 *     none a tile is ROWS x COLS dot products along D, each vector of partial
 *     sums folded at its end. With tile or head the keys are transposed first
 *     (each block when its turn comes, or the head's keys once), and a tile is
 *     ROWS queries x COLS vectors of keys with nothing to fold.
 *  3. weigh: the scores of the block become weights exp(score - largest).
 *  4. mix: weights times values, ROWS queries x COLS vectors along D.
 *
 * The register tiles do not know about tails: queries, keys and values that
 * stick out of the tensor are copied to scratch and padded with zeros.
 * Only the GNU vector extensions are used, no intrinsics: a vector wider than
 * the machine's is split by the compiler, so every point is valid everywhere.
 */
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The defaults repeat kernel.yaml, so that the file also compiles alone. */
#ifndef BLOCK_M
#define BLOCK_M 32
#endif
#ifndef BLOCK_N
#define BLOCK_N 32
#endif
#ifndef VECTOR
#define VECTOR 4
#endif
#ifndef ROWS
#define ROWS 4
#endif
#ifndef COLS
#define COLS 2
#endif
#ifndef PACK_K
#define PACK_K none
#endif
#ifndef FAST_EXP
#define FAST_EXP 0
#endif
#ifndef THREADS
#define THREADS 2
#endif

/* PACK_K arrives as a bare word: PACKS(tile) asks whether it is that one. */
enum { PACK_K_none, PACK_K_tile, PACK_K_head };
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define PACKS(layout) (JOIN(PACK_K_, PACK_K) == PACK_K_##layout)

#define PANEL (COLS * VECTOR)

_Static_assert(BLOCK_M % ROWS == 0, "a block of queries is a whole number of strips");
_Static_assert(BLOCK_N % PANEL == 0, "a block of keys is a whole number of panels");

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
typedef uint32_t bits __attribute__((vector_size(4 * VECTOR)));
/* The caller's buffers are only known to be aligned as floats. */
typedef float loose_vector
    __attribute__((vector_size(4 * VECTOR), aligned(4), may_alias));
#define VECTOR_AT(address) (*(loose_vector *)(address))

/* One thread's part of the problem and its scratch. */
struct worker {
    _Alignas(64) float weights[BLOCK_M * BLOCK_N]; /* the scores at first */
    float edge[BLOCK_N * PANEL];                   /* last columns of the values */
    float largest[BLOCK_M], sum[BLOCK_M], rescale[BLOCK_M];
    float *queries; /* BLOCK_M x D, scaled, in strips of ROWS */
    float *mixed;   /* BLOCK_M x D rounded up to whole panels */
    float *keys;    /* panels of D x PANEL */
    const float *q, *k, *v;
    float *o, scale;
    ptrdiff_t S, D;
    ptrdiff_t block, block_end; /* of queries, counted through all heads */
    pthread_t thread;
    bool started;
};

INLINE ptrdiff_t smaller(ptrdiff_t x, ptrdiff_t y) { return x < y ? x : y; }
INLINE ptrdiff_t pieces(ptrdiff_t x, ptrdiff_t unit) { return (x + unit - 1) / unit; }
INLINE ptrdiff_t round_up(ptrdiff_t x, ptrdiff_t unit) { return pieces(x, unit) * unit; }

/* fold adds up the lanes, pairwise: fewer roundings in a row, and half of the
 * lanes at a time are still vector work. */
INLINE float fold(const vector *x)
{
    float lane[VECTOR];
    memcpy(lane, x, sizeof lane);
    for (int width = VECTOR / 2; width > 0; width /= 2)
        for (int l = 0; l < width; l++)
            lane[l] += lane[l + width];
    return lane[0];
}

/* fast_exp is exp for x <= 0, within 3.1 units in the last place (measured):
 * x = n ln 2 + r with |r| <= ln 2 / 2, and exp(r) by its series, whose first
 * dropped term is r^7/5040 < 1.2e-7. Adding 1.5 * 2^23 rounds to a whole n and
 * leaves it in the low bits, from where it moves into the exponent. Below -86,
 * and for the -inf of padding, the result is 0; NaN stays NaN. */
INLINE void fast_exp(vector *x)
{
    const float rounder = 12582912.0f;
    const vector shifted = *x * 1.44269504f + rounder, n = shifted - rounder;
    const vector r = *x - n * (45426.0f / 65536) - n * 1.42860682e-6f; /* ln 2, split */
    vector series = r * (1.0f / 720) + 1.0f / 120;
    series = series * r + 1.0f / 24;
    series = series * r + 1.0f / 6;
    series = series * r + 0.5f;
    series = series * r + 1.0f;
    series = series * r + 1.0f;
    *x = (vector)(((bits)series + ((bits)shifted << 23)) & ~(bits)(*x < -86.0f));
}

/* dot_tile scores ROWS queries against COLS keys, both rows of D floats. */
INLINE void dot_tile(const float *q, const float *const key[COLS], ptrdiff_t D, float *scores)
{
    vector sum[ROWS][COLS] = {{{0}}}, done[ROWS][COLS];
    const ptrdiff_t whole = D / VECTOR * VECTOR;

    for (ptrdiff_t d = 0; d < whole; d += VECTOR)
        EACH(c, COLS) {
            const vector across = VECTOR_AT(key[c] + d);
            EACH(r, ROWS)
                sum[r][c] += VECTOR_AT(q + r * D + d) * across;
        }
    /* Folding from a copy, in a loop that stays one, halves the compile time. */
    EACH(r, ROWS)
        EACH(c, COLS)
            done[r][c] = sum[r][c];
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLS; c++)
            scores[r * BLOCK_N + c] = fold(&done[r][c]);
    for (ptrdiff_t d = whole; d < D; d++)
        EACH(r, ROWS)
            EACH(c, COLS)
                scores[r * BLOCK_N + c] += q[r * D + d] * key[c][d];
}

/* tile sums ROWS x PANEL over depth steps, from 0 or from out times rescale: step
 * s multiplies a[r * a_row + s * a_step] with the vectors at b + s * b_step.
 * Both score and mix are such products; it is inlined into them so that the
 * strides which are constants there stay constants. */
INLINE void tile(const float *a, ptrdiff_t a_row, ptrdiff_t a_step,
                 const float *b, ptrdiff_t b_step, ptrdiff_t depth,
                 const float *rescale, float *out, ptrdiff_t out_row)
{
    vector sum[ROWS][COLS] = {{{0}}};

    if (rescale)
        EACH(r, ROWS)
            EACH(c, COLS)
                sum[r][c] = VECTOR_AT(out + r * out_row + c * VECTOR) * rescale[r];
    for (ptrdiff_t s = 0; s < depth; s++) {
        vector across[COLS];
        EACH(c, COLS)
            across[c] = VECTOR_AT(b + s * b_step + c * VECTOR);
        EACH(r, ROWS) {
            const float down = a[r * a_row + s * a_step];
            EACH(c, COLS)
                sum[r][c] += down * across[c];
        }
    }
    EACH(r, ROWS)
        EACH(c, COLS)
            VECTOR_AT(out + r * out_row + c * VECTOR) = sum[r][c];
}

/* pack copies count rows of D floats, scaled, in groups of so many rows, zeros
 * beyond the last row. Tiles with nothing to fold want the groups transposed. */
INLINE void pack(float *to, const float *from, ptrdiff_t count, ptrdiff_t D,
                 ptrdiff_t group, float scale)
{
    for (ptrdiff_t n = 0; n < count; n += group, to += group * D)
        for (ptrdiff_t r = 0; r < group; r++)
            for (ptrdiff_t d = 0; d < D; d++)
                to[PACKS(none) ? r * D + d : d * group + r] =
                    n + r < count ? scale * from[(n + r) * D + d] : 0;
}

/* score fills weights with the scores of rows queries and count keys, and with
 * -inf up to the next whole vector of keys. */
NOINLINE void
score(struct worker *w, const float *k, const float *panels,
      ptrdiff_t rows, ptrdiff_t count, ptrdiff_t D)
{
    for (ptrdiff_t n = 0; n < count; n += PACKS(none) ? COLS : PANEL) {
        const float *key[COLS];
        for (int c = 0; c < COLS; c++) /* beyond the last key: that one again */
            key[c] = k + smaller(n + c, count - 1) * D;
        for (ptrdiff_t m = 0; m < rows; m += ROWS) {
            const float *q = w->queries + m * D;
            float *scores = w->weights + m * BLOCK_N + n;
            if (PACKS(none))
                dot_tile(q, key, D, scores);
            else
                tile(q, 1, ROWS, panels + n * D, PANEL, D, NULL, scores, BLOCK_N);
        }
    }
    for (ptrdiff_t m = 0; m < rows; m++)
        for (ptrdiff_t n = count; n < round_up(count, VECTOR); n++)
            w->weights[m * BLOCK_N + n] = -INFINITY;
}

/* weigh turns scores into weights and updates largest, sum and rescale. */
NOINLINE void weigh(struct worker *w, ptrdiff_t rows, ptrdiff_t count)
{
    for (ptrdiff_t m = 0; m < rows; m++) {
        float *row = w->weights + m * BLOCK_N, largest = w->largest[m];
        vector high = VECTOR_AT(row), sum = {0};

        for (ptrdiff_t n = VECTOR; n < count; n += VECTOR) {
            const vector x = VECTOR_AT(row + n);
            const bits above = (bits)(x > high);
            high = (vector)((above & (bits)x) | (~above & (bits)high));
        }
        for (int l = 0; l < VECTOR; l++)
            largest = high[l] > largest ? high[l] : largest;
        for (ptrdiff_t n = 0; n < count; n += VECTOR) {
            vector x = VECTOR_AT(row + n) - largest;
            if (FAST_EXP)
                fast_exp(&x);
            else
                for (int l = 0; l < VECTOR; l++)
                    x[l] = expf(x[l]);
            VECTOR_AT(row + n) = x;
            sum += x;
        }
        w->rescale[m] = expf(w->largest[m] - largest); /* 0 for the first block */
        w->sum[m] = w->sum[m] * w->rescale[m] + fold(&sum);
        w->largest[m] = largest;
    }
}

/* mix rescales what is mixed so far and adds count values by their weights. */
NOINLINE void
mix(struct worker *w, const float *v, ptrdiff_t rows, ptrdiff_t count, ptrdiff_t D)
{
    const ptrdiff_t whole = D / PANEL * PANEL, width = round_up(D, PANEL);

    for (ptrdiff_t n = 0; n < count && whole < D; n++)
        for (ptrdiff_t d = whole; d < width; d++)
            w->edge[n * PANEL + d - whole] = d < D ? v[n * D + d] : 0;

    for (ptrdiff_t d = 0; d < width; d += PANEL) {
        const float *from = d < whole ? v + d : w->edge;
        const ptrdiff_t step = d < whole ? D : PANEL;
        for (ptrdiff_t m = 0; m < rows; m += ROWS)
            tile(w->weights + m * BLOCK_N, BLOCK_N, 1, from, step, count,
                 w->rescale + m, w->mixed + m * width + d, width);
    }
}

/* attend computes one block of queries. */
NOINLINE void attend(struct worker *w, ptrdiff_t block)
{
    const ptrdiff_t S = w->S, D = w->D, width = round_up(D, PANEL);
    const ptrdiff_t blocks = pieces(S, BLOCK_M), first = block % blocks * BLOCK_M;
    const ptrdiff_t count = smaller(BLOCK_M, S - first), rows = round_up(count, ROWS);
    const ptrdiff_t head = block / blocks * S * D, start = head + first * D;

    pack(w->queries, w->q + start, count, D, ROWS, w->scale);
    if (PACKS(head) && (first == 0 || block == w->block))
        pack(w->keys, w->k + head, S, D, PANEL, 1);
    memset(w->mixed, 0, (size_t)(rows * width) * sizeof *w->mixed);
    for (ptrdiff_t m = 0; m < rows; m++) {
        w->largest[m] = -INFINITY;
        w->sum[m] = 0;
    }
    for (ptrdiff_t n = 0; n < S; n += BLOCK_N) {
        const ptrdiff_t keys = smaller(BLOCK_N, S - n), at = head + n * D;
        if (PACKS(tile))
            pack(w->keys, w->k + at, keys, D, PANEL, 1);
        score(w, w->k + at, w->keys + (PACKS(head) ? n * D : 0), rows, keys, D);
        weigh(w, rows, keys);
        mix(w, w->v + at, rows, keys, D);
    }
    for (ptrdiff_t m = 0; m < count; m++)
        for (ptrdiff_t d = 0; d < D; d++)
            w->o[start + m * D + d] = w->mixed[m * width + d] / w->sum[m];
}

static void *work(void *argument)
{
    struct worker *w = argument;
    for (ptrdiff_t block = w->block; block < w->block_end; block++)
        attend(w, block);
    return NULL;
}

void attention_forward(const float *q, const float *k, const float *v, float *o,
                       float scale, int32_t B, int32_t H, int32_t S, int32_t D)
{
    struct worker *workers[THREADS];
    const ptrdiff_t blocks = (ptrdiff_t)B * H * pieces(S, BLOCK_M);
    const ptrdiff_t queries = round_up((ptrdiff_t)BLOCK_M * D, 16); /* whole cache lines */
    const ptrdiff_t mixed = round_up(BLOCK_M * round_up(D, PANEL), 16);
    const ptrdiff_t keys = PACKS(none) ? 0 : round_up(PACKS(head) ? S : BLOCK_N, PANEL) * D;
    const size_t size =
        sizeof(struct worker) + (size_t)(queries + mixed + round_up(keys, 16)) * sizeof(float);
    char *scratch = aligned_alloc(64, THREADS * size);

    /* There is no way to report it, and o must not pass for a result. */
    if (!scratch)
        abort();

    for (int i = 0; i < THREADS; i++) {
        struct worker *w = workers[i] = (struct worker *)(scratch + (size_t)i * size);
        w->queries = (float *)(w + 1);
        w->mixed = w->queries + queries;
        w->keys = w->mixed + mixed;
        w->q = q, w->k = k, w->v = v, w->o = o, w->scale = scale, w->S = S, w->D = D;
        w->block = blocks * i / THREADS;
        w->block_end = blocks * (i + 1) / THREADS;
        /* The caller works too, on the last share; a thread that cannot be had
         * only costs time. */
        w->started = i + 1 < THREADS && pthread_create(&w->thread, NULL, work, w) == 0;
        if (!w->started)
            work(w);
    }
    for (int i = 0; i < THREADS; i++)
        if (workers[i]->started)
            pthread_join(workers[i]->thread, NULL);
    free(scratch);
}
