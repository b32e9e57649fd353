#include <stdint.h>

void reduce(const float *x, float *sums, int32_t rows, int32_t n) {
	for (int32_t r = 0; r < rows; r++) {
		double sum = 0;
		for (int32_t i = 0; i < n; i++)
			sum += x[r * n + i];
		sums[r] = (float)sum;
	}
}
