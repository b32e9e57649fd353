// What the worker needs on the device beside the kernel under test: inputs that
// are drawn there, checking without copying results to the host, and holding a
// stream back.
//
// No headers: this compiles wherever nvcc is.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

// The types of elements, numbered as in support.go.
enum { F64, F32, F16, BF16, I64, I32, U8, E4M3, E5M2, I16, I8, U64, U32, U16 };

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
    case E4M3: return small_value(((const u8 *)elements)[i], 3, 7, false);
    default: return small_value(((const u8 *)elements)[i], 2, 15, true);
    }
}

static __device__ u16 half_bits(double x) {
    u16 bits;
    asm("cvt.rn.f16.f64 %0, %1;" : "=h"(bits) : "d"(x));
    return bits;
}

// The float on the way is rounded to odd: its last bit says that something was cut
// off, so that rounding again does not take what lies beside the middle for it.
static __device__ u16 brain_bits(double x) {
    float cut = __double2float_rz(x);
    u32 bits = __float_as_uint(cut) | (cut != x);
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

// The nearest 8-bit float, ties to even, no larger than the largest.
static __device__ u8 small_bits(double x, int mantissa, int bias, int largest) {
    u8 sign = signbit(x) ? 0x80 : 0;
    x = fabs(x);
    if (x == 0) return sign;
    int exponent = ilogb(x);
    if (exponent < 1 - bias) exponent = 1 - bias;
    int code = ((exponent + bias - 1) << mantissa) + (int)rint(ldexp(x, mantissa - exponent));
    return sign | (code < largest ? code : largest);
}

static __device__ void store(int type, void *elements, u64 i, double x) {
    switch (type) {
    case F64: ((double *)elements)[i] = x; break;
    case F32: ((float *)elements)[i] = __double2float_rn(x); break;
    case F16: ((u16 *)elements)[i] = half_bits(x); break;
    case BF16: ((u16 *)elements)[i] = brain_bits(x); break;
    case E4M3: ((u8 *)elements)[i] = small_bits(x, 3, 7, 0x7e); break;
    default: ((u8 *)elements)[i] = small_bits(x, 2, 15, 0x7b); break;
    }
}

// Integers do not go by way of floats, which have not enough digits for all of them.
static __device__ bool is_integer(int type) { return type >= I64 && type <= U8 || type >= I16; }

static __device__ i64 integer_value(int type, const void *elements, u64 i) {
    switch (type) {
    case I64: return ((const i64 *)elements)[i];
    case I32: return ((const int *)elements)[i];
    case I16: return ((const short *)elements)[i];
    case I8: return ((const signed char *)elements)[i];
    case U64: return ((const u64 *)elements)[i]; // the bits
    case U32: return ((const u32 *)elements)[i];
    case U16: return ((const u16 *)elements)[i];
    default: return ((const u8 *)elements)[i];
    }
}

static __device__ void store_integer(int type, void *elements, u64 i, u64 n) {
    switch (type) {
    case I64: case U64: ((u64 *)elements)[i] = n; break;
    case I32: case U32: ((u32 *)elements)[i] = (u32)n; break;
    case I16: case U16: ((u16 *)elements)[i] = (u16)n; break;
    default: ((u8 *)elements)[i] = (u8)n; break;
    }
}

// The content of inputs: the kinds, the generator and the arithmetic are those of
// kernels/inputs, to the bit. Nothing is fused, because nothing is there.
enum {
    CONSTANT, INTEGERS, NORMAL, UNIFORM, SIGNS, HOT_ROWS, TIES, SUBNORMALS, SIGNED_ROWS,
    RANGE_ENDS, POWERS_OF_TWO, SMALL_INTEGERS, FEW_INTEGERS, RISING_ROWS, FALLING_ROWS, BELL_INTEGERS,
    REALS, BELL_REALS, REAL_ENDS, FEW_REALS, RISING_REALS, FALLING_REALS, SKEWED_INTEGERS
};
enum { CELLS = 4096 };

static __device__ u64 random_bits(u64 stream, u64 i) {
    u64 x = stream + (i + 1) * 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

static __device__ double unit(u64 bits) {
    return __dsub_rn(__longlong_as_double((bits & 0xfffffffffffffULL) | 1023ULL << 52), 1.0);
}

static __device__ double normal(const double *quantiles, u64 bits) {
    u64 cell = bits >> 52, rest = bits << 12;
    if (cell == 0 || cell == CELLS - 1) {
        cell = (cell == 0 ? CELLS + 1 : 2 * (CELLS + 1)) + (rest >> 52);
        rest <<= 12;
    }
    double low = quantiles[cell], high = quantiles[cell + 1];
    return __dadd_rn(low, __dmul_rn(unit(rest >> 12), __dsub_rn(high, low)));
}

static __device__ double sign_of(u64 bits) { return bits & 1 ? -1.0 : 1.0; }

static __device__ double content(int kind, u64 i, u64 stream, u64 row, double scale, const double *quantiles) {
    u64 bits = random_bits(stream, kind == HOT_ROWS || kind == SIGNED_ROWS ? i / row : i);
    switch (kind) {
    case CONSTANT: return scale;
    case NORMAL: return __dmul_rn(scale, normal(quantiles, bits));
    case UNIFORM: return __dsub_rn(__dmul_rn(2.0, unit(bits >> 12)), 1.0);
    case SIGNS: return sign_of(bits);
    case HOT_ROWS: return i % row == bits % row ? 1.0 : 0.0;
    case TIES: return __dadd_rn(1.0, __dmul_rn(scale, (double)(bits & 3)));
    case SUBNORMALS:
        if (bits & 1) return normal(quantiles, bits);
        return __dmul_rn(__dmul_rn(sign_of(bits >> 1), scale), unit(bits >> 12));
    default: return bits % 4 == 0 ? -scale : scale;
    }
}

// The range of integers, as in kernels/inputs/integers.go. Everything is unsigned, so
// that sums wrap around as they do there.
struct Range { u64 low, span; };

static __device__ u64 any_of(Range r, u64 bits) { return r.span == ~0ULL ? bits : r.low + bits % (r.span + 1); }

static __device__ bool in_range(Range r, u64 n) { return n - r.low <= r.span; }

static __device__ u64 nearest_of(Range r, u64 n) {
    if (in_range(r, n)) return n;
    return (i64)n < (i64)r.low ? r.low : r.low + r.span;
}

static __device__ u64 turn(u64 stream, u64 i, u64 n) { return (i + random_bits(stream, i / n) % n) % n; }

static __device__ u64 end_of(Range r, u64 which, u64 bits) {
    switch (which) {
    case 0: return r.low;
    case 1: return nearest_of(r, r.low + 1);
    case 2: return r.low + r.span;
    case 3: return nearest_of(r, r.low + r.span - 1);
    case 4: return nearest_of(r, 1);
    case 5: return nearest_of(r, ~0ULL);
    case 6: return any_of(r, bits);
    default: return nearest_of(r, 0);
    }
}

static __device__ u64 rising(Range r, u64 row, u64 place, u64 bits) {
    if (r.span >= row) {
        u64 part = r.span / row;
        return r.low + place * part + bits % part;
    }
    return r.low + place / (row / (r.span + 1) + 1);
}

static __device__ u64 integer(int kind, u64 i, u64 stream, u64 row, double scale, Range r, const double *quantiles) {
    u64 bits = random_bits(stream, i);
    switch (kind) {
    case RANGE_ENDS: return end_of(r, turn(stream, i, 8), bits);
    case POWERS_OF_TWO: {
        u64 which = turn(stream, i, 6 * row), power = (1ULL << which / 6) + which % 3 - 1;
        if (which % 6 < 3) power = 0 - power;
        return in_range(r, power) ? power : any_of(r, bits);
    }
    case SMALL_INTEGERS: {
        u64 offset = nearest_of(r, 0) - r.low + bits % 9;
        return r.low + (offset < 4 ? 0 : offset - 4 < r.span ? offset - 4 : r.span);
    }
    case FEW_INTEGERS: return any_of(r, random_bits(stream, ~(bits % 32 ? 0ULL : 1 + (bits >> 5) % 4)));
    case HOT_ROWS: return i % row == random_bits(stream, i / row) % row ? 1 : 0;
    case RISING_ROWS: return rising(r, row, i % row, bits);
    case FALLING_ROWS: return rising(r, row, row - 1 - i % row, bits);
    case SKEWED_INTEGERS: {
        u64 below = r.span >> random_bits(stream, ~i) % 16;
        return below == ~0ULL ? any_of(r, bits) : r.low + bits % (below + 1);
    }
    case BELL_INTEGERS: {
        double distance = rint(__dmul_rn(scale, normal(quantiles, bits)));
        if (fabs(distance) < __dmul_rn(4.0, scale)) {
            u64 n = r.low + r.span / 2 + (u64)(i64)distance;
            if (in_range(r, n)) return n;
        }
        return any_of(r, bits);
    }
    default: return any_of(r, bits);
    }
}

// Floats in a range, as in kernels/inputs/reals.go: low and span are the bits of its ends,
// scale is the distance between them.
static __device__ double real(int kind, u64 i, u64 stream, u64 row, double scale, Range r, const double *quantiles) {
    double low = __longlong_as_double(r.low), high = __longlong_as_double(r.span);
    u64 bits = random_bits(stream, i);
    double share = unit(bits >> 12);
    switch (kind) {
    case REAL_ENDS:
        switch (turn(stream, i, 4)) {
        case 0: return low;
        case 1: return high;
        case 2: return low > 0 ? low : high < 0 ? high : 0.0;
        }
        break;
    case FEW_REALS: share = unit(random_bits(stream, ~(bits % 32 ? 0ULL : 1 + (bits >> 5) % 4)) >> 12); break;
    case RISING_REALS: share = __ddiv_rn(__dadd_rn((double)(i % row), share), (double)row); break;
    case FALLING_REALS: share = __ddiv_rn(__dadd_rn((double)(row - 1 - i % row), share), (double)row); break;
    case BELL_REALS:
        share = __dadd_rn(0.5, __dmul_rn(0.125, normal(quantiles, bits)));
        share = share < 0 ? 0.0 : share > 1 ? 1.0 : share;
        break;
    }
    double x = __dadd_rn(low, __dmul_rn(scale, share));
    return x < high ? x : high;
}

// What depends on the place, as in kernels/inputs/patterns.go.
enum { NO_PATTERN, SCALED_SLICES, GROWING_PLACES, LARGE_CHANNELS, MANY_ZEROS, EIGHT_NUMBERS };
struct Places { u64 row, between, sequence, slices; double top; };

static __device__ double factor(int pattern, u64 i, u64 stream, Places p) {
    u64 row = i / p.row, place = row / p.between % p.sequence;
    switch (pattern) {
    case SCALED_SLICES: {
        u64 slice = p.slices > 1 ? row / (p.between * p.sequence) * p.between + row % p.between : place;
        return __ddiv_rn(p.top, (double)(1ULL << (random_bits(stream, ~0ULL) % 7 + 3 * slice) % 7));
    }
    case GROWING_PLACES: {
        double share = __ddiv_rn((double)(place + 1), (double)p.sequence);
        return __dmul_rn(p.top, __dadd_rn(0.015625, __dmul_rn(0.984375, share)));
    }
    case LARGE_CHANNELS: {
        u64 channel = p.row > 1 ? i % p.row : i, period = p.row > 1 && p.row < 32 ? p.row : 32;
        return channel % period == 1 ? p.top : __ddiv_rn(p.top, 8.0);
    }
    default: return random_bits(stream, ~i) % 4 ? 0.0 : 1.0;
    }
}

extern "C" __global__ void pawl_fill(int type, int kind, void *elements, u64 count, u64 stream, u64 row, double scale, const double *quantiles, u64 low, u64 span,
                                     int pattern, u64 place, u64 between, u64 sequence, u64 slices, double top) {
    Range range = {low, span};
    Places places = {place, between, sequence, slices, top};
    bool reals = kind >= REALS && kind <= FALLING_REALS;
    double first = __longlong_as_double(low), last = __longlong_as_double(span);
    double anchor = !reals ? 0.0 : first > 0 ? first : last < 0 ? last : 0.0;
    for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < count; i += (u64)gridDim.x * blockDim.x) {
        if (is_integer(type)) {
            store_integer(type, elements, i, integer(kind, i, stream, row, scale, range, quantiles));
            continue;
        }
        u64 from = pattern == EIGHT_NUMBERS ? ~(random_bits(stream, ~i) % 8) : i;
        double x = reals ? real(kind, from, stream, row, scale, range, quantiles) : content(kind, from, stream, row, scale, quantiles);
        if (pattern != NO_PATTERN && pattern != EIGHT_NUMBERS) {
            x = __dadd_rn(anchor, __dmul_rn(factor(pattern, i, stream, places), __dsub_rn(x, anchor)));
            if (reals) x = x < first ? first : x > last ? last : x;
        }
        store(type, elements, i, x);
    }
}

// Puts content together from the pieces of a pool, as Draw does in kernels/inputs/renew_inputs.go: for
// several buffers at once, the first from the stream itself and each other one from its own.
extern "C" __global__ void pawl_draw(u8 *first, u64 stride, u64 size, const u32 *pool, u32 units, u32 unit, u32 piece, u32 flips, u64 stream) {
    u8 *to = first + blockIdx.y * stride;
    if (blockIdx.y) stream = random_bits(stream, ~(u64)blockIdx.y);
    u32 words = (u32)((size + 3) / 4), span = piece / 4, each = unit / piece;
    for (u32 w = blockIdx.x * blockDim.x + threadIdx.x; w < words; w += gridDim.x * blockDim.x) {
        u32 number = w / span, part = w % span;
        u64 drawn = span == 1 ? random_bits(stream, number / 2) >> 32 * (number % 2) & 0xffffffff : random_bits(stream, number);
        u32 from = (u32)(drawn & (units - 1)) * each + number % each;
        u64 low = (drawn >> (span == 1 ? 16 : 20)) & ((1ULL << flips) - 1);
        u32 word = pool[from * span + part] ^ (u32)(low >> 32 * part);
        if (w * 4ULL + 4 <= size) ((u32 *)to)[w] = word;
        else for (u32 i = 0; w * 4ULL + i < size; i++) to[w * 4ULL + i] = (u8)(word >> 8 * i);
    }
}

// Finding is read by the host: see finding in support.go. Everything starts at
// zero, so the first bad index is kept inverted: the largest is the first.
struct Finding { u64 bad, inverted_first, undefined, worst, not_finite; };

// Numbers of a field lie in structures, so many in each, a stride apart; without a stride they
// follow each other.
static __device__ const void *in_structure(const u8 *all, u64 i, u64 lanes, u64 stride) {
    return stride ? all + i / lanes * stride : all;
}

// Compares element by element: |x - ref| <= atol + rtol * |ref|, written so that
// a result that is not a number fails. Where the reference is none, or infinite, the result must be the same. Integers
// must be equal.
extern "C" __global__ void pawl_compare(int type, const u8 *all_got, const u8 *all_want, u64 count, u64 lanes, u64 stride, double atol, double rtol, Finding *finding) {
    u64 bad = 0, undefined = 0, not_finite = 0, first = ~0ULL;
    double worst = 0;
    for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < count; i += (u64)gridDim.x * blockDim.x) {
        const void *got = in_structure(all_got, i, lanes, stride), *want = in_structure(all_want, i, lanes, stride);
        u64 at = stride ? i % lanes : i;
        double deviation;
        if (is_integer(type)) {
            i64 x = integer_value(type, got, at), reference = integer_value(type, want, at);
            if (x == reference) continue;
            bool larger = type == U64 ? (u64)x > (u64)reference : x > reference;
            deviation = (double)(larger ? (u64)x - (u64)reference : (u64)reference - (u64)x);
        } else {
            double x = value(type, got, at), reference = value(type, want, at);
            bool defined = isfinite(reference);
            if (!defined) undefined++;
            if (!defined && (x == reference || (isnan(x) && isnan(reference)))) continue;
            deviation = fabs(x - reference);
            if (defined && deviation <= atol + rtol * fabs(reference)) continue;
        }
        if (!(deviation <= 1.7976931348623157e308)) {
            deviation = __longlong_as_double(0x7ff0000000000000LL);
            not_finite++;
        }
        bad++;
        if (i < first) first = i;
        worst = fmax(worst, deviation);
    }
    if (undefined) atomicAdd(&finding->undefined, undefined);
    if (!bad) return;
    atomicAdd(&finding->bad, bad);
    if (not_finite) atomicAdd(&finding->not_finite, not_finite);
    atomicMax(&finding->inverted_first, ~first);
    atomicMax(&finding->worst, (u64)__double_as_longlong(worst)); // non-negative doubles order like integers
}

