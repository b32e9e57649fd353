#include <stdint.h>

void transpose_tiles(const float *x, float *y, int32_t M, int32_t N) {
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++)
			y[j * M + i] = x[i * N + j];
}
