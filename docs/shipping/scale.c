/* The library's function: it calls the variant for a size on this processor. */
#include <stdint.h>

#include "scale.h"
#include "scale_dispatch.h"

const char *device_name(void);

typedef void scale_function(const float *x, float *y, int32_t N);
#define DECLARE(number, function) scale_function function;
SCALE_DISPATCH_EACH(DECLARE)
#define LIST(number, function) function,
static scale_function *const functions[] = {SCALE_DISPATCH_EACH(LIST)};

int scale_variant(int32_t N) { return scale_dispatch(device_name(), N); }

void scale(const float *x, float *y, int32_t N) {
	int variant = scale_variant(N);
	functions[variant < 0 ? 0 : variant](x, y, N);
}
