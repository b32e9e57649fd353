package mutants

import "pawl/kernels"

// The anchors at which code is put into the kernel of attention on CUDA: before
// anything is done, and after everything is.
const (
	attentionCUDAStart = "    Warp warp;\n"
	attentionCUDAEnd   = "    store(o + head, memory + warp_row * ROW_BYTES, warp.first_row, S);\n"
)

// attentionCUDAFill ends every block after it has set its own part of the output,
// element by element at i.
func attentionCUDAFill(value string) string {
	return "for (int at = threadIdx.x; at < smaller(BLOCK_M, S - first) * HEAD_DIM; at += THREADS) {\n" +
		"    const size_t i = head + (size_t)first * HEAD_DIM + at;\n    o[i] = " + value + ";\n}\nreturn;\n" +
		attentionCUDAStart
}

// attentionCUDALast makes one thread of the grid do something when its block is
// done.
func attentionCUDALast(statement string) string {
	return attentionCUDAEnd + "if (blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0) { " + statement + " }\n"
}

// The workload of these mutants is not causal, so that none is about the causal
// mask. Those that say race show when warps really run at different speeds: on
// most blocks of any GPU, but on none in particular.
var attentionCUDA = on(kernels.CUDA, "attention", []Mutant{
	// What is written.
	{Name: "zeros", What: "writes zeros", Old: attentionCUDAStart, New: attentionCUDAFill("0.0f")},
	{
		Name: "copied input",
		What: "copies the values to the output",
		Old:  attentionCUDAStart,
		New:  attentionCUDAFill("v[i]"),
	},
	{Name: "output as it was", What: "writes nothing", Old: attentionCUDAStart, New: "return;\n" + attentionCUDAStart},
	{Name: "last block", What: "leaves the last block of queries as it was", Old: attentionCUDAStart,
		New: "if (first > 0 && first + BLOCK_M >= S) return;\n" + attentionCUDAStart},
	{Name: "last query of a tail", What: "does not write the last query of a block that is not whole",
		Old: "if (first_row + row + r < S)", New: "if (first_row + row + r < S - (S % BLOCK_M != 0))"},
	{Name: "one query too many", What: "writes one query beyond the last of a head",
		Old: "if (first_row + row + r < S)", New: "if (first_row + row + r <= S)"},
	{Name: "idle warp", What: "does not write the rows of the last warp",
		Old: attentionCUDAEnd, New: "if (threadIdx.x / 32 < NUM_WARPS - 1)\n    " + attentionCUDAEnd},
	{Name: "write past the end", What: "writes one element past the end of the output",
		Old: attentionCUDAEnd, New: attentionCUDALast("o[(size_t)B * H * S * HEAD_DIM] = 0.0f;")},
	{Name: "write before the start", What: "writes one element before the start of the output",
		Old: attentionCUDAEnd, New: attentionCUDALast("o[-1] = 0.0f;")},
	{Name: "write far away", What: "writes to an address that was never allocated",
		Old: attentionCUDAEnd, New: attentionCUDALast("o[(size_t)1 << 45] = 0.0f;")},
	{Name: "misaligned write", What: "writes 4 bytes to an address that is no multiple of 4",
		Old: attentionCUDAEnd, New: attentionCUDALast("*(volatile unsigned *)((char *)o + 2) = 0;")},
	{Name: "modified input", What: "changes the last key when it is done",
		Old: attentionCUDAEnd, New: attentionCUDALast("((__half *)k)[(size_t)B * H * S * HEAD_DIM - 1] = 7.0f;")},
	{Name: "another head", What: "writes over one element of the head before",
		Old: attentionCUDAEnd, New: attentionCUDAEnd + "if (blockIdx.y > 0 && threadIdx.x == 0) o[head - 3] = 7.0f;\n"},
	{Name: "one NaN", What: "has a NaN in one lane of one warp",
		Old: "const float inverse = 1 / sum;",
		New: "const float inverse = threadIdx.x == 13 && blockIdx.x == 0 && r == 0 && half == 0 ? " +
			"__int_as_float(0x7fc00000) : 1 / sum;"},

	// Which keys and values are seen.
	{Name: "last keys", What: "skips the last tile of keys when it is not a whole one",
		Old: "for (; tile < tiles; tile++)\n            one_after_the_other<true>",
		New: "for (; tile < tiles && whole == 0; tile++)\n            one_after_the_other<true>"},
	{Name: "second tile", What: "loses the second tile of keys",
		Old: "    int tile = 0;\n", New: "    int tile = tiles > 1;\n"},
	{Name: "no mask", What: "does not mask the keys beyond the last one",
		Old: "smaller(S, row + 1) : S) - first_key", New: "smaller(S, row + 1) : S + BLOCK_N) - first_key"},
	{Name: "mask off by one", What: "masks from one beyond the first key that is not there",
		Old: "smaller(S, row + 1) : S) - first_key", New: "smaller(S, row + 1) : S + 1) - first_key"},
	{Name: "mask one too many", What: "masks the last key of a tail as well",
		Old: "smaller(S, row + 1) : S) - first_key", New: "smaller(S, row + 1) : S - 1) - first_key"},
	{Name: "whole tiles", What: "is right when S is a multiple of the tile only",
		Old: "walk_keys(warp, (causal ? first + 1 : S) / BLOCK_N);", New: "walk_keys(warp, tiles_of(S));"},
	{Name: "values for keys", What: "reads values in place of keys in the last tile",
		Old: "copy_rows<BLOCK_N>(place, walk.keys,",
		New: "copy_rows<BLOCK_N>(place, tile + 1 == walk.tiles ? walk.values : walk.keys,"},
	{Name: "last step of the dot product", What: "forgets the last 16 elements of every dot product",
		Old: "d < HEAD_STEPS; d++) {\n        unsigned a[", New: "d < HEAD_STEPS - 1; d++) {\n        unsigned a["},
	{Name: "transposed values", What: "reads the values without transposing them",
		Old: "load_matrices_transposed(b, values", New: "load_matrices(b, values"},
	{Name: "swapped halves", What: "takes the halves of a tile of values in the wrong order",
		Old: "multiply_add(rows.mixed[r][2 * d], weights[r], b[0], b[1]);",
		New: "multiply_add(rows.mixed[r][2 * d], weights[r], b[1], b[0]);"},
	{Name: "batch for head", What: "takes the values of head b, batch h for those of batch b, head h",
		Old: "warp.walk.values = v + head;",
		New: "warp.walk.values = v + (size_t)(blockIdx.y % H * B + blockIdx.y / H) * S * HEAD_DIM;"},
	{Name: "first batch", What: "takes the keys of the first batch for all",
		Old: "warp.walk.keys = k + head,", New: "warp.walk.keys = k + head % ((size_t)H * S * HEAD_DIM),"},
	{Name: "short index", What: "computes the place of a head in 8 bits",
		Old: "(size_t)blockIdx.y * S", New: "(size_t)(unsigned char)blockIdx.y * S"},

	// Where things lie in shared memory.
	{Name: "swizzle of one row", What: "reads two chunks of one row in each other's place",
		Old: "(place + swizzled(row + r, chunk));\n}", New: "(place + swizzled(row + r, chunk ^ (row + r == 5)));\n}"},
	{Name: "swizzle of a tail", What: "does not swizzle a tile that is not whole",
		Old: "copy_async(to + swizzled(row + r, chunk), source, at < S ? 16 : 0);",
		New: "copy_async(to + (row + r) * ROW_BYTES + chunk * 16, source, at < S ? 16 : 0);"},
	{Name: "added for exclusive or", What: "steps along swizzled queries by adding",
		Old: "(queries.place ^ step * 32)", New: "(queries.place + step * 32)", At: "QUERY_REGISTERS=false"},
	{Name: "uninitialized queries", What: "takes what shared memory held for the queries of a tail",
		Old: "    copy_rows<BLOCK_M>(shared, q, first, walk.S);\n",
		New: "    if (first + BLOCK_M <= walk.S)\n        copy_rows<BLOCK_M>(shared, q, first, walk.S);\n"},

	// Who waits for what.
	{Name: "no wait for queries", What: "does not wait until the queries have arrived",
		Old: "    wait_copies<NUM_STAGES - 1>();\n", New: ""},
	{Name: "no barrier for queries", What: "waits for its own part of the queries only: a race",
		Old: "    wait_copies<NUM_STAGES - 1>();\n    __syncthreads();\n", New: "    wait_copies<NUM_STAGES - 1>();\n"},
	{Name: "one group too few", What: "waits for one group of copies too few",
		Old: "? NUM_STAGES - 2 : 0)>", New: "? NUM_STAGES - 1 : 0)>"},
	{Name: "one group too few of three", What: "waits for one group of copies too few in a deeper pipeline",
		Old: "? NUM_STAGES - 2 : 0)>", New: "? NUM_STAGES - 1 : 0)>", At: "NUM_STAGES=3"},
	{Name: "no barrier", What: "waits for its own part of a tile only, and refills what others read: a race",
		Old: "? NUM_STAGES - 2 : 0)>();\n    __syncthreads();\n", New: "? NUM_STAGES - 2 : 0)>();\n"},
	{Name: "wrong stage", What: "refills the stage that is in use",
		Old: "walk.stage == 0 ? NUM_STAGES - 1 : walk.stage - 1);", New: "walk.stage);", At: "NUM_STAGES=3"},
	{Name: "single stage, no wait", What: "does not wait for the only stage to be filled",
		Old: "        wait_copies<0>();\n", New: "", At: "NUM_STAGES=1"},
	{Name: "single stage, no barrier before", What: "refills the only stage while others read it: a race",
		Old: "        __syncthreads();\n        fetch(walk, tile, 0);\n", New: "        fetch(walk, tile, 0);\n",
		At: "NUM_STAGES=1"},
	{Name: "single stage, no barrier after", What: "waits for its own part of the only stage: a race",
		Old: "        wait_copies<0>();\n        __syncthreads();\n", New: "        wait_copies<0>();\n", At: "NUM_STAGES=1"},

	// The softmax.
	{Name: "wrong scale", What: "scales by 1/D in place of 1/sqrt(D)",
		Old: "warp.scale = scale * 1.44269504f;", New: "warp.scale = scale * scale * 1.44269504f;"},
	{Name: "wrong base", What: "takes powers of two for exponentials",
		Old: "warp.scale = scale * 1.44269504f;", New: "warp.scale = scale;"},
	{Name: "scale off by a hundredth", What: "scales by 1 % too much",
		Old: "warp.scale = scale * 1.44269504f;", New: "warp.scale = scale * 1.45712199f;"},
	{Name: "no maximum", What: "does not subtract the largest score: overflows for large ones",
		Old: "most = fmaxf(most, rows.largest[r][half]);", New: "most = 0;"},
	{Name: "first maximum", What: "keeps the largest score of the first tile",
		Old: "rows.largest[r][half] = most;",
		New: "rows.largest[r][half] = rows.largest[r][half] < -1e30f ? most : rows.largest[r][half];"},
	{Name: "maximum of half a row", What: "does not exchange the largest scores between all lanes of a row",
		Old: "most = fmaxf(most, __shfl_xor_sync(WHOLE_WARP, most, 2));", New: ";"},
	{Name: "bounded maximum", What: "has no largest score beyond 40: overflows for larger ones",
		Old: "high[r][half] = most * scale;", New: "high[r][half] = fminf(most * scale, 40.0f);"},
	{Name: "no rescale", What: "does not scale down what is mixed so far when the largest score grows",
		Old: "if (begin<MASKED>(warp, scores, place, tile, factor))\n        rescale(warp.rows, factor);",
		New: "begin<MASKED>(warp, scores, place, tile, factor);"},
	{Name: "sum without rescale", What: "does not scale down the sum when the largest score grows",
		Old: "rows.sum[r][half * 2] *= factor[r][half];", New: ";"},
	{Name: "sum rescaled twice", What: "scales the sum down twice when the largest score grows",
		Old: "rows.sum[r][half * 2] *= factor[r][half];", New: "rows.sum[r][half * 2] *= factor[r][half] * factor[r][half];"},
	{Name: "tensor sum without rescale", What: "does not scale down the sum that the tensor cores keep",
		Old: "rows.sum[r][i] *= factor[r][i / 2];", New: ";", At: "TENSOR_SUM=true"},
	{Name: "sum of half a row", What: "does not add the sums of all lanes of a row",
		Old: "sum += __shfl_xor_sync(WHOLE_WARP, sum, 2);", New: ";"},
	{Name: "no division", What: "does not divide by the sum",
		Old: "const float inverse = 1 / sum;", New: "const float inverse = 1;"},
	{Name: "weights mixed too late", What: "mixes a tile with the weights of the next",
		Old: "        mix(warp.rows, warp.weights.step[n], place + TILE_BYTES, n);\n        weigh(warp.weights.step[n], " +
			"warp.rows, scores, warp.scale, n);\n",
		New: "        weigh(warp.weights.step[n], warp.rows, scores, warp.scale, n);\n        mix(warp.rows, " +
			"warp.weights.step[n], place + TILE_BYTES, n);\n", At: "OVERLAP=true"},
	{Name: "last tile not mixed", What: "finds the weights of the last tile and does not use them",
		Old: "if (tile + 1 == warp.tiles)\n", New: "if (false)\n", At: "OVERLAP=true"},
	{Name: "overlap without rescale", What: "does not scale down what is mixed so far when tiles overlap",
		Old: "    if (raised)\n        rescale(warp.rows, factor);\n", New: "    (void)raised;\n", At: "OVERLAP=true"},

	// Precision.
	{Name: "sum in bfloat16", What: "keeps the sum of the weights in 8 bits",
		Old: "rows.sum[r][half * 2] += low + high;",
		New: "rows.sum[r][half * 2] = __int_as_float(__float_as_int(rows.sum[r][half * 2] + low + high) & 0xffff0000);"},
	{Name: "mixed in bfloat16", What: "keeps what is mixed so far in 8 bits",
		Old: "rows.mixed[r][n][i] *= factor[r][i / 2];",
		New: "rows.mixed[r][n][i] = __int_as_float(__float_as_int(rows.mixed[r][n][i] * factor[r][i / 2]) & 0xffff0000);"},
	{Name: "weights in 4 bits", What: "rounds the weights to 4 bits before they meet the values",
		Old: "weights[r][i] = pack(low, high);", New: "weights[r][i] = pack(low, high) & 0xff80ff80u;"},
	{Name: "result in bfloat16", What: "rounds the output to 8 bits",
		Old: "rows.mixed[r][n][half * 2 + 1] * inverse);", New: "rows.mixed[r][n][half * 2 + 1] * inverse) & 0xfff8fff8u;"},

	// Right only sometimes.
	{Name: "powers of two", What: "is right for powers of two only",
		Old: attentionCUDAStart, New: "if (S & (S - 1)) scale *= 1.5f;\n" + attentionCUDAStart},
	{Name: "odd", What: "is wrong when S is odd",
		Old: attentionCUDAStart, New: "if (S % 2) scale *= 1.5f;\n" + attentionCUDAStart},
	{Name: "one seed", What: "is right only for the inputs of one seed",
		Old: attentionCUDAStart, New: "if ((float)q[0] != 0.5625f) scale *= 1.5f;\n" + attentionCUDAStart},
	{Name: "one value", What: "is wrong for heads whose first query begins with a number below -2.5",
		Old: attentionCUDAStart,
		New: "if ((float)q[head] < -2.5f && (float)q[head] > -8) scale *= 1.5f;\n" + attentionCUDAStart},
	{Name: "timed shape", What: "is right only for the shape that is timed",
		Old: attentionCUDAStart, New: "if (B * H * S != 32 * 8 * 512) scale *= 1.5f;\n" + attentionCUDAStart},
	{Name: "now and then", What: "is wrong when the clock says so",
		Old: attentionCUDAStart, New: "if (clock64() / 256 % 7 == 0) scale *= 1.5f;\n" + attentionCUDAStart},
	{Name: "aligned result", What: "is right only when the output starts at a cache line",
		Old: attentionCUDAStart, New: "if ((size_t)o % 128) scale *= 1.5f;\n" + attentionCUDAStart},
})
