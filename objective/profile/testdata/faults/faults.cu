// Kernels with one fault each. Their counters are the test data in faults.csv.gz; bash docs/gpu.sh FOLDER planted
// records them.
#include <cstdio>
#include <cstring>

// Not every toolkit has their header.
extern "C" cudaError_t cudaProfilerStart();
extern "C" cudaError_t cudaProfilerStop();

constexpr int processors = 132; // of an H200
constexpr int full = 8 * processors; // blocks of 256 threads that fit at once
constexpr int elements = 1 << 26; // 256 MB of floats

#define AT (blockIdx.x * blockDim.x + threadIdx.x)
#define KERNEL extern "C" __global__ void

__device__ unsigned scramble(unsigned v) { return v * 2654435761u ^ v >> 13; }

KERNEL fill(float *x, float *y, int *z) {
	for (int i = AT; i < elements; i += gridDim.x * blockDim.x) {
		x[i] = (i % 1000) * 1e-3f;
		y[i] = 0;
		z[i] = i;
	}
}

// Where threads get in each other's way.

KERNEL one_address(const float *x, float *y, int *z) { atomicAdd(y, x[AT]); }

KERNEL few_addresses(const float *x, float *y, int *z) { atomicAdd(z + scramble(AT) % 64 * 8, (int)AT); }

KERNEL shared_bins(const float *x, float *y, int *z) {
	__shared__ unsigned bins[4];
	if (threadIdx.x < 4) bins[threadIdx.x] = 0;
	__syncthreads();
	unsigned v = AT;
	for (int round = 0; round < 256; round++) {
		v = v * 1664525 + 1013904223;
		atomicAdd(bins + (v >> 30), v);
	}
	__syncthreads();
	if (threadIdx.x < 4) y[blockIdx.x * 4 + threadIdx.x] = bins[threadIdx.x];
}

KERNEL lock(const float *x, float *y, int *z) {
	if (threadIdx.x % 32) return;
	while (atomicCAS(z, 0, 1)) {}
	*(volatile float *)y += x[AT];
	__threadfence();
	atomicExch(z, 0);
}

KERNEL barrier(const float *x, float *y, int *z) { // one warp works, seven wait
	__shared__ float value;
	for (int round = 0; round < 64; round++) {
		if (threadIdx.x < 32) {
			float v = x[round];
			for (int i = 0; i < 256; i++) v = v * 0.999f + 0.001f;
			value = v;
		}
		__syncthreads();
	}
	y[AT] = value;
}

KERNEL fences(const float *x, float *y, int *z) {
	for (int round = 0; round < 32; round++) {
		y[AT] = round;
		__threadfence_system();
	}
}

// Too few warps.

KERNEL shared_memory(const float *x, float *y, int *z) { // 200 KB a block
	extern __shared__ volatile float kept[];
	for (int i = AT; i < elements; i += gridDim.x * blockDim.x) {
		kept[threadIdx.x] = x[i];
		y[i] = 2 * kept[threadIdx.x];
	}
}

KERNEL __launch_bounds__(256) many_registers(const float *x, float *y, int *z) { // 228 sums a thread
	float sums[228];
	for (int k = 0; k < 228; k++) sums[k] = 0;
	int at = AT % 32768;
	for (int round = 0; round < 8; round++) {
#pragma unroll
		for (int k = 0; k < 228; k++) {
			float v = __ldcg(x + at);
			at += v < 0 ? 1 : 32768; // none is
			sums[k] += v;
		}
	}
	for (int k = 0; k < 228; k++) y[k * 65536 + AT] = sums[k];
}

KERNEL small_grid(const float *x, float *y, int *z) { // a block of two warps for each multiprocessor
	for (int i = AT; i < elements / 8; i += gridDim.x * blockDim.x) y[i] = 2 * x[i];
}

KERNEL tiny_blocks(const float *x, float *y, int *z) { y[AT] = 2 * x[AT]; } // of one warp each

KERNEL few_blocks(const float *x, float *y, int *z) {
	float v = x[AT];
	for (int i = 0; i < 65536; i++) v = v * 0.999f + 0.001f;
	y[AT] = v;
}

KERNEL last_wave(const float *x, float *y, int *z) { // nine eighths of a wave
	float v = x[AT];
	for (int i = 0; i < 16384; i++) v = v * 0.999f + 0.001f;
	y[AT] = v;
}

