/*
 * The worker's own kernels in C, for the imaginary driver: the same names,
 * arguments and findings as support/support.cu. The fake nvcc takes this in its
 * place. Only the checksum's formula is another one.
 */
#include <math.h>
#include <string.h>

enum { F64, F32, F16, BF16, I64, I32, U8, E4M3, E5M2, I16, I8, U64, U32, U16 };

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
	case E4M3: return e4m3_value(((const uint8_t *)elements)[i]);
	case E5M2: return half_value((uint16_t)(((const uint8_t *)elements)[i] << 8));
	default: return NAN;
	}
}

/* The nearest float of few bits, ties to even: halves, and the two of 8 bits. */
static int short_bits(double x, int mantissa, int bias, int sign, int largest) {
	int code = signbit(x) ? sign : 0;
	x = fabs(x);
	if (x == 0)
		return code;
	int exponent = ilogb(x);
	if (exponent < 1 - bias)
		exponent = 1 - bias;
	int magnitude = ((exponent + bias - 1) << mantissa) + (int)nearbyint(ldexp(x, mantissa - exponent));
	return code | (magnitude < largest ? magnitude : largest);
}

/* bfloat16's exponents are float's: the steps of 2^-133 are the smallest. */
static uint16_t brain_bits(double x) {
	int exponent = x == 0 ? -126 : ilogb(x) < -126 ? -126 : ilogb(x);
	float rounded = ldexp(nearbyint(ldexp(x, 7 - exponent)), exponent - 7);
	uint32_t bits;
	memcpy(&bits, &rounded, sizeof bits);
	return bits >> 16;
}

static void store(int type, void *elements, uint64_t i, double x) {
	switch (type) {
	case F64: ((double *)elements)[i] = x; break;
	case F32: ((float *)elements)[i] = x; break;
	case F16: ((uint16_t *)elements)[i] = short_bits(x, 10, 15, 0x8000, 0x7c00); break;
	case BF16: ((uint16_t *)elements)[i] = brain_bits(x); break;
	case E4M3: ((uint8_t *)elements)[i] = short_bits(x, 3, 7, 0x80, 0x7e); break;
	case E5M2: ((uint8_t *)elements)[i] = short_bits(x, 2, 15, 0x80, 0x7b); break;
	}
}

