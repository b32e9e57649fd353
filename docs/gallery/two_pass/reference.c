#include <stdint.h>

void total(const float *x, float *sum, int32_t n) {
	double all = 0;
	for (int32_t i = 0; i < n; i++)
		all += x[i];
	*sum = (float)all;
}
