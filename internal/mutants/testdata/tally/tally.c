#include <stdint.h>
#include <string.h>

static void add(int32_t x, int32_t key, int64_t *sums, int32_t *counts)
{
    sums[key] += x;
    counts[key]++;
}

void tally(const int32_t *x, const int32_t *key, int64_t *sums, int32_t *counts, int64_t *place,
           int32_t N, int32_t KEYS)
{
    int64_t last = 0;
    int i = 0;

    memset(sums, 0, (size_t)KEYS * sizeof *sums);
    memset(counts, 0, (size_t)KEYS * sizeof *counts);
    for (; i + UNROLL <= N; i += UNROLL)
        for (int u = 0; u < UNROLL; u++)
            add(x[i + u], key[i + u], sums, counts);
    for (; i < N; i++)
        add(x[i], key[i], sums, counts);
    for (i = 1; i < N; i++)
        if (x[i] >= x[last])
            last = i;
    *place = last;
}
