package mutants

import "pawl/kernels"

// The anchors of gemm: waiting for a place of the ring, taking it, and the barriers
// around the tile that leaves.
const (
	gemmFull    = "    barrier_wait(at.full + 8 * place.stage, place.parity);\n"
	gemmBegin   = "    multiply_begin();\n"
	gemmRelease = "INLINE void release(unsigned empty)\n"
	gemmFence   = "        asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");\n"
	gemmBarrier = "        asm volatile(\"bar.sync %0, 128;\" :: \"r\"(consumer + 1) : \"memory\");\n"
	gemmStores  = "        UNROLL for (int i = 0; i < 4; i++) {\n"
	gemmMap     = "tensormap: {box: [64, 64], swizzle: 128}"
)

var gemm = on(kernels.CUDA, "gemm", []Mutant{
	// Which elements are seen.
	{Name: "last step", What: "leaves out the columns of A and B that are no whole step",
		Old: "const int steps = (K + BLOCK_K - 1) / BLOCK_K;", New: "const int steps = max(K / BLOCK_K, 1);"},
	{Name: "last columns", What: "leaves out the tile of columns that is not whole",
		Old: "columns = (N + BLOCK_N - 1) / BLOCK_N;", New: "columns = N / BLOCK_N;"},
	{Name: "last rows", What: "leaves out the last rows where the tiles are not whole clusters", At: "CLUSTER=2",
		Old: "rows = (M + BLOCK_M * CLUSTER - 1) / (BLOCK_M * CLUSTER)",
		New: "rows = (M + BLOCK_M - 1) / (BLOCK_M * CLUSTER)"},
	{Name: "last band", What: "takes the last band of tiles for one of the whole height", At: "GROUP=8",
		Old: "height = min(rows - first, GROUP)", New: "height = GROUP"},
	{Name: "band by band", What: "walks the columns of a band by the height of another", At: "GROUP=4",
		Old: "{first + within % height, within / height}", New: "{first + within % height, within / GROUP}"},
	{Name: "steps of half a length", What: "goes along B in steps of half the length",
		Old: "descriptor(b + STEP_BYTES * k)", New: "descriptor(b + 16 * k)"},
	{Name: "groups of rows", What: "tells the tensor cores that groups of rows are half as far apart",
		Old: "64ull << 32", New: "32ull << 32"},
	{Name: "rows of the first consumer", What: "gives all consumers the rows of the first",
		Old: "place.stage * STAGE_BYTES + consumer * ROWS * 128;", New: "place.stage * STAGE_BYTES;"},
	{
		Name: "second half of the rows",
		What: "multiplies the first 64 rows of a consumer twice",
		At:   "BLOCK_M=256,ROWS=128,STAGES=3",
		Old:  "descriptor(a + t * PANEL_BYTES + STEP_BYTES * k)",
		New:  "descriptor(a + STEP_BYTES * k)",
	},
	{Name: "rank of A", What: "gives all blocks of a cluster the rows of the first", At: "CLUSTER=2",
		Old: "copy_in(to, a_map, step * BLOCK_K, (tile.row * CLUSTER + rank) * BLOCK_M, full);",
		New: "copy_in(to, a_map, step * BLOCK_K, tile.row * CLUSTER * BLOCK_M, full);"},
	{Name: "rank of B", What: "copies the first share of B twice and the second never", At: "CLUSTER=2",
		Old: "tile.column * BLOCK_N + rank * B_SHARE, full);", New: "tile.column * BLOCK_N, full);"},
	{Name: "place of a share", What: "puts all shares of B where the first belongs", At: "CLUSTER=2",
		Old: "to + A_BYTES + rank * B_SHARE * 128;", New: "to + A_BYTES;"},

	// How sums are kept.
	{Name: "begins anew", What: "begins anew at every step",
		Old: "add || k > 0);", New: "k > 0);"},
	{Name: "never begins", What: "adds to the sums of the tile before",
		Old: "add || k > 0);", New: "1);"},
	{Name: "sums in half precision", What: "rounds the sums to half precision after every step",
		Old: "        last = place.stage;\n",
		New: "        last = place.stage;\n            multiply_wait<0>();\n            UNROLL for (int t = 0; t < TILES; " +
			"t++)\n                UNROLL for (int i = 0; i < BLOCK_N / 2; i++)\n                    sums[t][i] = " +
			"__half2float(__float2half(sums[t][i]));\n"},
	{Name: "result in bfloat16", What: "rounds the output to 8 bits",
		Old: "return *(const unsigned *)&pair;", New: "return *(const unsigned *)&pair & 0xfff8fff8u;"},

	{Name: "products of half precision", What: "takes bfloat16 for half precision", Workload: "square_4096_bf16",
		Old: `"k16.f32.bf16.bf16 "`, New: `"k16.f32.f16.f16 "`},
	{
		Name:     "result in half precision",
		What:     "writes half precision where bfloat16 is wanted",
		Workload: "square_4096_bf16",
		Old:      "const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);",
		New:      "const __half2 pair = __floats2half2_rn(low, high);",
	},
	{Name: "the other fp8", What: "takes e4m3 for e5m2", Workload: "square_4096_fp8",
		Old: `"k32.f32.e4m3.e4m3 "`, New: `"k32.f32.e5m2.e5m2 "`},
	{Name: "last steps of fp8", What: "keeps the sums of the last steps only", Workload: "square_4096_fp8",
		Old: "sums[t][i] += some[t][i];", New: "sums[t][i] = some[t][i];"},
	{Name: "the same sums twice", What: "adds the sums of even steps twice and of odd ones never",
		Workload: "square_4096_fp8",
		Old:      "add_some(at, sums, even, odd, last", New: "add_some(at, sums, even, even, last"},

	// What is written.
	{Name: "swizzle", What: "has the pattern of the tile that leaves wrong by a row",
		Old: "(chunk ^ (inner % 8)) * 16", New: "(chunk ^ ((inner + 1) % 8)) * 16"},
	{Name: "swapped matrices", What: "stores two of four parts in each other's place",
		Old: "packed(s[2], s[3]), packed(s[4], s[5])", New: "packed(s[4], s[5]), packed(s[2], s[3])"},
	{Name: "one row too far", What: "copies the result out one row too far",
		Old: "row + consumer * ROWS + 64 * t);", New: "row + consumer * ROWS + 64 * t + 1);"},
	{Name: "panels too close", What: "copies the panels of the result out 32 columns apart",
		Old: "column + 64 * across, row", New: "column + 32 * across, row"},
	{Name: "last panel", What: "does not copy the last panel of the result out",
		Old: "panel < OUT_PANELS; panel++)", New: "panel < OUT_PANELS - 1; panel++)"},
	{Name: "panel over another", What: "puts a panel of the result over one that has not left yet", At: "PANELS=1",
		Old: "            asm volatile(\"cp.async.bulk.wait_group.read %0;\" :: \"n\"(PANELS - 1) : \"memory\");\n",
		New: "            asm volatile(\"\" ::: \"memory\");\n"},
	{Name: "result in the ring", What: "puts the result over the last place of the ring",
		Old: "out = ring + STAGES * STAGE_BYTES;", New: "out = ring + (STAGES - 1) * STAGE_BYTES;"},

	// What the copy engine is told.
	{Name: "box of A", What: "has a box of A twice as high and half as wide", File: kernels.ManifestName,
		Old: "box: [BLOCK_M, 128 / bytes]", New: "box: [2 * BLOCK_M, 64 / bytes]"},
	{Name: "box of C", What: "has a box of C of half the rows", File: kernels.ManifestName,
		Old: gemmMap, New: "tensormap: {box: [32, 64], swizzle: 128}"},
	{Name: "no swizzle of B", What: "has B copied without the swizzle", File: kernels.ManifestName,
		Old: "box: [BLOCK_N / CLUSTER, 128 / bytes], swizzle: 128}",
		New: "box: [BLOCK_N / CLUSTER, 128 / bytes], swizzle: 0}"},

	// Who waits for what.
	{Name: "no wait", What: "does not wait for A and B to arrive",
		Old: gemmFull, New: ""},
	{Name: "wrong phase", What: "waits for the round of the ring before",
		Old: "    Place place;\n    for (int number", New: "    Place place;\n    place.parity = 1;\n    for (int number"},
	{Name: "phase of the producer", What: "waits for a new ring to be emptied, for ever",
		Old: "    place.parity = 1; /* a new ring is empty */\n", New: ""},
	{Name: "stale place", What: "frees a place of the ring before it is read",
		Old: gemmBegin, New: "            release_now(at.empty + 8 * place.stage);\n" + late("true", gemmBegin),
		End: gemmRelease, NewEnd: "INLINE void release(unsigned) {}\n" + "INLINE void release_now(unsigned empty)\n"},
	{Name: "frees its own", What: "frees places of the ring in its own block only", At: "CLUSTER=2",
		Old: "barrier_arrive_at(empty, threadIdx.x % 128);", New: "barrier_arrive_at(empty, blockIdx.x % CLUSTER);",
		End: gemmBegin, NewEnd: late("blockIdx.x % CLUSTER == 1", gemmBegin)},
	{Name: "no barrier before the copy", What: "has the result copied out before all warps have stored theirs",
		Old: gemmFence + gemmBarrier, New: gemmFence, End: gemmStores, NewEnd: late("warp == 3", gemmStores)},
})
