package mutants

import (
	"slices"

	"pawl/kernels"
)

// The anchors of places in the ring: where one is read, and where it is freed.
const (
	fp8GroupedRead  = "        const unsigned scales = at.scales + place.stage * SCALES * 4;\n"
	fp8GroupedFreed = "                if (threadIdx.x % 32 == 0)\n" +
		"                    barrier_arrive(at.empty + 8 * place.stage);\n"
)

var gemmGroupedFP8 = on(kernels.CUDA, "gemm_grouped_fp8", slices.Concat(groupedTiles, []Mutant{
	{Name: "columns of the first consumer", What: "gives both consumers the same columns", At: "CONSUMERS=2",
		Old: "first = consumer * COLUMNS, row", New: "first = 0, row"},
	{Name: "A for B", What: "takes the rows of A for those of B",
		Old: "STAGE_BYTES + A_BYTES + first * ROW_BYTES);", New: "STAGE_BYTES + first * ROW_BYTES);"},

	// Which scale is whose.
	{Name: "scales of A of the first step", What: "takes the first scale of every row of A",
		Old: "a + (size_t)step * T + row", New: "a + row"},
	{Name: "scales of B of the first step", What: "takes the first scale of every 128 rows of B",
		Old: "(BLOCK_M + lane), b + step);", New: "(BLOCK_M + lane), b);"},
	{Name: "scales of the first group", What: "takes the scales of the first group's weights for all",
		Old: "((size_t)tile.group * blocks + block)", New: "((size_t)block)"},
	{Name: "scales of the first columns", What: "takes the scales of the first columns for all",
		Old: "block = tile.column / 128 + lane;", New: "block = lane;"},
	{Name: "scale of the last columns", What: "counts whole blocks of columns only",
		Old: "blocks = (N + 127) / 128;", New: "blocks = N / 128;"},
	{Name: "scale of the last row", What: "leaves out the scale of a group's last row",
		Old: "if (tile.row + row < tile.end)", New: "if (tile.row + row < tile.end - 1)"},
	{Name: "scale of the part before", What: "scales all columns of a tile as the first", At: "BLOCK_N=256,STAGES=4",
		Old: "4 * (BLOCK_M + column / 128)", New: "4 * BLOCK_M"},
	{Name: "scale of the upper rows", What: "scales rows as those eight above",
		Old: "(i % 4 < 2 ? upper : lower)", New: "upper"},
	{Name: "scale of the rows before", What: "scales the second 64 rows as the first", At: "BLOCK_M=128,STAGES=4",
		Old: "load_number(scales + 4 * (row + 64 * t));", New: "load_number(scales + 4 * row);"},

	// How steps become sums.
	{Name: "last step alone", What: "keeps the sums of the last step only",
		Old: "+= some[i] * (", New: "= some[i] * ("},
	{Name: "no scales", What: "adds the sums of a step without their scales",
		Old: "some[i] * (i % 4 < 2 ? upper : lower);", New: "some[i];"},
	{Name: "begins anew", What: "keeps the last 32 values of a step only",
		Old: "STEP_BYTES * k) / 16, k > 0);", New: "STEP_BYTES * k) / 16, 0);"},
	{Name: "the same columns twice", What: "multiplies the first 128 columns of a tile twice", At: "BLOCK_N=256,STAGES=4",
		Old: "b + (across * ROW_BYTES + STEP_BYTES * k)", New: "b + (STEP_BYTES * k)"},
	{Name: "the same rows twice", What: "multiplies the first 64 rows of a tile twice", At: "BLOCK_M=128,STAGES=4",
		Old: "a + (t * PANEL_BYTES + STEP_BYTES * k)", New: "a + (STEP_BYTES * k)"},
	{Name: "the other fp8", What: "takes e4m3 for e5m2",
		Old: "m64n128k32.f32.e4m3.e4m3", New: "m64n128k32.f32.e5m2.e5m2"},

	// Who waits for what.
	{Name: "scales that are not there", What: "does not wait for scales",
		Old: "barrier_init(at.full + 8 * stage, 1 + 32);", New: "barrier_init(at.full + 8 * stage, 1);",
		End: "copies_arrive(at.full + 8 * place.stage);", NewEnd: "__nanosleep(20000);"},
	{Name: "freed too early", What: "frees a place before it is read", At: "STAGES=2",
		Old: fp8GroupedFreed, New: "",
		End: fp8GroupedRead, NewEnd: fp8GroupedRead + fp8GroupedFreed + late("true", "")},
}))
