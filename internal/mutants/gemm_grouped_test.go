package mutants

import (
	"cmp"
	"slices"

	"pawl/kernels"
)

var gemmGrouped = on(kernels.CUDA, "gemm_grouped", slices.Concat(groupedTiles, gemmGroupedConsumers,
	gemmGroupedColumns))

// groupedTiles are of both kernels that multiply groups of rows by tiles.
var groupedTiles = []Mutant{
	// Which tile is whose.
	{Name: "weights of the first", What: "multiplies all groups with the weights of the first",
		Old: "tile.column, tile.group, full", New: "tile.column, 0, full"},
	{Name: "first columns", What: "multiplies with the first columns of the weights only",
		Old: "tile.column, tile.group, full", New: "0, tile.group, full"},
	{Name: "group before", What: "takes the first tile of a group for one of the group before",
		Old: "problem.ends[middle] > index", New: "problem.ends[middle] >= index"},
	{Name: "last rows of a group", What: "counts whole tiles only",
		Old: "int end = (rows + BLOCK_M - 1) / BLOCK_M;", New: "int end = max(rows / BLOCK_M, rows > 0);"},
	{Name: "end of the last", What: "takes every group to end with the last",
		Old: "end = problem.offsets[low + 1];", New: "end = problem.offsets[problem.E];"},
	{Name: "columns of a group", What: "walks the columns of a group by another height",
		Old: "number / all : within / rows;", New: "number / all : within / (rows + 1);"},
	{Name: "a group less in a column", What: "walks the tiles of a column by one less than there are", At: "MIXED=true",
		Old: "MIXED ? number % all :", New: "MIXED ? number % max(all - 1, 1) :"},
	{Name: "sixteen groups", What: "adds up the tiles of sixteen groups at most",
		Old: "distance < 32; distance *= 2) {\n            const int other", New: "distance < 16; distance *= 2) {\n" +
			"            const int other"},
	{Name: "first groups", What: "forgets the tiles of the first 32 groups",
		Old: "before = __shfl_sync(0xffffffffu, end, 31);", New: "before = 0;"},

	// What is multiplied.
	{Name: "last step", What: "leaves out the columns of A and B that are no whole step",
		Old: "(K + BLOCK_K - 1) / BLOCK_K};", New: "max(K / BLOCK_K, 1)};"},
	{Name: "last part of a step", What: "leaves out the last 32 bytes of every step",
		Old: "k < ROW_BYTES / STEP_BYTES; k++", New: "k < ROW_BYTES / STEP_BYTES - 1; k++"},
	{Name: "pieces in one place", What: "copies all pieces of A to one place",
		Old: "copy_rows(to + row * ROW_BYTES,", New: "copy_rows(to,"},
	{Name: "the first piece again", What: "copies the first piece of A again and again",
		Old: "tile.row + row, full);", New: "tile.row, full);"},

	// What is written.
	{Name: "rows of the next group", What: "writes rows that belong to the next group",
		Old: "if (first + row < tile.end && column < N)", New: "if (column < N)"},
	{Name: "columns beyond N", What: "writes columns beyond the last, over the next row",
		Old: "if (first + row < tile.end && column < N)", New: "if (first + row < tile.end)"},
	{Name: "rows of the first warp", What: "writes the rows of all warps where the first has its own",
		Old: "64 * t + 16 * warp;", New: "64 * t;"},
	{Name: "no swizzle where stored", What: "puts results into shared memory without the swizzle",
		Old: "((chunk ^ (inner % 8)) * 16)", New: "(chunk * 16)"},
	{Name: "no swizzle where read", What: "takes results from shared memory without the swizzle",
		Old: "((lane % 8 ^ row % 8) * 16)", New: "(lane % 8 * 16)"},
	{Name: "result in half precision", What: "writes half precision where bfloat16 is wanted",
		Old: "const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);",
		New: "const __half2 pair = __floats2half2_rn(low, high);"},
	{Name: "result in four bits", What: "rounds the output to four bits less",
		Old: "return *(const unsigned *)&pair;", New: "return *(const unsigned *)&pair & 0xfff0fff0u;"},
}

