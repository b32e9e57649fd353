#include <stdint.h>

/* Neighboring bytes are counted in different histograms, so that equal ones do not wait for
 * each other. */
void histogram(const uint8_t *x, uint32_t *counts, int32_t n) {
	uint32_t own[COPIES][256] = {{0}};
	int32_t i = 0;
	for (; i + UNROLL <= n; i += UNROLL)
		for (int u = 0; u < UNROLL; u++)
			own[u % COPIES][x[i + u]]++;
	for (; i < n; i++)
		own[0][x[i]]++;
	for (int c = 0; c < COPIES; c++)
		for (int bin = 0; bin < 256; bin++)
			counts[bin] += own[c][bin];
}
