#include <stdint.h>
void tally(const int32_t *x, const int32_t *key, int64_t *sums, int32_t *counts, int64_t *place,
           int32_t N, int32_t KEYS)
{
    for (int k = 0; k < KEYS; k++) {
        sums[k] = 0, counts[k] = 0;
        for (int i = 0; i < N; i++)
            if (key[i] == k)
                sums[k] += x[i], counts[k]++;
    }
    place[0] = 0;
    for (int i = 1; i < N; i++)
        if (x[i] >= x[place[0]])
            place[0] = i;
}