// Finds the largest error as a share of what is allowed, of results that were
// compared: what is not a number was found there. Adds all of them, with their signs, in parts of 2^-20.
extern "C" __global__ void pawl_share(int type, const u8 *all_got, const u8 *all_want, u64 count, u64 lanes, u64 stride, double atol, double rtol, Finding *finding) {
    double worst = 0, sum = 0;
    for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < count; i += (u64)gridDim.x * blockDim.x) {
        const void *got = in_structure(all_got, i, lanes, stride), *want = in_structure(all_want, i, lanes, stride);
        u64 at = stride ? i % lanes : i;
        double x = value(type, got, at), reference = value(type, want, at);
        double share = (x - reference) / (atol + rtol * fabs(reference));
        if (x != reference) worst = fmax(worst, fabs(share));
        if (fabs(share) <= 1) sum += share;
    }
    if (sum != 0) atomicAdd(&finding->bad, (u64)(i64)(sum * 1048576));
    if (worst > 0) atomicMax(&finding->worst, (u64)__double_as_longlong(worst));
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

// Counts the bytes of two guard zones that are not what they were.
extern "C" __global__ void pawl_guard(const u8 *before, u64 first, const u8 *behind, u64 second, u32 pattern, u64 *changed) {
    u64 step = (u64)gridDim.x * blockDim.x, start = blockIdx.x * (u64)blockDim.x + threadIdx.x;
    u64 different = 0, beyond = 0;
    for (u64 i = start; i < first; i += step) different += before[i] != pattern;
    for (u64 i = start; i < second; i += step) beyond += behind[i] != pattern;
    if (different) atomicAdd(&changed[0], different);
    if (beyond) atomicAdd(&changed[1], beyond);
}

// Holds the stream back, so that what follows is queued before it starts and
// the time of queueing stays out of the figure.
extern "C" __global__ void pawl_hold(u64 nanoseconds) {
    u64 start, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - start < nanoseconds);
}
