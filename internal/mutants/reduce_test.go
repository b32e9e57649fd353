package mutants

import "pawl/kernels"

// The anchors of reduce.
const (
	reduceWrite = "        *to = mine;\n"
	reducePart  = "            parts[turn][group][warp] = mine;\n"
	reduceParts = "            mine = warp_sum(lane < WARPS ? parts[turn][group][lane] : 0);\n"
	reduceAdd   = "sums[i] += Vector<ELEMENTS>::sum(loaded[i]);"
	reduceRest  = "            sums[0] += Vector<ELEMENTS>::sum(load(from + at));\n"
)

var reduce = on(kernels.CUDA, "reduce", append(rows(), []Mutant{
	// What is written.
	{Name: "added to the output", What: "adds the sum to what the output held",
		Old: reduceWrite, New: "        *to += mine;\n"},
	{Name: "one row too many", What: "writes one row beyond the last", At: "ROWS=2",
		Old: "finish(sums[0], turn, y + row, row < R);", New: "finish(sums[0], turn, y + row, row <= R);"},
	{Name: "last row of a block", What: "does not write the last row of every block", At: "ROWS=4",
		Old: "finish(sums[0], turn, y + row, row < R);",
		New: "finish(sums[0], turn, y + row, row < R && row - top < ROWS - 1);"},
	{Name: "first row of a block", What: "writes all rows of a block to the place of its first", At: "ROWS=4",
		Old: "finish(sums[0], turn, y + row, row < R);", New: "finish(sums[0], turn, y + top, row < R);"},
	{Name: "written by all", What: "lets every block of a cluster write what it has", At: "SPLIT=2",
		Old: "    if (block > 0)\n        return;\n", New: ""},

	// Which elements are seen.
	{Name: "last element", What: "leaves the last vector of a row out", At: "VECTOR=4",
		Old: "const int mine = row < R ? vectors : 0;", New: "const int mine = row < R ? vectors - (vectors > 1) : 0;"},
	{Name: "rest of the loads", What: "leaves out what is no whole number of loads", At: "LOADS=4",
		Old: reduceRest, New: "            at = mine;\n"},
	{Name: "one load too many", What: "takes up to one vector of the next row", At: "LOADS=4",
		Old: "for (; at + (LOADS - 1) * STRIDE < mine;", New: "for (; at + (LOADS - 2) * STRIDE < mine;"},
	{Name: "last load", What: "does not add what the last of its loads brought", At: "LOADS=4",
		Old: "i = 1; i < LOADS; i++)", New: "i = 1; i < LOADS - 1; i++)"},
	{Name: "first load twice", What: "adds the first of its loads twice and the last never", At: "LOADS=2",
		Old: reduceAdd, New: "sums[i] += Vector<ELEMENTS>::sum(loaded[i == LOADS - 1 ? 0 : i]);"},
	{Name: "wrong element", What: "adds the third element of a vector twice", At: "VECTOR=4",
		Old: "(v.x + v.y) + (v.z + v.w)", New: "(v.x + v.y) + (v.z + v.z)"},
	{Name: "difference", What: "subtracts every second element", At: "VECTOR=2",
		Old: "return v.x + v.y; }", New: "return v.x - v.y; }"},
	{Name: "odd vectors", What: "takes every even row for one of whole vectors", At: "VECTOR=4",
		Old: "if (C % VECTOR == 0)", New: "if (C % 2 == 0)"},
	{Name: "skipped rows", What: "goes one group of rows too far at every turn", At: "ROWS=4,WORKERS=264",
		Old: "const int step = gridDim.x / SPLIT * ROWS;", New: "const int step = (gridDim.x / SPLIT + 1) * ROWS;"},

	// The sum over threads.
	{Name: "neighbors", What: "adds the same neighbor twice in the sum over a warp",
		Old: "mine += __shfl_xor_sync(WHOLE_WARP, mine, distance);",
		New: "mine += __shfl_xor_sync(WHOLE_WARP, mine, distance == 2 ? 1 : distance);"},
	{Name: "sum of the first row", What: "takes the sum of the first row of a block for all", At: "ROWS=4",
		Old: "lane < WARPS ? parts[turn][group][lane]", New: "lane < WARPS ? parts[turn][0][lane]"},
	{Name: "no barrier", What: "does not wait for the other warps of a row",
		Old: "        __syncthreads();\n", New: "", End: reducePart, NewEnd: "{\n" + late("warp == 1", reducePart+"}\n")},
	{Name: "one scratch", What: "writes the sums of the next row over those that are still read", At: "WORKERS=264",
		Old: "top += step, turn ^= 1) {", New: "top += step) {", End: reduceParts,
		NewEnd: "{\n" + late("true", reduceParts+"}\n")},
	{Name: "wrong rank", What: "sends the sums of a cluster to its second block", At: "SPLIT=2",
		Old: "there, %0, 0;", New: "there, %0, 1;"},
	{Name: "same share", What: "lets the blocks of a cluster write their sums to the same place", At: "SPLIT=4",
		Old: "cluster_store(&shares[turn][group][block], mine);", New: "cluster_store(&shares[turn][group][0], mine);"},
	{Name: "last block of a cluster", What: "leaves the last block of a cluster out of the sum", At: "SPLIT=8",
		Old: "other < SPLIT; other++)", New: "other < SPLIT - 1; other++)"},
	{Name: "no cluster barrier", What: "does not wait for the other blocks of a row", At: "SPLIT=2",
		Old: "    cluster_barrier();\n    if (block > 0)", New: "    if (block > 0)",
		End:    "    const int block = blockIdx.x % SPLIT;\n",
		NewEnd: "    const int block = blockIdx.x % SPLIT;\n" + late("block == 1", "")},

	// Precision.
	{Name: "sum in bfloat16", What: "keeps the sums of a thread in 8 bits",
		Old: reduceAdd, New: "sums[i] = " + truncated("sums[i] + Vector<ELEMENTS>::sum(loaded[i])") + ";"},
	{Name: "parts in half precision", What: "keeps the parts of a row in the 10 bits of half precision",
		Old: "lane < WARPS ? parts[turn][group][lane]",
		New: "lane < WARPS ? __int_as_float(__float_as_int(parts[turn][group][lane]) & 0xffffe000)"},
	{Name: "no negative sums", What: "takes a negative sum for 0",
		Old: reduceWrite, New: "        *to = fmaxf(mine, 0);\n"},
}...))