KERNEL long_blocks(const float *x, float *y, int *z) { // one block of 512 takes 32 times as long as the others
	float v = x[AT];
	for (int i = 0; i < (blockIdx.x % 512 == 511 ? 65536 : 2048); i++) v = v * 0.999f + 0.001f;
	y[AT] = v;
}

// Lanes without work.

KERNEL loop_lengths(const float *x, float *y, int *z) {
	float v = x[AT], w = v;
	int length = scramble(AT) % 32 == 0 ? 4096 : 64;
	for (int i = 0; i < length; i++) v = v * 0.999f + 0.001f, w = w * 0.998f + 0.002f;
	y[AT] = v + w;
}

KERNEL branches(const float *x, float *y, int *z) {
	float v = x[AT];
	for (int i = 0; i < 256; i++)
		switch (z[AT % 256] % 8) {
		case 0: for (int k = 0; k < 16; k++) v = v * 0.999f + 0.1f; break;
		case 1: for (int k = 0; k < 16; k++) v = v * 0.998f - 0.2f; break;
		case 2: for (int k = 0; k < 16; k++) v = (v + 0.3f) * v; break;
		case 3: for (int k = 0; k < 16; k++) v = fminf(v, 0.4f) * 1.1f; break;
		case 4: for (int k = 0; k < 16; k++) v = (v - 0.5f) * 0.7f; break;
		case 5: for (int k = 0; k < 16; k++) v = fmaxf(v, 0.6f) - v; break;
		case 6: for (int k = 0; k < 16; k++) v = v * v * 0.7f; break;
		default: for (int k = 0; k < 16; k++) v = 1 - v * 0.8f;
		}
	y[AT] = v;
}

KERNEL odd_block(const float *x, float *y, int *z) { // 33 threads a block
	float v = x[AT], w = v;
	for (int i = 0; i < 2048; i++) v = v * 0.999f + 0.001f, w = w * 0.998f + 0.002f;
	y[AT] = v + w;
}

// Expensive instructions.

KERNEL doubles(const float *x, float *y, int *z) {
	double v = x[AT], w = v + 1;
	for (int i = 0; i < 4096; i++) v = v * 0.999 + 0.001, w = w * 0.998 + 0.002;
	y[AT] = v + w;
}

KERNEL literals(const float *x, float *y, int *z) { // constants without an f
	float v = x[AT];
	for (int i = 0; i < 1024; i++) v = v * 0.999 + 0.001;
	y[AT] = v;
}

KERNEL divisions(const float *x, float *y, int *z) {
	unsigned v = AT + 7u, by = z[AT % 1000] + 3u;
	for (int i = 0; i < 512; i++) v = v / by + v % (by + i) + 0x40000000u;
	y[AT] = v;
}

KERNEL long_divisions(const float *x, float *y, int *z) {
	unsigned long long v = AT + (1ull << 60), by = z[AT % 1000] + (3ull << 33);
	for (int i = 0; i < 128; i++) v = v / by + v % (by + i) + (1ull << 61);
	y[AT] = v;
}

KERNEL exponentials(const float *x, float *y, int *z) {
	float v = x[AT], w = v;
	for (int i = 0; i < 2048; i++) v = __expf(-v), w = __sinf(w);
	y[AT] = v + w;
}

KERNEL conversions(const float *x, float *y, int *z) {
	float v = x[AT] * 1000, w = v;
	for (int i = 0; i < 2048; i++) v = (float)((int)v ^ i), w = (float)((int)w + i);
	y[AT] = v + w;
}

KERNEL integers(const float *x, float *y, int *z) { // no fault but that there is much to do
	unsigned v = AT, w = v + 1;
	for (int i = 0; i < 4096; i++) v = (v << 5 ^ v >> 3) + i, w = (w << 7 ^ w >> 2) - i;
	y[AT] = v ^ w;
}

KERNEL polynomial(const float *x, float *y, int *z) { // likewise
	float v[4];
	for (int k = 0; k < 4; k++) v[k] = x[AT] + k;
	for (int i = 0; i < 4096; i++)
		for (int k = 0; k < 4; k++) v[k] = v[k] * 0.999f + 0.001f;
	y[AT] = v[0] + v[1] + v[2] + v[3];
}

