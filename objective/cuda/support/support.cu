// What the worker needs on the device beside the kernel under test: checking
// without copying results to the host, and holding a stream back.
//
// No headers: this compiles with nvcc and with NVRTC, wherever they are.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

// The types of elements, numbered as in support.go.
enum { F64, F32, F16, BF16, I64, I32, U8, E4M3, E5M2 };

static __device__ double half_value(u16 bits) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
}

// An 8-bit float: `mantissa` bits of fraction, the exponent biased by `bias`.
// E4M3 has no infinity, and its one NaN is all ones; E5M2 is like IEEE.
static __device__ double small_value(u8 bits, int mantissa, int bias, bool ieee) {
    int fraction = bits & ((1 << mantissa) - 1), exponent = (bits & 0x7f) >> mantissa;
    int top = (1 << (7 - mantissa)) - 1;
    double sign = bits & 0x80 ? -1.0 : 1.0;
    if (exponent == top && (ieee || fraction == (1 << mantissa) - 1)) {
        if (ieee && fraction == 0) return sign * __longlong_as_double(0x7ff0000000000000LL);
        return __longlong_as_double(0x7ff8000000000000LL);
    }
    if (exponent == 0) return sign * ldexp((double)fraction, 1 - bias - mantissa);
    return sign * ldexp((double)(fraction + (1 << mantissa)), exponent - bias - mantissa);
}

static __device__ double value(int type, const void *elements, u64 i) {
    switch (type) {
    case F64: return ((const double *)elements)[i];
    case F32: return ((const float *)elements)[i];
    case F16: return half_value(((const u16 *)elements)[i]);
    case BF16: return __uint_as_float((u32)((const u16 *)elements)[i] << 16);
    case I64: return (double)((const i64 *)elements)[i];
    case I32: return ((const int *)elements)[i];
    case U8: return ((const u8 *)elements)[i];
    case E4M3: return small_value(((const u8 *)elements)[i], 3, 7, false);
    default: return small_value(((const u8 *)elements)[i], 2, 15, true);
    }
}

// Finding is read by the host: see finding in support.go. Everything starts at
// zero, so the first bad index is kept inverted: the largest is the first.
struct Finding { u64 bad, inverted_first, undefined, worst; };

// Compares element by element: |x - ref| <= atol + rtol * |ref|, written so that
// a result that is not a number fails.
extern "C" __global__ void pawl_compare(int type, const void *got, const void *want, u64 count, double atol, double rtol, Finding *finding) {
    u64 bad = 0, undefined = 0, first = ~0ULL;
    double worst = 0;
    for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < count; i += (u64)gridDim.x * blockDim.x) {
        double x = value(type, got, i), reference = value(type, want, i);
        if (!isfinite(reference)) {
            undefined++;
            continue;
        }
        double deviation = fabs(x - reference);
        if (deviation <= atol + rtol * fabs(reference)) continue;
        if (!(deviation <= 1.7976931348623157e308)) deviation = __longlong_as_double(0x7ff0000000000000LL);
        bad++;
        if (i < first) first = i;
        worst = fmax(worst, deviation);
    }
    if (undefined) atomicAdd(&finding->undefined, undefined);
    if (!bad) return;
    atomicAdd(&finding->bad, bad);
    atomicMax(&finding->inverted_first, ~first);
    atomicMax(&finding->worst, (u64)__double_as_longlong(worst)); // non-negative doubles order like integers
}

// Adds a checksum of bytes to the first word of a finding: it does not depend on the order of threads
// and notices every single changed byte.
extern "C" __global__ void pawl_sum(const u8 *bytes, u64 count, u64 *sum) {
    u64 total = 0;
    u64 words = ((u64)bytes & 7) ? 0 : count / 8;
    u64 step = (u64)gridDim.x * blockDim.x, start = blockIdx.x * (u64)blockDim.x + threadIdx.x;
    for (u64 i = start; i < words; i += step) {
        u64 word = ((const u64 *)bytes)[i] + 0x9e3779b97f4a7c15ULL * (i + 1);
        word = (word ^ (word >> 31)) * 0xbf58476d1ce4e5b9ULL;
        total += word ^ (word >> 29);
    }
    for (u64 i = words * 8 + start; i < count; i += step) {
        u64 word = bytes[i] + 0x94d049bb133111ebULL * (i + 1);
        word = (word ^ (word >> 31)) * 0xbf58476d1ce4e5b9ULL;
        total += word ^ (word >> 29);
    }
    for (int other = 16; other > 0; other /= 2) total += __shfl_down_sync(0xffffffff, total, other);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, total);
}

// Counts the bytes of a guard zone that are not what they were.
extern "C" __global__ void pawl_guard(const u8 *bytes, u64 count, u32 pattern, u64 *changed) {
    u64 different = 0;
    for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < count; i += (u64)gridDim.x * blockDim.x)
        different += bytes[i] != pattern;
    if (different) atomicAdd(changed, different);
}

// Holds the stream back, so that what follows is queued before it starts and
// the time of queueing stays out of the figure.
extern "C" __global__ void pawl_hold(u64 nanoseconds) {
    u64 start, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - start < nanoseconds);
}
