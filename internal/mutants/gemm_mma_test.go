package mutants

import "pawl/kernels"

// The anchors of gemm_mma: waiting for a stage, and reading one.
const (
	mmaWait = "    wait_copies<STAGES - 2>();\n"
	mmaSync = mmaWait + "    __syncthreads();\n"
	mmaLoad = "        UNROLL for (int m = 0; m < ROW_TILES; m++)\n            load_rows(to, m);\n"
	// What is multiplied, and what a row has left in a stage.
	mmaStep = "        multiply(sums, operands[AHEAD ? step % 2 : 0], operands[(step + 1) % 2], last ? Source(next, 0) :" +
		" Source(stage, step + 1));\n"
	mmaInside = "inside = ahead.stage * K_BYTES + chunk * 16 < problem.row_bytes ? 16 : 0;"
)

var gemmMMA = on(kernels.CUDA, "gemm_mma", []Mutant{
	// Which elements are seen.
	{Name: "last stage", What: "leaves out the columns of A and B that are no whole stage",
		Old: "(row_bytes + K_BYTES - 1) / K_BYTES};", New: "max(row_bytes / K_BYTES, 1)};"},
	{Name: "columns beyond K", What: "reads the next row where a row ends inside a stage",
		Old: mmaInside, New: "inside = 16;"},
	{Name: "last columns again", What: "takes the last columns again where a row ends inside a stage",
		Old: mmaInside, New: "inside = 16, back = max(ahead.stage * K_BYTES + chunk * 16 + 16 - problem.row_bytes, 0);",
		End: "ahead.rows[i], inside);", NewEnd: "ahead.rows[i] - back, inside);"},
	{Name: "last step of a stage", What: "leaves out the last 32 bytes of every stage",
		Old: mmaStep, New: "        if (!last)\n    " + mmaStep},
	{Name: "last copies of a part", What: "does not copy the last rows of a part",
		Old: "i < (part + 1) * COPIES / PARTS; i++)", New: "i < (part + 1) * (COPIES - 1) / PARTS; i++)"},
	{Name: "last band", What: "takes the last band of tiles for one of the whole height", At: "GROUP=8",
		Old: "height = min(problem.rows - first, GROUP)", New: "height = GROUP"},
	{Name: "band by band", What: "walks the columns of a band by the height of another", At: "GROUP=4",
		Old: "within / height * BLOCK_N};", New: "within / GROUP * BLOCK_N};"},
	{Name: "rows of the first warps", What: "gives all warps the rows of the first",
		Old: "(warp / WARPS_N * WARP_ROWS * K_BYTES + swizzled", New: "(0 + swizzled"},
	{Name: "columns of the first warps", What: "gives all warps the columns of the first",
		Old: "(warp % WARPS_N * WARP_COLUMNS * K_BYTES + swizzled", New: "(0 + swizzled"},
	{Name: "swapped matrices", What: "takes two of four parts of B for each other",
		Old: "to.b[n][1], to.b[n + 1][0],", New: "to.b[n + 1][0], to.b[n][1],"},
	{Name: "lower rows of A", What: "reads the rows of A in the order of those of B",
		Old: "swizzled(lane % 16, lane / 16)", New: "swizzled(lane % 8 + lane / 16 * 8, lane / 8 % 2)"},

	{
		Name: "the same tile ahead",
		What: "fetches the first stages of the tile that it is at for those of the next",
		At:   "WORKERS=108",
		Old:  "        number += gridDim.x;\n        begin(problem);\n",
		New:  "        number += gridDim.x;\n        a -= problem.stages * K_BYTES, b -= problem.stages * K_BYTES;\n",
	},
	{Name: "neighbor ahead", What: "fetches the next tile of another block", At: "WORKERS=108",
		Old: "        stage = 0;\n        number += gridDim.x;\n", New: "        stage = 0;\n        number += 1;\n"},

	// Where stages lie.
	{Name: "no swizzle", What: "copies without the swizzle",
		Old: "to + swizzled(threadIdx.x / CHUNKS, chunk);", New: "to + threadIdx.x / CHUNKS * K_BYTES + chunk * 16;"},
	{Name: "swizzle off by a row", What: "copies with the pattern of the next row",
		Old: "to + swizzled(threadIdx.x / CHUNKS, chunk);", New: "to + swizzled(threadIdx.x / CHUNKS + 1, chunk) - K_BYTES;"},
	{Name: "swizzle of longer rows", What: "takes the pattern of rows of 128 bytes for shorter ones where it reads A",
		Old: "swizzled(lane % 16, lane / 16)", New: "(lane % 16) * K_BYTES + (lane / 16 ^ lane % 8 % CHUNKS) * 16"},
	{Name: "steps added", What: "goes along a swizzled row by addition",
		Old: "lane / 8 % 2) ^ step * STEP_BYTES);", New: "lane / 8 % 2) + step * STEP_BYTES);"},
	{Name: "B over A", What: "puts the rows of B half over those of A",
		Old: "place + (of_a ? 0 : A_BYTES) + within", New: "place + (of_a ? 0 : A_BYTES / 2) + within"},

	// How sums are kept.
	{Name: "never begins", What: "adds to the sums of the tile before", At: "WORKERS=108",
		Old: "        Sums sums = {}, total = {};\n", New: "", End: "    Operands operands[2];\n    if",
		NewEnd: "    Operands operands[2];\n    Sums sums = {}, total = {};\n    if"},
	{Name: "sums in half precision", What: "rounds the sums to half precision after every stage",
		Old: "            before = at;\n",
		New: "            UNROLL for (int i = 0; i < 4 * ROW_TILES * COLUMN_TILES; i++) {\n                float &sum = " +
			"sums.tile[i / 4 / COLUMN_TILES][i / 4 % COLUMN_TILES][i % 4];\n                sum = " +
			"__half2float(__float2half(sum));\n            }\n            before = at;\n"},
	{Name: "products of half precision", What: "takes bfloat16 for half precision", Workload: "square_4096_bf16",
		Old: `"m16n8k16.row.col.f32.bf16.bf16.f32 "`, New: `"m16n8k16.row.col.f32.f16.f16.f32 "`},
	{
		Name:     "result in half precision",
		What:     "writes half precision where bfloat16 is wanted",
		Workload: "square_4096_bf16",
		Old:      "const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);",
		New:      "const __half2 pair = __floats2half2_rn(low, high);",
	},
	{Name: "result in bfloat16", What: "rounds the output to 8 bits",
		Old: "return *(const unsigned *)&pair;", New: "return *(const unsigned *)&pair & 0xfff8fff8u;"},
	{Name: "the other fp8", What: "takes e4m3 for e5m2", Workload: "square_4096_fp8",
		Old: `"m16n8k32.row.col.f32.e4m3.e4m3.f32 "`, New: `"m16n8k32.row.col.f32.e5m2.e5m2.f32 "`},
	{Name: "collected twice", What: "adds sums to the total and goes on with them", Workload: "square_4096_fp8",
		Old: "                sums.tile[m][n][i] = 0;\n", New: ""},
	{Name: "last sums of fp8", What: "loses the sums since the last time they were collected", Workload: "square_4096_fp8",
		Old: "        if (FP8)\n            collect(total, sums);\n", New: ""},

	// What is written.
	{Name: "rows beyond M", What: "stores the last row's sums where there are no rows",
		Old: "if (at < problem.M && column + 8 * n < problem.N)", New: "if (column + 8 * n < problem.N)"},
	{Name: "columns beyond N", What: "stores columns beyond the last, over the next row",
		Old: "if (at < problem.M && column + 8 * n < problem.N)", New: "if (at < problem.M)"},
	{Name: "last columns", What: "leaves out the last columns that are no whole pair of tiles",
		Old: "if (at < problem.M && column + 8 * n < problem.N)",
		New: "if (at < problem.M && column - 8 * odd + 8 * n + 8 < problem.N)"},
	{Name: "exchange of the wrong half", What: "sends the tile that it should keep",
		Old: "odd ? low : high, 1);", New: "odd ? high : low, 1);"},
	{Name: "exchange with the wrong lane", What: "exchanges with the neighbor's neighbor",
		Old: "odd ? low : high, 1);", New: "odd ? low : high, 2);"},
	{Name: "upper rows only", What: "stores the upper rows of every tile twice",
		Old: "const int half = m % 2,", New: "const int half = 0,"},

	// Who waits for what.
	{Name: "no wait", What: "does not wait for copies",
		Old: mmaWait, New: ""},
	{Name: "waits for one too few", What: "waits for the stage before the one it needs",
		Old: "wait_copies<STAGES - 2>();", New: "wait_copies<STAGES - 1>();"},
	{Name: "no barrier", What: "copies over a stage that other warps still read",
		Old: mmaSync, New: mmaWait, End: mmaLoad, NewEnd: "    " + late("threadIdx.x / 32 == 1", mmaLoad)},
	{Name: "stale stage", What: "copies over the stage that is being read",
		Old: "at, next, before);", New: "at, next, at);"},
	{Name: "the stage before", What: "multiplies with the stage before, which is being filled",
		Old: "ahead, at, next, before);", New: "ahead, before, next, before);"},
	{Name: "the same stage ahead", What: "begins a stage with what the one before began with", At: "AHEAD=true",
		Old: "last ? Source(next, 0)", New: "last ? Source(stage, 0)"},
	{Name: "operands ahead", What: "overwrites what is multiplied with what comes next", At: "AHEAD=true",
		Old: "operands[(step + 1) % 2], last", New: "operands[AHEAD ? step % 2 : 1], last"},
})