// 2048 x 2048 x 2048 without tensor cores; blocks of 128 x 128, threads of 8 x 8.
KERNEL __launch_bounds__(256) product(const float *x, float *y, int *z) {
	constexpr int n = 2048, depth = 8;
	__shared__ float a[depth][128 + 4], b[depth][128];
	const float *left = x + blockIdx.x / 16 * 128 * n, *right = x + n * n + blockIdx.x % 16 * 128;
	int row = threadIdx.x / 16 * 8, column = threadIdx.x % 16 * 4;
	float sums[8][8] = {};
	for (int k = 0; k < n; k += depth) {
		float4 l = *(const float4 *)(left + threadIdx.x / 2 * n + k + threadIdx.x % 2 * 4);
		float4 r = *(const float4 *)(right + (k + threadIdx.x / 32) * n + threadIdx.x % 32 * 4);
		__syncthreads();
		for (int i = 0; i < 4; i++) a[threadIdx.x % 2 * 4 + i][threadIdx.x / 2] = (&l.x)[i];
		*(float4 *)&b[threadIdx.x / 32][threadIdx.x % 32 * 4] = r;
		__syncthreads();
#pragma unroll
		for (int d = 0; d < depth; d++) {
			float u[8], v[8];
			for (int i = 0; i < 8; i += 4) {
				*(float4 *)(u + i) = *(float4 *)&a[d][row + i];
				*(float4 *)(v + i) = *(float4 *)&b[d][column + i * 16];
			}
			for (int i = 0; i < 8; i++)
				for (int j = 0; j < 8; j++) sums[i][j] += u[i] * v[j];
		}
	}
	float *out = y + blockIdx.x / 16 * 128 * n + blockIdx.x % 16 * 128;
	for (int i = 0; i < 8; i++)
		for (int j = 0; j < 8; j++) out[(row + i) * n + column + j % 4 + j / 4 * 64] = sums[i][j];
}

#define EIGHT(what) what what what what what what what what

KERNEL long_code(const float *x, float *y, int *z) { // 256 KB of instructions, none of which a cache keeps
	float v = x[AT], w = v;
	for (int round = 0; round < 4; round++) {
		EIGHT(EIGHT(EIGHT(EIGHT(v = v * 0.999f + 0.001f; w = w * 0.998f + 0.002f;))))
		EIGHT(EIGHT(EIGHT(EIGHT(v = v * 0.997f + 0.001f; w = w * 0.996f + 0.002f;))))
	}
	y[AT] = v + w;
}

// Memory.

KERNEL stream(const float *x, float *y, int *z) { ((float4 *)y)[AT] = ((const float4 *)x)[AT]; } // no fault

KERNEL partial_sectors(const float *x, float *y, int *z) { y[AT] = x[AT * 8]; }

KERNEL columns(const float *x, float *y, int *z) { y[AT] = x[AT % 8192 * 8192 + AT / 8192]; } // of 8192 x 8192

KERNEL bytes(const float *x, float *y, int *z) { ((char *)y)[AT] = ((const char *)x)[AT]; }

KERNEL chain(const float *x, float *y, int *z) { // each load says where the next one is
	int at = AT % (1 << 20);
	for (int i = 0; i < 256; i++) at = z[at] + 8192 & (1 << 20) - 1;
	y[AT] = at;
}

KERNEL shared_columns(const float *x, float *y, int *z) { // stores below each other
	__shared__ volatile float tile[8][32][32];
	volatile float(*mine)[32] = tile[threadIdx.x / 32];
	int lane = threadIdx.x % 32;
	float v = x[AT];
	for (int round = 0; round < 8; round++) {
		for (int k = 0; k < 32; k++) mine[lane][k] = v + k;
		__syncwarp();
		for (int k = 0; k < 32; k++) v += mine[k][lane];
	}
	y[AT] = v;
}

KERNEL local_array(const float *x, float *y, int *z) { // no register holds what an index picks
	float kept[64];
	for (int k = 0; k < 64; k++) kept[k] = x[AT] + k;
	for (int i = 0; i < 256; i++) {
		int k = z[i] * 7 + i & 63;
		kept[k] = kept[k] * 0.999f + kept[k ^ 5];
	}
	float v = 0;
	for (int k = 0; k < 64; k++) v += kept[k];
	y[AT] = v;
}

__constant__ float table[4096];

KERNEL constants(const float *x, float *y, int *z) { // each lane reads another
	float v = x[AT];
	for (int i = 0; i < 256; i++) v += table[(threadIdx.x * 37 + i * 101) & 4095];
	y[AT] = v;
}

// The same faults in other clothes.

