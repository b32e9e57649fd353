#include <stdint.h>

void prefix_sum(uint32_t *x, int32_t rows, int32_t n) {
	for (int32_t r = 0; r < rows; r++, x += n) {
		uint32_t carry = 0;
		int32_t i = 0;
		for (; i + WIDTH <= n; i += WIDTH) {
			for (int w = 1; w < WIDTH; w++)
				x[i + w] += x[i + w - 1];
			for (int w = 0; w < WIDTH; w++)
				x[i + w] += carry;
			carry = x[i + WIDTH - 1];
		}
		for (; i < n; i++)
			carry = x[i] += carry;
	}
}
