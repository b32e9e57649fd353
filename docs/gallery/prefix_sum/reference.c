#include <stdint.h>

void prefix_sum(uint32_t *x, int32_t rows, int32_t n) {
	for (int32_t r = 0; r < rows; r++)
		for (int32_t i = 1; i < n; i++)
			x[r * n + i] += x[r * n + i - 1];
}
