#include <stdint.h>

void csr(const int32_t *starts, const int32_t *columns, const float *values, const float *x, float *y, int32_t rows)
{
    for (int32_t r = 0; r < rows; r++) {
        double sum = 0;
        for (int32_t i = starts[r]; i < starts[r + 1]; i++)
            sum += (double)values[i] * x[columns[i]];
        y[r] = (float)sum;
    }
}
