/* The definition of matmul, summed in double precision. */
#include <stdint.h>

void matmul(const float *a, const float *b, float *c, int32_t M, int32_t N, int32_t K)
{
    for (int64_t i = 0; i < M; i++)
        for (int64_t j = 0; j < N; j++) {
            double sum = 0;
            for (int64_t k = 0; k < K; k++)
                sum += (double)a[i * K + k] * b[k * N + j];
            c[i * N + j] = (float)sum;
        }
}
