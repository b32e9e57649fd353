#include "scale.h"
int main(void) {
	float x[3] = {1, 2, 3}, y[3] = {0, 0, 0};
	scale(x, y, 3);
	return y[2] == 6 && scale_variant(3) >= 0 ? 0 : 1;
}
