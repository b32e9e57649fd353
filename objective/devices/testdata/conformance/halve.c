#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

enum { good, wrong, unbuilt, crashes, hangs };
typedef char built[MODE == unbuilt ? -1 : 1];

void halve(const float *x, float *y, int32_t N) {
	if (MODE == crashes)
		abort();
	while (MODE == hangs)
		pause();
	for (int i = 0; i < N; i++)
		y[i] = x[i] / 2 + (MODE == wrong);
}
