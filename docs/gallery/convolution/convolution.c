#include <stdint.h>

float d_filter[FILTER * FILTER]; /* set once, before the first call */

void convolution(const float *image, float *result, int32_t h, int32_t w) {
	int32_t pitch = w + FILTER - 1;
	for (int32_t y = 0; y < h; y++)
		for (int32_t x = 0; x < w; x += STRIP) {
			int width = w - x < STRIP ? w - x : STRIP;
			float sum[STRIP] = {0};
			for (int a = 0; a < FILTER; a++)
				for (int b = 0; b < FILTER; b++) {
					int i = ROWS_FIRST ? a : b, j = ROWS_FIRST ? b : a;
					for (int s = 0; s < width; s++)
						sum[s] += d_filter[i * FILTER + j] * image[(y + i) * pitch + x + s + j];
				}
			for (int s = 0; s < width; s++)
				result[y * w + x + s] = sum[s];
		}
}
