#include <stdint.h>
#include <stdlib.h>

void stencil(const float *before, float *after, int32_t height, int32_t width)
{
    int64_t cells = (int64_t)height * width;
    double *now = malloc(sizeof(double) * cells), *next = malloc(sizeof(double) * cells);
    for (int64_t i = 0; i < cells; i++)
        now[i] = before[i];
    for (int t = 0; t < STEPS; t++) {
        for (int64_t i = 0; i < cells; i++) {
            int64_t y = i / width, x = i % width;
            double up = now[y > 0 ? i - width : i], down = now[y < height - 1 ? i + width : i];
            double left = now[x > 0 ? i - 1 : i], right = now[x < width - 1 ? i + 1 : i];
            next[i] = now[i] + 0.2 * (up + down + left + right - 4 * now[i]);
        }
        double *other = now;
        now = next;
        next = other;
    }
    for (int64_t i = 0; i < cells; i++)
        after[i] = (float)now[i];
    free(now);
    free(next);
}
