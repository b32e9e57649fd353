#include <stdint.h>

void halve(const float *x, float *y, int32_t N) {
	for (int i = 0; i < N; i++)
		y[i] = (float)((double)x[i] / 2);
}
