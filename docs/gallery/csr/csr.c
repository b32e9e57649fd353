#include <stdint.h>

/* SUMS entries of a row at a time: their products do not wait for each other. */
void csr(const int32_t *starts, const int32_t *columns, const float *values, const float *x, float *y, int32_t rows)
{
    for (int32_t r = 0; r < rows; r++) {
        float sums[SUMS] = {0};
        int32_t i = starts[r], end = starts[r + 1];
        for (; i + SUMS <= end; i += SUMS)
            for (int s = 0; s < SUMS; s++)
                sums[s] += values[i + s] * x[columns[i + s]];
        for (; i < end; i++)
            sums[0] += values[i] * x[columns[i]];
        for (int s = 1; s < SUMS; s++)
            sums[0] += sums[s];
        y[r] = sums[0];
    }
}
