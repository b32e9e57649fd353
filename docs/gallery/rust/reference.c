#include <stdint.h>

void blocked_dot(const float *x, const float *y, float *sums, int32_t B, int32_t N) {
	for (int i = 0; i < B; i++) {
		double sum = 0;
		for (int j = 0; j < N; j++)
			sum += (double)x[i * N + j] * y[i * N + j];
		sums[i] = (float)sum;
	}
}