var gemmGroupedConsumers = []Mutant{
	{Name: "A for B", What: "takes the rows of A for those of B",
		Old: "b = at.ring + place.stage * STAGE_BYTES + A_BYTES;", New: "b = at.ring + place.stage * STAGE_BYTES;"},
	{Name: "idle for a rest", What: "leaves out the second consumer where it has less than 64 rows", At: "CONSUMERS=2",
		Old: "if (tile.row + rows >= tile.end) {", New: "if (tile.row + rows + 63 * (consumer > 0) >= tile.end) {"},
	{Name: "rows of the first consumer", What: "gives both consumers the same rows", At: "CONSUMERS=2",
		Old: "rows = PINGPONG ? 0 : consumer * ROWS;", New: "rows = 0;"},
}

// gemmGroupedColumns are of the path for few rows.
var gemmGroupedColumns = inColumns([]Mutant{
	// Which block is whose.
	{Name: "weights of the first, few rows", What: "multiplies eight columns of all groups with the weights of the first",
		Old: "*low = row_of(b, group.index * N +", New: "*low = row_of(b, 0 * N +"},
	{Name: "lower columns again", What: "takes the lower eight columns of a block for the upper",
		Old: "min(column + 8 + inner, N - 1)", New: "min(column + inner, N - 1)"},
	{Name: "group before, few rows", What: "gives a block the group before its own",
		Old: "((1u << lane) - 1)) == before;", New: "((2u << lane) - 1)) == before;"},
	{Name: "first groups, few rows", What: "forgets the first 32 groups",
		Old: "before -= __popc(all);", New: ""},
	{Name: "end of the last, few rows", What: "takes every group to end with the last",
		Old: "end[i] = offsets[min(first + 32 * i + lane + 1, E)];", New: "end[i] = offsets[E];"},

	// What is multiplied.
	{Name: "rest of K", What: "leaves out steps that are not whole",
		Old: "K - first - mine);", New: "(K - first) / STEP * STEP - mine);"},
	{Name: "beyond K", What: "multiplies what lies behind the end of a row",
		Old: "if (first + STAGES * STEP <= K)", New: "if (first < K)"},
	{Name: "the first share", What: "gives all warps the first share of K",
		Old: "int first = threadIdx.x / 32 * STAGES * STEP;", New: "int first = 0;"},
	{Name: "next share", What: "goes to the next share of K by one warp's too few", At: "SPLIT=4,STAGES=2",
		Old: "STRIDE = SPLIT * STAGES * STEP;", New: "STRIDE = (SPLIT - 1) * STAGES * STEP;"},
	{Name: "exchanged pairs", What: "multiplies pairs of A with the neighbors of theirs",
		Old: "r.x, r.y);", New: "r.y, r.x);"},
	{Name: "half of the sums", What: "forgets the second of two sums",
		Old: "sums[0][i] + sums[1][i];", New: "sums[0][i];"},
	{Name: "one row for all", What: "multiplies the first of eight rows only",
		Old: "min(first + inner, group.end - 1)", New: "first"},
	{Name: "eight rows", What: "leaves out the rows of a group beyond the first eight",
		Old: "first < group.end; first += AT_ONCE", New: "first < group.end; first = group.end"},

	// What is written.
	{Name: "last warp", What: "forgets the last warp's sums",
		Old: "i < SPLIT; i++", New: "i < SPLIT - 1; i++"},
	{Name: "rows of the next group, few rows", What: "writes rows that belong to the next group",
		Old: "row < group.end && column + x < N", New: "row < T && column + x < N"},
	{Name: "columns beyond N, few rows", What: "writes columns beyond the last, over the next row",
		Old: "row < group.end && column + x < N", New: "row < group.end"},
})

// inColumns completes mutants of the path for few rows.
func inColumns(list []Mutant) []Mutant {
	for i := range list {
		list[i].File, list[i].At = "columns.cuh", cmp.Or(list[i].At, "SPLIT=8,STAGES=8")
	}
	return list
}
