#include <math.h>
#include <stdint.h>

void row_stats(const float *x, float *stats, int32_t rows, int32_t n) {
	for (int32_t r = 0; r < rows; r++, x += n) {
		float largest = -INFINITY, sum = 0;
		for (int32_t i = 0; i < n; i++)
			largest = x[i] > largest ? x[i] : largest;
		float part[UNROLL] = {0};
		int32_t i = 0;
		for (; i + UNROLL <= n; i += UNROLL)
			for (int u = 0; u < UNROLL; u++)
				part[u] += expf(x[i + u] - largest);
		for (; i < n; i++)
			sum += expf(x[i] - largest);
		for (int u = 0; u < UNROLL; u++)
			sum += part[u];
		stats[2 * r] = largest;
		stats[2 * r + 1] = sum;
	}
}

void normalize(const float *x, const float *stats, float *y, int32_t rows, int32_t n) {
	for (int32_t r = 0; r < rows; r++, x += n, y += n) {
		float largest = stats[2 * r], sum = stats[2 * r + 1], inverse = 1 / sum;
		for (int32_t i = 0; i < n; i++)
			y[i] = MULTIPLY ? expf(x[i] - largest) * inverse : expf(x[i] - largest) / sum;
	}
}
