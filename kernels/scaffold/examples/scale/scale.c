#include <stdint.h>

/* BLOCK elements at a time; REPEAT is how often, and more than once is a waste. */
void scale(const float *x, float *y, int32_t N) {
	for (int repeat = 0; repeat < REPEAT; repeat++)
		for (int i = 0; i < N; i += BLOCK)
			for (int j = i; j < i + BLOCK && j < N; j++)
				y[j] = 2 * x[j];
}
