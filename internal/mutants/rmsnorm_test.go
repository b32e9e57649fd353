package mutants

import "pawl/kernels"

// The anchors of rmsnorm: where a row begins, where the sum of a row is used, where its threads have met, and
// where weights are loaded.
const (
	rmsnormStart  = "        Vector<HALVES> held[HOLD];\n"
	rmsnormFactor = "const float factor = rsqrtf(row_sum(sum, turn) / C + epsilon);"
	rmsnormPart   = "            parts[turn][group][warp] = mine;\n"
	rmsnormParts  = "        mine = warp_sum(lane < WARPS ? parts[turn][group][lane] : 0);\n"
	rmsnormLoad   = "w.packed = *(const typename Packed<HALVES>::type *)(weight + (size_t)at * HALVES);\n"
	rmsnormHeld   = "                Vector<HALVES> w;\n                " + rmsnormLoad
	rmsnormBeyond = "{\n            Vector<HALVES> w;\n            " + rmsnormLoad
)

var rmsnorm = on(kernels.CUDA, "rmsnorm", append(rows(), []Mutant{
	// The mean and its root.
	{Name: "no epsilon", What: "forgets epsilon",
		Old: rmsnormFactor, New: "const float factor = rsqrtf(row_sum(sum, turn) / C);"},
	{Name: "epsilon outside", What: "adds epsilon to the root in place of the mean",
		Old: rmsnormFactor, New: "const float factor = 1 / (sqrtf(row_sum(sum, turn) / C) + epsilon);"},
	{Name: "epsilon in the sum", What: "adds epsilon to the sum in place of the mean",
		Old: rmsnormFactor, New: "const float factor = rsqrtf((row_sum(sum, turn) + epsilon) / C);"},
	{Name: "mean of vectors", What: "divides the sum by the number of vectors",
		Old: rmsnormFactor, New: "const float factor = rsqrtf(row_sum(sum, turn) / vectors + epsilon);"},
	{Name: "no root", What: "divides by the mean square in place of its root",
		Old: rmsnormFactor, New: "const float factor = 1 / (row_sum(sum, turn) / C + epsilon);"},
	{Name: "absolute", What: "takes the mean of magnitudes for that of squares",
		Old: "        sum += x * x;\n", New: "        sum += fabsf(x);\n"},
	{Name: "half squares", What: "squares in half precision: overflows from 256 on",
		Old: "        sum += x * x;\n", New: "        sum += __half2float(__hmul(v.element[i], v.element[i]));\n"},
	{Name: "sum in bfloat16", What: "keeps the sum of squares in 8 bits", At: "VECTOR=8",
		Old: "        sum += x * x;\n", New: "        sum = " + truncated("sum + x * x") + ";\n"},
	{Name: "result in bfloat16", What: "rounds the output to 8 bits",
		Old: "__float2half(__half2float(v.element[i]) * factor * __half2float(weight.element[i]));",
		New: "__float2half(" + truncated("__half2float(v.element[i]) * factor * __half2float(weight.element[i])") + ");"},

	// The weights.
	{Name: "no weight", What: "forgets the weights",
		Old: " * factor * __half2float(weight.element[i])", New: " * factor"},
	{Name: "one plus weight", What: "scales by one more than the weight",
		Old: " * factor * __half2float(weight.element[i])", New: " * factor * (1 + __half2float(weight.element[i]))"},
	{Name: "first weights", What: "takes the first weights for what is beyond its registers",
		Old: rmsnormBeyond,
		New: "{\n            Vector<HALVES> w;\n            w.packed = *(const typename Packed<HALVES>::type *)(weight + " +
			"(size_t)first * HALVES);\n"},
	{Name: "weight of the stride", What: "takes the weights of the first vector for all that it holds", At: "HOLD=4",
		Old: rmsnormHeld,
		New: "                Vector<HALVES> w;\n                w.packed = *(const typename Packed<HALVES>::type " +
			"*)(weight + (size_t)first * HALVES);\n"},

	// Which elements are seen.
	{Name: "last vector not summed", What: "leaves the last vector of a long row out of the sum",
		Old: "at < mine; at += STRIDE)\n            sum +=", New: "at < mine - 1; at += STRIDE)\n            sum +="},
	{Name: "last vector not written", What: "does not write the last vector of a long row",
		Old: "at < mine; at += STRIDE) {", New: "at < mine - 1; at += STRIDE) {"},
	{Name: "held twice", What: "counts twice what it holds beside the first vector", At: "HOLD=4",
		Old: "for (int at = first + HOLD * STRIDE; at < mine; at += STRIDE)\n            sum +=",
		New: "for (int at = first + STRIDE; at < mine; at += STRIDE)\n            sum +="},
	{Name: "odd vectors", What: "takes every even row for one of whole vectors", At: "VECTOR=8",
		Old: "if (C % VECTOR == 0)", New: "if (C % 2 == 0)"},
	{Name: "no rest", What: "takes every row for one of whole vectors, and leaves the rest",
		Old: "if (C % VECTOR == 0)", New: "if (C % VECTOR == 0 || C > 1)"},
	{Name: "one row too many", What: "writes one row beyond the last", At: "ROWS=2",
		Old: "const int mine = row < R ? vectors : 0;", New: "const int mine = row <= R ? vectors : 0;"},
	{Name: "last row of a block", What: "leaves the last row of every block as it was", At: "ROWS=4",
		Old: "const int mine = row < R ? vectors : 0;",
		New: "const int mine = row < R && row - top < ROWS - 1 ? vectors : 0;"},
	{Name: "step of clusters", What: "walks over rows as if every block had some of its own", At: "SPLIT=2,WORKERS=264",
		Old: "const int step = gridDim.x / SPLIT * ROWS;", New: "const int step = gridDim.x * ROWS;"},

	// The sum over threads.
	{Name: "sum of the first row", What: "takes the sum of the first row of a block for all", At: "ROWS=4",
		Old: "lane < WARPS ? parts[turn][group][lane]", New: "lane < WARPS ? parts[turn][0][lane]"},
	{Name: "no barrier", What: "does not wait for the other warps of a row",
		Old: "        __syncthreads();\n", New: "", End: rmsnormPart, NewEnd: "{\n" + late("warp == 1", rmsnormPart+"}\n")},
	{Name: "one scratch", What: "writes the sums of the next row over those that others still read", At: "WORKERS=264",
		Old: "top += step, turn ^= 1) {", New: "top += step) {", End: rmsnormParts, NewEnd: late("warp == 1", rmsnormParts)},
	{Name: "share of the first block", What: "reads the sum of the first block of a cluster for all", At: "SPLIT=2",
		Old: "cluster_load(&shares[turn][group], block)", New: "cluster_load(&shares[turn][group], 0)"},
	{Name: "last block of a cluster", What: "leaves the last block of a cluster out of the sum", At: "SPLIT=4",
		Old: "block < SPLIT; block++)", New: "block < SPLIT - 1; block++)"},
	{Name: "no cluster barrier", What: "does not wait for the other blocks of a row", At: "SPLIT=2",
		Old: "    cluster_barrier();\n    mine = 0;\n", New: "    mine = 0;\n"},
}...))
