/*
 * What support/support.cu needs of CUDA, for a C++ compiler: one thread, and the
 * conversions in words. The test puts this before the source, with the names of
 * what it replaces.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define __device__
#define __global__

static struct { unsigned x, y, z; } blockIdx, threadIdx, blockDim = {1, 1, 1}, gridDim = {1, 1, 1};

template <class To, class From> static To as(From from) {
	To to;
	static_assert(sizeof to == sizeof from, "the same bits");
	memcpy(&to, &from, sizeof to);
	return to;
}

static double __longlong_as_double(long long bits) { return as<double>(bits); }
static long long __double_as_longlong(double x) { return as<long long>(x); }
static float __uint_as_float(unsigned bits) { return as<float>(bits); }
static unsigned __float_as_uint(float x) { return as<unsigned>(x); }
static double __dadd_rn(double a, double b) { return a + b; }
static double __dsub_rn(double a, double b) { return a - b; }
static double __dmul_rn(double a, double b) { return a * b; }
static double __ddiv_rn(double a, double b) { return a / b; }
static float __double2float_rn(double x) { return (float)x; }

static float __double2float_rz(double x) {
	float nearest = (float)x;
	return fabs((double)nearest) > fabs(x) ? nextafterf(nearest, 0) : nearest;
}

static unsigned long long __shfl_down_sync(unsigned, unsigned long long, int) { return 0; }
static void atomicAdd(unsigned long long *to, unsigned long long n) { *to += n; }
static void atomicMax(unsigned long long *to, unsigned long long n) { *to = *to > n ? *to : n; }

static float half_to_float(unsigned short bits) {
	int exponent = bits >> 10 & 31, fraction = bits & 1023;
	double magnitude = exponent == 31 ? (fraction ? NAN : INFINITY) : exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
	return (float)(bits & 0x8000 ? -magnitude : magnitude);
}

static unsigned short double_to_half(double x) {
	unsigned short sign = signbit(x) ? 0x8000 : 0;
	x = fabs(x);
	if (x == 0)
		return sign;
	int exponent = ilogb(x) < -14 ? -14 : ilogb(x);
	int code = ((exponent + 14) << 10) + (int)nearbyint(ldexp(x, 10 - exponent));
	return sign | (code < 0x7c00 ? code : 0x7c00);
}