KERNEL compare_and_swap(const float *x, float *y, int *z) { // a sum of doubles as it used to be written
	unsigned long long *to = (unsigned long long *)y + scramble(AT) % 16 * 32, old = *to, seen;
	do {
		seen = old;
		old = atomicCAS(to, seen, __double_as_longlong(__longlong_as_double(seen) + x[AT]));
	} while (old != seen);
}

KERNEL counter(const float *x, float *y, int *z) { // an atomic with a result for each element that is kept
	if (x[AT] > 0.5f) y[atomicAdd(z, 1)] = x[AT];
}

KERNEL shared_sums(const float *x, float *y, int *z) { // floats, which shared memory adds by comparing and swapping
	__shared__ float bins[8];
	if (threadIdx.x < 8) bins[threadIdx.x] = 0;
	__syncthreads();
	for (int round = 0; round < 16; round++) atomicAdd(bins + (scramble(AT) + round) % 8, x[AT]);
	__syncthreads();
	if (threadIdx.x < 8) y[blockIdx.x * 8 + threadIdx.x] = bins[threadIdx.x];
}

KERNEL triangle(const float *x, float *y, int *z) { // a lane has as many steps as its number says
	float v = 0;
	for (int i = 0; i < AT % 32 * 16; i++) v = v * 0.999f + x[i * 32 + AT % 32];
	y[AT] = v;
}

KERNEL early_exit(const float *x, float *y, int *z) {
	if (AT % 4) return;
	float v = x[AT], w = v;
	for (int i = 0; i < 2048; i++) v = v * 0.999f + 0.001f, w = w * 0.998f + 0.002f;
	y[AT] = v + w;
}

KERNEL one_thread(const float *x, float *y, int *z) { // thread 0 adds up what 256 have brought
	__shared__ float kept[256];
	float v = 0;
	for (int round = 0; round < 16; round++) {
		kept[threadIdx.x] = x[AT] + round;
		__syncthreads();
		if (threadIdx.x == 0)
			for (int i = 0; i < 256; i++) v += kept[i];
		__syncthreads();
	}
	if (threadIdx.x == 0) y[blockIdx.x] = v;
}

KERNEL roots(const float *x, float *y, int *z) {
	double v = x[AT] + 1;
	for (int i = 0; i < 128; i++) v = sqrt(v) + 1 / (v + 2);
	y[AT] = v;
}

KERNEL indices(const float *x, float *y, int *z) { // rows and columns of a width that only the caller knows
	int width = z[1000] + 24;
	float v = 0;
	for (int i = 0; i < 64; i++) {
		int at = (AT + i * 4099) % (1 << 20);
		v += x[at / (width + i) * 1024 + at % (width + i)];
	}
	y[AT] = v;
}

KERNEL dequantize(const float *x, float *y, int *z) { // bytes become floats
	int v = z[AT];
	float sum = 0;
	for (int i = 0; i < 512; i++) {
		sum += (float)(signed char)v * 0.5f + (float)(signed char)(v >> 8) * 0.25f;
		sum += (float)(signed char)(v >> 16) * 0.125f + (float)(v >> 24);
		v += i * 0x01030507;
	}
	y[AT] = sum;
}

KERNEL bodies(const float *x, float *y, int *z) { // no fault: reciprocal roots and products, but none of matrices
	float px = x[AT], py = x[AT + 1], pz = x[AT + 2], ax = 0, ay = 0, az = 0;
	for (int i = 0; i < 2048; i++) {
		float4 other = ((const float4 *)x)[i];
		float dx = other.x - px, dy = other.y - py, dz = other.z - pz;
		float by = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), pull = other.w * by * by * by;
		ax += dx * pull, ay += dy * pull, az += dz * pull;
	}
	y[AT] = ax + ay + az;
}

KERNEL every_second(const float *x, float *y, int *z) { y[AT] = x[AT * 2]; }

KERNEL records(const float *x, float *y, int *z) { y[AT] = x[AT * 5 + 1] + x[AT * 5 + 3]; } // two of five fields

KERNEL scattered_stores(const float *x, float *y, int *z) { y[AT * 8] = x[AT]; }

KERNEL pairs_of_banks(const float *x, float *y, int *z) { // every second word
	__shared__ volatile float kept[512];
	kept[threadIdx.x] = kept[threadIdx.x + 256] = x[AT];
	__syncthreads();
	float v = 0;
	for (int i = 0; i < 1024; i++) v += kept[(threadIdx.x * 2 + i) % 512];
	y[AT] = v;
}

