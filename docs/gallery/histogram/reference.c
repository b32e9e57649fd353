#include <stdint.h>

void histogram(const uint8_t *x, uint32_t *counts, int32_t n) {
	for (int32_t i = 0; i < n; i++)
		counts[x[i]]++;
}
