#include <stdint.h>

/* Plain code that is easy to trust. It sees no parameters. */
void scale(const float *x, float *y, int32_t N) {
	for (int i = 0; i < N; i++)
		y[i] = (float)(2.0 * x[i]);
}
