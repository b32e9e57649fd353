/* The definition of attention, in double precision: per query, softmax over
 * the scores of all keys and the values weighted by it. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

void attention_forward(const float *q, const float *k, const float *v, float *o,
                       float scale, int32_t B, int32_t H, int32_t S, int32_t D)
{
    double *weight = malloc((size_t)S * sizeof *weight);
    if (!weight)
        abort();

    for (int64_t row = 0; row < (int64_t)B * H * S; row++) {
        const int64_t head = row / S * S * D;
        double largest = -INFINITY, sum = 0;

        for (int64_t n = 0; n < S; n++) {
            weight[n] = 0;
            for (int64_t d = 0; d < D; d++)
                weight[n] += (double)q[row * D + d] * k[head + n * D + d];
            weight[n] *= scale;
            largest = fmax(largest, weight[n]);
        }
        for (int64_t n = 0; n < S; n++)
            sum += weight[n] = exp(weight[n] - largest);
        for (int64_t d = 0; d < D; d++) {
            double mixed = 0;
            for (int64_t n = 0; n < S; n++)
                mixed += weight[n] * v[head + n * D + d];
            o[row * D + d] = (float)(mixed / sum);
        }
    }
    free(weight);
}
