#include <stdint.h>

void convolution(const float *image, const float *filter, float *result, int32_t h, int32_t w) {
	for (int32_t y = 0; y < h; y++)
		for (int32_t x = 0; x < w; x++) {
			double sum = 0;
			for (int i = 0; i < FILTER; i++)
				for (int j = 0; j < FILTER; j++)
					sum += (double)filter[i * FILTER + j] * image[(y + i) * (w + FILTER - 1) + x + j];
			result[y * w + x] = (float)sum;
		}
}