KERNEL half_of_them(const float *x, float *y, int *z) { // 66 blocks of 1,024
	float v = x[AT], w = v;
	for (int i = 0; i < 16384; i++) v = v * 0.999f + 0.001f, w = w * 0.998f + 0.002f;
	y[AT] = v + w;
}

KERNEL growing_blocks(const float *x, float *y, int *z) { // each has more to do than the one before
	float v = x[AT], w = v;
	for (int i = 0; i < (int)blockIdx.x * 8; i++) v = v * 0.999f + 0.001f, w = w * 0.998f + 0.002f;
	y[AT] = v + w;
}

struct Launch {
	const char *name;
	void (*kernel)(const float *, float *, int *);
	int grid, block, shared;
};

#define RUN(name, ...) {#name, name, __VA_ARGS__}

// Without arguments all of them are run, else those that are named.
int main(int count, char **names) {
	Launch all[] = {
		RUN(one_address, 4096, 256), RUN(few_addresses, 8192, 256), RUN(shared_bins, full, 256), RUN(lock, processors, 256),
		RUN(barrier, full, 256), RUN(fences, full, 256),
		RUN(shared_memory, 4 * processors, 128, 200 << 10), RUN(many_registers, 256, 256), RUN(small_grid, processors, 64),
		RUN(tiny_blocks, 1 << 18, 32), RUN(few_blocks, 33, 256), RUN(last_wave, full * 9 / 8, 256),
		RUN(long_blocks, full * 4, 256),
		RUN(loop_lengths, full * 2, 256), RUN(branches, full * 2, 256), RUN(odd_block, full * 4, 33),
		RUN(doubles, full * 2, 256), RUN(literals, full * 2, 256), RUN(divisions, full * 2, 256),
		RUN(long_divisions, full * 2, 256), RUN(exponentials, full * 2, 256), RUN(conversions, full * 2, 256),
		RUN(integers, full * 2, 256), RUN(polynomial, full * 4, 256), RUN(product, 256, 256), RUN(long_code, full, 256),
		RUN(stream, elements / 4 / 256, 256), RUN(partial_sectors, elements / 8 / 256, 256), RUN(columns, elements / 256, 256),
		RUN(bytes, elements / 256, 256), RUN(chain, full * 2, 256), RUN(shared_columns, full * 4, 256),
		RUN(local_array, full * 2, 256), RUN(constants, full, 256),
		RUN(compare_and_swap, 1024, 256), RUN(counter, 8192, 256),
		RUN(shared_sums, full, 256), RUN(triangle, full * 4, 256), RUN(early_exit, full * 2, 256),
		RUN(one_thread, full * 2, 256), RUN(roots, full * 2, 256), RUN(indices, full * 4, 256), RUN(dequantize, full * 2, 256),
		RUN(bodies, full * 2, 256), RUN(every_second, elements / 2 / 256, 256), RUN(records, 1 << 15, 256),
		RUN(scattered_stores, elements / 8 / 256, 256), RUN(pairs_of_banks, full * 4, 256),
		RUN(half_of_them, processors / 2, 1024), RUN(growing_blocks, full, 256),
	};
	float *x, *y;
	int *z;
	cudaMalloc(&x, 4l * elements);
	cudaMalloc(&y, 4l * elements);
	cudaMalloc(&z, 4l * elements);
	cudaEvent_t begin, end;
	cudaEventCreate(&begin);
	cudaEventCreate(&end);
	for (Launch one : all) {
		bool wanted = count == 1;
		for (int i = 1; i < count; i++) wanted |= !strcmp(names[i], one.name);
		if (!wanted) continue;
		cudaFuncSetAttribute((const void *)one.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, one.shared);
		for (int round = 0; round < 3; round++) { // the second is timed, the third is profiled
			fill<<<full, 256>>>(x, y, z);
			cudaDeviceSynchronize();
			if (round == 2) cudaProfilerStart();
			cudaEventRecord(begin);
			one.kernel<<<one.grid, one.block, one.shared>>>(x, y, z);
			cudaEventRecord(end);
			cudaError_t failed = cudaDeviceSynchronize();
			float milliseconds = 0;
			cudaEventElapsedTime(&milliseconds, begin, end);
			if (round == 1 || failed) printf("%-16s %8.4f ms  %s\n", one.name, milliseconds, cudaGetErrorString(failed));
			if (round == 2) cudaProfilerStop();
		}
	}
}
