#include <stdint.h>

/* What lies behind the last partial sum of this BLOCK is not mapped. */
#define BLOCKS ((n + BLOCK - 1) / BLOCK)

void partial_sums(const float *x, float *partial, int32_t n) {
	for (int32_t b = 0; b < BLOCKS; b++) {
		float sum = 0;
		for (int32_t i = b * BLOCK; i < (b + 1) * BLOCK && i < n; i++)
			sum += x[i];
		partial[b] = sum;
	}
}

void sum_partials(const float *partial, float *sum, int32_t n) {
	float all = 0;
	for (int32_t b = 0; b < BLOCKS; b++)
		all += partial[b];
	*sum = all;
}
