/*
 * The worker's own four kernels in C, for the imaginary driver: the same names,
 * arguments and findings as support/support.cu. The fake nvcc takes this in its
 * place. Only the checksum's formula is another one.
 */
#include <math.h>
#include <string.h>

enum { F64, F32, F16, BF16, I64, I32, U8, E4M3, E5M2 };

static double half_value(uint16_t bits) {
	int exponent = bits >> 10 & 31, fraction = bits & 1023;
	double sign = bits & 0x8000 ? -1 : 1;
	if (exponent == 31)
		return fraction ? NAN : sign * INFINITY;
	return exponent ? sign * ldexp(1024 + fraction, exponent - 25) : sign * ldexp(fraction, -24);
}

/* E5M2 is a half without its last eight bits. */
static double e4m3_value(uint8_t bits) {
	int exponent = bits >> 3 & 15, fraction = bits & 7;
	double sign = bits & 0x80 ? -1 : 1;
	if ((bits & 0x7f) == 0x7f)
		return NAN;
	return exponent ? sign * ldexp(8 + fraction, exponent - 10) : sign * ldexp(fraction, -9);
}

static double value(int type, const void *elements, uint64_t i) {
	float wide;
	uint32_t bits;
	switch (type) {
	case F64: return ((const double *)elements)[i];
	case F32: return ((const float *)elements)[i];
	case F16: return half_value(((const uint16_t *)elements)[i]);
	case BF16:
		bits = (uint32_t)((const uint16_t *)elements)[i] << 16;
		memcpy(&wide, &bits, sizeof wide);
		return wide;
	case I64: return ((const int64_t *)elements)[i];
	case I32: return ((const int32_t *)elements)[i];
	case U8: return ((const uint8_t *)elements)[i];
	case E4M3: return e4m3_value(((const uint8_t *)elements)[i]);
	case E5M2: return half_value((uint16_t)(((const uint8_t *)elements)[i] << 8));
	default: return NAN;
	}
}

struct finding { uint64_t bad, inverted_first, undefined, worst; };

KERNEL(pawl_compare, 7) {
	int type = ARGUMENT(int, 0);
	const void *got = ARGUMENT(void *, 1), *want = ARGUMENT(void *, 2);
	uint64_t count = ARGUMENT(uint64_t, 3);
	double atol = ARGUMENT(double, 4), rtol = ARGUMENT(double, 5), worst = 0;
	struct finding *finding = ARGUMENT(struct finding *, 6);
	for (uint64_t i = 0; i < count; i++) {
		double x = value(type, got, i), reference = value(type, want, i);
		if (!isfinite(reference)) {
			finding->undefined++;
			continue;
		}
		double deviation = fabs(x - reference);
		if (deviation <= atol + rtol * fabs(reference))
			continue;
		if (!finding->bad++)
			finding->inverted_first = ~i;
		worst = fmax(worst, isfinite(deviation) ? deviation : INFINITY);
	}
	memcpy(&finding->worst, &worst, sizeof worst);
	return 0;
}

KERNEL(pawl_sum, 3) {
	const uint8_t *bytes = ARGUMENT(const uint8_t *, 0);
	uint64_t count = ARGUMENT(uint64_t, 1), sum = 14695981039346656037u;
	for (uint64_t i = 0; i < count; i++)
		sum = (sum ^ bytes[i]) * 1099511628211u;
	*ARGUMENT(uint64_t *, 2) += sum;
	return 0;
}

KERNEL(pawl_guard, 4) {
	const uint8_t *bytes = ARGUMENT(const uint8_t *, 0);
	uint64_t count = ARGUMENT(uint64_t, 1);
	uint32_t pattern = ARGUMENT(uint32_t, 2);
	for (uint64_t i = 0; i < count; i++)
		*ARGUMENT(uint64_t *, 3) += bytes[i] != pattern;
	return 0;
}

KERNEL(pawl_hold, 1) {
	fake_milliseconds = ARGUMENT(uint64_t, 0) * 1e-6;
	return 0;
}
