package mutants

import "pawl/kernels"

// The anchors of softmax.
const (
	softmaxLargest = "largest = over_row<Largest>(largest) * LOG2_E;"
	softmaxRow     = "template <class Fold> INLINE float over_row(float mine)\n"
	softmaxShared  = "__shared__ float parts[ROWS][WARPS];\n\n"
	softmaxScratch = "        __shared__ float parts[ROWS][WARPS];\n"
	softmaxPart    = "            parts[group][warp] = mine;\n"
	softmaxFilled  = "        if (lane == 0)\n" + softmaxPart + "        __syncthreads();\n"
	softmaxParts   = "        mine = over_warp<Fold>(lane < WARPS ? parts[group][lane] : Fold::neutral());\n"
	softmaxWeight  = "    return power;\n"
)

var softmax = on(kernels.CUDA, "softmax", append(rows(), []Mutant{
	// The largest element.
	{Name: "no maximum", What: "does not subtract the largest element: overflows for large ones",
		Old: softmaxLargest, New: "largest = 0;"},
	{Name: "maximum from zero", What: "begins with 0 as the largest: underflows where all are far below",
		Old: "float largest = minus_infinity();", New: "float largest = 0;",
		End: "INLINE float neutral() { return minus_infinity(); }", NewEnd: "INLINE float neutral() { return 0; }"},
	{Name: "maximum of what is held", What: "does not compare what is beyond its registers",
		Old: "            largest = largest_of(load<HALVES>(from + (size_t)at * HALVES), largest);\n",
		New: "            (void)at;\n"},
	{Name: "maximum in other units", What: "subtracts the largest element without scaling it",
		Old: softmaxLargest, New: "largest = over_row<Largest>(largest);"},
	{Name: "maximum of a thread", What: "subtracts the largest element of each thread's own",
		Old: softmaxLargest, New: "largest = largest * LOG2_E;"},
	{Name: "absolute maximum", What: "subtracts the largest magnitude",
		Old: "so_far = fmaxf(so_far, __half2float(v.element[i]));",
		New: "so_far = fmaxf(so_far, fabsf(__half2float(v.element[i])));"},

	// The weights.
	{Name: "wrong base", What: "takes powers of two for exponentials",
		Old: "constexpr float LOG2_E = 1.4426950408889634f;", New: "constexpr float LOG2_E = 1;"},
	{Name: "no division", What: "does not divide by the sum",
		Old: "const float scale = 1 / over_row<Sum>(sum);", New: "over_row<Sum>(sum);\n        const float scale = 1;"},
	{Name: "weights in bfloat16", What: "rounds exponentials to 8 bits",
		Old: softmaxWeight, New: "    return " + truncated("power") + ";\n"},
	{Name: "sum in bfloat16", What: "keeps the sum of the exponentials in 8 bits", At: "VECTOR=8",
		Old: "        sum += weight(v.element[i], largest);\n",
		New: "        sum = " + truncated("sum + weight(v.element[i], largest)") + ";\n"},
	{Name: "small weights", What: "takes weights below a thousandth of the largest for nothing",
		Old: softmaxWeight, New: "    return power < 0.001f ? 0 : power;\n"},
	{Name: "weights of the last vector", What: "keeps the exponentials of the last vector only", At: "REUSE=true,HOLD=4",
		Old: "__float2half(weights[REUSE ? i * HALVES + j : 0] * scale)",
		New: "__float2half(weights[REUSE ? (HOLD - 1) * HALVES + j : 0] * scale)"},
	{
		Name: "weights of the next",
		What: "keeps exponentials an element from where it looks for them",
		At:   "REUSE=true,HOLD=4",
		Old:  "__float2half(weights[REUSE ? i * HALVES + j : 0] * scale)",
		New:  "__float2half(weights[REUSE ? i * HALVES + (j ^ 1) % HALVES : 0] * scale)",
	},

	// Which elements are seen.
	{Name: "weights of nothing", What: "adds weights for elements that are not there",
		Old: "            if (first + i * STRIDE < mine) {\n                if (!REUSE) {",
		New: "            if (true) {\n                if (!REUSE) {"},
	{Name: "last vector not summed", What: "leaves the last vector of a long row out of the sum",
		Old: "at < mine; at += STRIDE)\n            sum +=", New: "at < mine - 1; at += STRIDE)\n            sum +="},
	{Name: "last vector not written", What: "does not write the last vector of a long row",
		Old: "at < mine; at += STRIDE)\n            store(", New: "at < mine - 1; at += STRIDE)\n            store("},
	{Name: "odd vectors", What: "takes every even row for one of whole vectors", At: "VECTOR=8",
		Old: "if (C % VECTOR == 0)", New: "if (C % 2 == 0)"},
	{Name: "multiples of four", What: "takes rows of multiples of 4 for rows of whole vectors of 8", At: "VECTOR=8",
		Old: "if (C % VECTOR == 0)", New: "if (C % 4 == 0)"},
	{Name: "one row too many", What: "writes one row beyond the last", At: "ROWS=2",
		Old: "const int mine = row < R ? vectors : 0;", New: "const int mine = row <= R ? vectors : 0;"},
	{Name: "skipped rows", What: "goes one group of rows too far at every turn", At: "ROWS=4,THREADS=64,WORKERS=264",
		Old: "const int step = gridDim.x / SPLIT * ROWS;", New: "const int step = (gridDim.x / SPLIT + 1) * ROWS;"},

	// The sum over threads.
	{Name: "sum of the first row", What: "takes the sum of the first row of a block for all", At: "ROWS=4,THREADS=64",
		Old: "lane < WARPS ? parts[group][lane]", New: "lane < WARPS ? parts[0][lane]"},
	{Name: "no barrier", What: "does not wait for the other warps of a row",
		Old: "        __syncthreads();\n", New: "", End: softmaxPart, NewEnd: "{\n" + late("warp == 1", softmaxPart+"}\n")},
	{Name: "one scratch", What: "writes sums over the largest elements that others still read",
		Old: softmaxRow, New: softmaxShared + softmaxRow,
		End: softmaxScratch + softmaxFilled + softmaxParts, NewEnd: softmaxFilled + late("warp == 1", softmaxParts)},
	{Name: "share of the first block", What: "reads what the first block of a cluster has for all", At: "SPLIT=2",
		Old: "cluster_load(&shares[group], block)", New: "cluster_load(&shares[group], 0)"},
	{Name: "last block of a cluster", What: "leaves the last block of a cluster out", At: "SPLIT=8",
		Old: "block < SPLIT; block++)", New: "block < SPLIT - 1; block++)"},
	{Name: "no cluster barrier", What: "does not wait for the other blocks of a row", At: "SPLIT=2",
		Old: "    cluster_barrier();\n    mine = Fold::neutral();\n", New: "    mine = Fold::neutral();\n"},
}...))