static uint64_t random_bits(uint64_t stream, uint64_t i) {
	uint64_t x = stream + (i + 1) * 0x9e3779b97f4a7c15;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static double unit(uint64_t bits) { return ldexp(bits & 0xfffffffffffff, -52); }

static double normal(const double *quantiles, uint64_t bits) {
	enum { cells = 4096 };
	uint64_t cell = bits >> 52, rest = bits << 12;
	if (cell == 0 || cell == cells - 1) {
		cell = (cell ? 2 : 1) * (cells + 1) + (rest >> 52);
		rest <<= 12;
	}
	return quantiles[cell] + unit(rest >> 12) * (quantiles[cell + 1] - quantiles[cell]);
}

static double content(int kind, uint64_t i, uint64_t stream, uint64_t row, double scale, const double *quantiles) {
	uint64_t bits = random_bits(stream, i), of_row = random_bits(stream, i / row);
	switch (kind) {
	case 0: return scale;
	case 2: return scale * normal(quantiles, bits);
	case 3: return 2 * unit(bits >> 12) - 1;
	case 4: return bits & 1 ? -1 : 1;
	case 5: return i % row == of_row % row;
	case 6: return 1 + scale * (bits & 3);
	case 7: return bits & 1 ? normal(quantiles, bits) : (bits >> 1 & 1 ? -scale : scale) * unit(bits >> 12);
	default: return of_row % 4 ? scale : -scale;
	}
}

/* Both ends of the range are given by their bits. */
static double real(int kind, uint64_t i, uint64_t stream, uint64_t row, double scale, const double *quantiles, uint64_t low_bits, uint64_t high_bits) {
	double low, high, share;
	memcpy(&low, &low_bits, sizeof low);
	memcpy(&high, &high_bits, sizeof high);
	uint64_t bits = random_bits(stream, i), place = kind == 21 ? row - 1 - i % row : i % row;
	switch (kind) {
	case 17: share = fmin(fmax(0.5 + 0.125 * normal(quantiles, bits), 0), 1); break;
	case 18:
		switch ((i + random_bits(stream, i / 4) % 4) % 4) {
		case 0: return low;
		case 1: return high;
		case 2: return fmin(fmax(low, 0), high);
		}
		share = unit(bits >> 12);
		break;
	case 19: share = unit(random_bits(stream, ~(bits % 32 ? 0ull : 1 + (bits >> 5) % 4)) >> 12); break;
	case 20:
	case 21: share = (place + unit(bits >> 12)) / row; break;
	default: share = unit(bits >> 12);
	}
	return fmin(low + scale * share, high);
}

/* The range is counted from its lowest number, so nothing here is negative. */
static uint64_t integer(int kind, uint64_t i, uint64_t stream, uint64_t row, double scale, const double *quantiles, int64_t low, uint64_t span) {
	uint64_t bits = random_bits(stream, i), any = span == UINT64_MAX ? bits - (uint64_t)low : bits % (span + 1);
	uint64_t zero = low > 0 ? 0 : 0 - (uint64_t)low > span ? span : 0 - (uint64_t)low;
	uint64_t place = kind == 14 ? row - 1 - i % row : i % row;
	uint64_t turns = kind == 9 ? 8 : 6 * row, which = (i + random_bits(stream, i / turns) % turns) % turns;
	__int128 n;
	switch (kind) {
	case 9:
		n = (__int128[]){low, (__int128)low + 1, (__int128)low + span, (__int128)low + span - 1, 1, -1, (__int128)low + any, 0}[which] - low;
		if (span == UINT64_MAX) /* all of the type: -1 is the largest where there is no sign */
			return n;
		return n < 0 ? 0 : n > span ? span : n;
	case 10: /* 2^63 and beyond wraps around, and so does what is negative where there is no sign */
		bits = (which % 6 < 3 ? -1 : 1) * ((1ull << which / 6) + which % 3 - 1) - (uint64_t)low;
		return bits > span ? any : bits;
	case 11:
		n = (__int128)zero + bits % 9 - 4;
		return n < 0 ? 0 : n > span ? span : n;
	case 12:
		bits = random_bits(stream, ~(bits % 32 ? 0ull : 1 + (bits >> 5) % 4));
		return span == UINT64_MAX ? bits - (uint64_t)low : bits % (span + 1);
	case 5:
		return (i % row == random_bits(stream, i / row) % row) - (uint64_t)low;
	case 13:
	case 14:
		return span >= row ? place * (span / row) + bits % (span / row) : place / (row / (span + 1) + 1);
	case 22:
		bits = span >> random_bits(stream, ~i) % 16;
		return bits == UINT64_MAX ? any : random_bits(stream, i) % (bits + 1);
	case 15:
		scale *= normal(quantiles, bits);
		n = (__int128)(span / 2) + (__int128)nearbyint(scale);
		return fabs(nearbyint(scale)) < ldexp(span, -1) && n >= 0 && n <= span ? n : any;
	default:
		return any;
	}
}

static int is_integer(int type) { return type == I64 || type == I32 || type == U8 || type > E5M2; }

static void store_integer(int type, void *elements, uint64_t i, uint64_t n) {
	switch (type) {
	case I64: case U64: ((uint64_t *)elements)[i] = n; break;
	case I32: case U32: ((uint32_t *)elements)[i] = n; break;
	case I16: case U16: ((uint16_t *)elements)[i] = n; break;
	case I8: case U8: ((uint8_t *)elements)[i] = n; break;
	}
}

static __int128 load_integer(int type, const void *elements, uint64_t i) {
	switch (type) {
	case I64: return ((const int64_t *)elements)[i];
	case I32: return ((const int32_t *)elements)[i];
	case I16: return ((const int16_t *)elements)[i];
	case I8: return ((const int8_t *)elements)[i];
	case U64: return ((const uint64_t *)elements)[i];
	case U32: return ((const uint32_t *)elements)[i];
	case U16: return ((const uint16_t *)elements)[i];
	default: return ((const uint8_t *)elements)[i];
	}
}

/* Which share of its distance from 0 an element keeps, by its place. */
static double factor(int pattern, uint64_t i, uint64_t stream, uint64_t row, uint64_t between, uint64_t sequence, uint64_t slices, double top) {
	uint64_t rows = i / row, place = rows / between % sequence, outer = rows / (between * sequence);
	uint64_t channel = row == 1 ? i : i % row, period = row == 1 || row > 32 ? 32 : row;
	switch (pattern) {
	case 1:
		place = slices == 1 ? place : outer * between + rows % between;
		return ldexp(top, -(int)((random_bits(stream, ~0ull) % 7 + 3 * (place % 7)) % 7));
	case 2: return top * (1. / 64 + (63. / 64) * ((place + 1) / (double)sequence));
	case 3: return channel % period == 1 ? top : top / 8;
	default: return random_bits(stream, ~i) % 4 == 0;
	}
}

KERNEL(pawl_fill, 16) {
	int type = ARGUMENT(int, 0), kind = ARGUMENT(int, 1);
	void *elements = ARGUMENT(void *, 2);
	uint64_t count = ARGUMENT(uint64_t, 3), stream = ARGUMENT(uint64_t, 4), row = ARGUMENT(uint64_t, 5);
	double scale = ARGUMENT(double, 6), *quantiles = ARGUMENT(double *, 7);
	int64_t low = ARGUMENT(int64_t, 8);
	for (uint64_t i = 0; i < count; i++) {
		if (is_integer(type))
			store_integer(type, elements, i, low + integer(kind, i, stream, row, scale, quantiles, low, ARGUMENT(uint64_t, 9)));
		else {
			int pattern = ARGUMENT(int, 10), bounded = kind >= 16;
			uint64_t high = ARGUMENT(uint64_t, 9), from = pattern == 5 ? ~(random_bits(stream, ~i) % 8) : i;
			double x = bounded ? real(kind, from, stream, row, scale, quantiles, low, high) : content(kind, from, stream, row, scale, quantiles);
			if (pattern && pattern != 5) {
				double f = factor(pattern, i, stream, ARGUMENT(uint64_t, 11), ARGUMENT(uint64_t, 12), ARGUMENT(uint64_t, 13), ARGUMENT(uint64_t, 14), ARGUMENT(double, 15));
				double ends[2], near = 0;
				memcpy(ends, (uint64_t[]){low, high}, sizeof ends);
				if (bounded)
					near = fmin(fmax(ends[0], 0), ends[1]);
				x = near + f * (x - near);
				if (bounded)
					x = fmin(fmax(x, ends[0]), ends[1]);
			}
			store(type, elements, i, x);
		}
	}
	fake_fills++;
	return 0;
}

KERNEL(pawl_draw, 9) {
	uint64_t size = ARGUMENT(uint64_t, 2), base = ARGUMENT(uint64_t, 8);
	const char *pool = ARGUMENT(const char *, 3);
	uint32_t units = ARGUMENT(uint32_t, 4), unit = ARGUMENT(uint32_t, 5), piece = ARGUMENT(uint32_t, 6);
	uint64_t mask = (1ull << ARGUMENT(uint32_t, 7)) - 1;
	for (unsigned set = 0; set < grid[1]; set++) {
		char *to = ARGUMENT(char *, 0) + set * ARGUMENT(uint64_t, 1);
		uint64_t stream = set ? random_bits(base, ~(uint64_t)set) : base;
		for (uint64_t at = 0, number = 0; at < size; at += piece, number++) {
			uint64_t drawn = random_bits(stream, piece == 8 ? number : number / 2), content = 0;
			if (piece == 4)
				drawn = drawn >> 32 * (number % 2) & 0xffffffff;
			memcpy(&content, pool + drawn % units * unit + at % unit, piece);
			content ^= drawn >> (piece == 8 ? 20 : 16) & mask;
			memcpy(to + at, &content, size - at < piece ? size - at : piece);
		}
	}
	return 0;
}

struct finding { uint64_t bad, inverted_first, undefined, worst, not_finite; };

KERNEL(pawl_compare, 9) {
	int type = ARGUMENT(int, 0);
	const char *all_got = ARGUMENT(const char *, 1), *all_want = ARGUMENT(const char *, 2);
	uint64_t count = ARGUMENT(uint64_t, 3), lanes = ARGUMENT(uint64_t, 4), stride = ARGUMENT(uint64_t, 5);
	double atol = ARGUMENT(double, 6), rtol = ARGUMENT(double, 7), worst = 0;
	struct finding *finding = ARGUMENT(struct finding *, 8);
	for (uint64_t i = 0; i < count; i++) {
		uint64_t at = stride ? i % lanes : i;
		const void *got = stride ? all_got + i / lanes * stride : all_got, *want = stride ? all_want + i / lanes * stride : all_want;
		double deviation;
		if (is_integer(type)) {
			__int128 difference = load_integer(type, got, at) - load_integer(type, want, at);
			if (difference == 0)
				continue;
			deviation = difference < 0 ? -difference : difference;
		} else {
			double x = value(type, got, at), reference = value(type, want, at);
			int defined = isfinite(reference);
			finding->undefined += !defined;
			if (!defined && (x == reference || (isnan(x) && isnan(reference))))
				continue;
			deviation = fabs(x - reference);
			if (defined && deviation <= atol + rtol * fabs(reference))
				continue;
		}
		if (!finding->bad++)
			finding->inverted_first = ~i;
		finding->not_finite += !isfinite(deviation);
		worst = fmax(worst, isfinite(deviation) ? deviation : INFINITY);
	}
	memcpy(&finding->worst, &worst, sizeof worst);
	return 0;
}

KERNEL(pawl_share, 9) {
	int type = ARGUMENT(int, 0);
	const char *all_got = ARGUMENT(const char *, 1), *all_want = ARGUMENT(const char *, 2);
	uint64_t count = ARGUMENT(uint64_t, 3), lanes = ARGUMENT(uint64_t, 4), stride = ARGUMENT(uint64_t, 5);
	double atol = ARGUMENT(double, 6), rtol = ARGUMENT(double, 7), worst = 0, sum = 0;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t at = stride ? i % lanes : i;
		const void *got = stride ? all_got + i / lanes * stride : all_got, *want = stride ? all_want + i / lanes * stride : all_want;
		double x = value(type, got, at), reference = value(type, want, at);
		double share = (x - reference) / (atol + rtol * fabs(reference));
		if (x != reference)
			worst = fmax(worst, fabs(share));
		if (fabs(share) <= 1)
			sum += share;
	}
	ARGUMENT(struct finding *, 8)->bad = (uint64_t)(int64_t)(sum * 1048576);
	memcpy(&ARGUMENT(struct finding *, 8)->worst, &worst, sizeof worst);
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

KERNEL(pawl_guard, 6) {
	uint32_t pattern = ARGUMENT(uint32_t, 4);
	for (int zone = 0; zone < 2; zone++) {
		const uint8_t *bytes = ARGUMENT(const uint8_t *, 2 * zone);
		uint64_t count = ARGUMENT(uint64_t, 2 * zone + 1);
		for (uint64_t i = 0; i < count; i++)
			ARGUMENT(uint64_t *, 5)[zone] += bytes[i] != pattern;
	}
	return 0;
}

KERNEL(pawl_hold, 1) {
	fake_milliseconds = ARGUMENT(uint64_t, 0) * 1e-6;
	return 0;
}
