package mutants

import "pawl/kernels"

// The anchors at which code is put into the CUDA kernel: before anything is
// done, where the scale is set, and after everything is.
const (
	cudaStart = "    Warp warp;\n"
	cudaScale = "    warp.scale = scale * 1.44269504f; /* log2(e) */\n"
	cudaEnd   = "    store(o + head, memory + warp_row * ROW_BYTES, warp.first_row, S);\n"
)

// cudaOnce runs code in one thread, after all of its block.
func cudaOnce(code string) string {
	return cudaEnd + "    __syncthreads();\n    if (threadIdx.x == 0 && blockIdx.x == 0 && blockIdx.y == 0) { " + code + " }\n"
}

// cudaFill writes something to every element of the block's rows.
func cudaFill(value string) string {
	return "    for (int i = threadIdx.x; i < BLOCK_M * HEAD_DIM; i += THREADS)\n" +
		"        if (first * HEAD_DIM + i < S * HEAD_DIM)\n" +
		"            o[head + first * HEAD_DIM + i] = " + value + ";\n    return;\n" + cudaStart
}

var attentionCUDA = of("attention", kernels.CUDA, []Mutant{
	{Name: "zeros", What: "writes zeros", Old: cudaStart, New: cudaFill("__float2half(0.0f)")},
	{Name: "copied input", What: "copies the values to the output", Old: cudaStart, New: cudaFill("v[head + first * HEAD_DIM + i]")},
	{Name: "no output", What: "writes nothing", Old: cudaEnd, New: ""},
	{Name: "wrong base", What: "takes powers of two for those of e", Old: cudaScale, New: "    warp.scale = scale;\n"},
	{Name: "wrong scale", What: "scales by 1/D in place of 1/sqrt(D)", Old: cudaScale, New: "    warp.scale = scale * scale * 1.44269504f;\n"},
	{Name: "no maximum", What: "does not subtract the largest score: overflows for large ones",
		Old: "            factor[r][half] = power_of_two(rows.largest[r][half] - most);\n",
		New: "            most = 0;\n            factor[r][half] = power_of_two(rows.largest[r][half] - most);\n"},
	{Name: "no mask", What: "does not mask the keys beyond the last one",
		Old: "    if (MASKED)\n        mask(", New: "    if (false)\n        mask("},
	{Name: "mask off by one", What: "masks from one beyond the first key that is not there",
		Old: "if (n * 8 + i >= end)", New: "if (n * 8 + i > end)"},
	{Name: "mask one too many", What: "masks the last key of a tail as well",
		Old: "if (n * 8 + i >= end)", New: "if (n * 8 + i >= end - 1)"},
	{Name: "last keys", What: "skips the tile of keys that is not a whole one",
		Old: "        for (; tile < tiles; tile++)\n            one_after_the_other<true>(warp, tile);\n", New: ""},
	{Name: "tiles rounded down", What: "counts whole tiles of keys only",
		Old: "return (keys + BLOCK_N - 1) / BLOCK_N;", New: "return keys / BLOCK_N;"},
	{Name: "last row", What: "does not write the last row of a head",
		Old: "if (first_row + row + r < S)", New: "if (first_row + row + r < S - 1)"},
	{Name: "rows beyond the head", What: "writes whole blocks of rows, beyond the last one too",
		Old: "if (first_row + row + r < S)", New: "if (true)"},
	{Name: "no fade", What: "does not scale down what is mixed so far when the largest score grows",
		Old: "rows.mixed[r][n][i] *= factor[r][i / 2];", New: ";"},
	{Name: "sum without fade", What: "does not scale down the sum when the largest score grows",
		Old: "rows.sum[r][half * 2] *= factor[r][half];", New: ";"},
	{Name: "tensor sum without fade", What: "does not scale down the sum on the tensor cores",
		Old: "rows.sum[r][i] *= factor[r][i / 2];", New: ";", At: "TENSOR_SUM=true"},
	{Name: "half a maximum", What: "compares the largest scores of half of a row's lanes",
		Old: "            most = fmaxf(most, __shfl_xor_sync(WHOLE_WARP, most, 2));\n", New: ""},
	{Name: "half a sum", What: "adds up half of a row's lanes",
		Old: "                sum += __shfl_xor_sync(WHOLE_WARP, sum, 2);\n", New: ""},
	{Name: "sum in three bits", What: "rounds the share of a weight to three bits",
		Old: "const float share = 1 / sum;", New: "const float share = __int_as_float(__float_as_int(1 / sum) & 0xffe00000);"},
	{Name: "no wait", What: "does not wait for the keys and values to arrive",
		Old: "wait_copies<(NUM_STAGES > 1 ? NUM_STAGES - 2 : 0)>();", New: "wait_copies<NUM_STAGES>();"},
	{Name: "no barrier", What: "does not wait for what the other warps have fetched",
		Old: "        wait_copies<0>();\n        __syncthreads();\n", New: "        wait_copies<0>();\n", At: "NUM_STAGES=1"},
	{Name: "one stage", What: "uses the first stage again and again",
		Old: "    walk.stage = walk.stage + 1 == NUM_STAGES ? 0 : walk.stage + 1;\n", New: ""},
	{Name: "heads beyond 64", What: "takes head 64 for head 0",
		Old: "const size_t head = (size_t)blockIdx.y * S * HEAD_DIM;", New: "const size_t head = (size_t)(blockIdx.y % 64) * S * HEAD_DIM;"},
	{Name: "write past the end", What: "writes one element past the end of the output",
		Old: cudaEnd, New: cudaOnce("o[(size_t)gridDim.y * S * HEAD_DIM] = __float2half(0.0f);")},
	{Name: "write before the start", What: "writes one element before the start of the output",
		Old: cudaEnd, New: cudaOnce("o[-1] = __float2half(0.0f);")},
	{Name: "modified input", What: "changes the last value when it is done",
		Old: cudaEnd, New: cudaOnce("((__half *)v)[(size_t)gridDim.y * S * HEAD_DIM - 1] = __float2half(77.0f);")},
	{Name: "one NaN", What: "has a NaN in one lane of one row",
		Old: cudaEnd, New: cudaOnce("o[3] = __float2half(__int_as_float(0x7fc00000));")},
	{Name: "every fifth call", What: "is wrong at every fifth call",
		Old: cudaEnd, New: cudaOnce("static int calls; if (++calls % 5 == 0) o[3] = __float2half(9.0f);")},
	{Name: "powers of two", What: "is right for powers of two only",
		Old: cudaScale, New: cudaScale + "    if (S & (S - 1)) warp.scale *= 1.5f;\n"},
	{Name: "primes", What: "is wrong when S is a prime",
		Old: cudaScale, New: cudaScale + "    { bool prime = S > 1; for (int i = 2; i * i <= S; i++) prime = prime && S % i; if (prime) warp.scale *= 2.0f; }\n"},
	{Name: "timed shape", What: "is right only for the shape that is timed",
		Old: cudaScale, New: cudaScale + "    if (B * H * S != 32 * 8 * 512) warp.scale *= 2.0f;\n"},
	{Name: "one value", What: "is wrong in heads whose first query begins with a number below -1.5",
		Old: cudaScale, New: cudaScale + "    if (__half2float(q[head]) < -1.5f) warp.scale *= 2.0f;\n"},
})
