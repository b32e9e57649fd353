package mutants

import (
	"strings"

	"pawl/kernels"
)

// The anchors of the Hopper form of attention: keys that have arrived, and the point at
// which the producer goes on to values.
const (
	hopperKeys  = "                const int key_place = await_keys();\n                float factor[2];\n"
	hopperFreed = "                if (!TRUST_MAX)\n                    release(barriers.keys_empty(key_place));\n    " +
		"            find_weights(chain, walk.row, tile,"
	hopperValues = "                barrier_wait(barriers.values_empty(ring.place), ring.round ^ 1);\n"
	hopperItem   = "    __device__ Item(const Problem &problem, const Position &at)\n    {\n"
	hopperMoved  = "    __device__ Item(const Problem &problem, Position at)\n    {\n        const int columns = " +
		"problem.columns(), index = at.row * columns + at.column;\n        if (index >= (int)gridDim.x"
	hopperStored = "swizzled(row, n % 4 * 2 + lane / 16),\n"
	hopperAhead  = "start_scores(chain, query_tile(0), key_tile(key_place));\n                products_commit();\n" +
		"                end_turn();\n                if (ends)"
	hopperKeyMap = "large: 1,\n       tensormap: {shape: [B * HK, S, D], box: [1, BLOCK_N, 128 / bytes], swizzle: 128}"
)

// What is wrong here shows in every run: where the copy engine would usually be quick
// enough to hide a mistake, those that it should wait for are late.
var attentionHopper = on(kernels.CUDA, "attention_hopper", []Mutant{
	// What is written.
	{Name: "tail rows", What: "does not copy out the rows of a warp that are not 16",
		Old: "if (row + warp * 16 < S)", New: "if (row + warp * 16 + 16 <= S)"},
	{Name: "rows skipped", What: "skips the rows of a warpgroup that are not 64", Workload: "wide_2048",
		Old: "SKIPS_ROWS && row >= problem.S", New: "SKIPS_ROWS && row + GROUP_ROWS > problem.S"},
	{Name: "another head", What: "copies the result to the head before",
		Old: "panel * 64, row + warp * 16, head);", New: "panel * 64, row + warp * 16, head > 0 ? head - 1 : head);"},
	{Name: "swizzle", What: "has the pattern of a tile wrong by a row",
		Old: "(chunk ^ row % 8) * 16", New: "(chunk ^ (row + 1) % 8) * 16"},
	{Name: "no division", What: "does not divide by the sum of the weights",
		Old: `asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse[half]) : "f"(sum));`, New: "inverse[half] = 1;"},
	{Name: "sum of half a row", What: "does not add the sums of all lanes of a row",
		Old: "        sum += __shfl_xor_sync(0xffffffffu, sum, 2);\n", New: ""},
	{Name: "result in bfloat16", What: "rounds the output to 8 bits",
		Old: "chain.mixed[n * 4 + 2 * i + 1] * inverse[i % 2]);",
		New: "chain.mixed[n * 4 + 2 * i + 1] * inverse[i % 2]) & 0xfff8fff8u;"},
	{Name: "sum of the next item", What: "divides by the sum of the item after", At: "OVERLAP=1,QUERY_PLACES=2",
		Old: "copy_result(chain, sums, 0);", New: "copy_result(chain, chain.sum, 0);"},
	{
		Name: "rows of the first chain",
		What: "copies both chains to the rows of the first",
		At:   "CHAINS=2,OVERLAP=1,QUERY_PLACES=2,BLOCK_N=64",
		Old:  "last.row + c * CHAIN_ROWS, last.head",
		New:  "last.row, last.head",
	},

	// What the copy engine is told.
	{Name: "box of the result", What: "has a box of the result of half the rows", File: kernels.ManifestName,
		Old: "box: [1, 16, 64]", New: "box: [1, 8, 64]"},
	{Name: "box over two heads", What: "has a box of keys of half the length and of two heads", File: kernels.ManifestName,
		Old: hopperKeyMap,
		New: "large: 1,\n       tensormap: {shape: [B * HK, S, D], box: [2, BLOCK_N / 2, 128 / bytes], swizzle: 128}"},
	{Name: "no swizzle of keys", What: "has keys copied without the swizzle", File: kernels.ManifestName,
		Old: hopperKeyMap,
		New: "large: 1,\n       tensormap: {shape: [B * HK, S, D], box: [1, BLOCK_N, 128 / bytes], swizzle: 0}"},
	{
		Name: "map by batch",
		What: "has a map of keys whose outermost dimension is the batch, not the head",
		File: kernels.ManifestName,
		Old:  hopperKeyMap,
		New:  "large: 1,\n       tensormap: {shape: [B, HK * S, D], box: [1, BLOCK_N, 128 / bytes], swizzle: 128}",
	},

	// Which keys and values are seen.
	{Name: "no wait", What: "does not wait for the keys to arrive",
		Old: "        barrier_wait(barriers.keys_full(place), keys.round);\n", New: ""},
	{Name: "wrong phase", What: "waits for the values of the round before",
		Old: "barrier_wait(barriers.values_full(place), values.round);",
		New: "barrier_wait(barriers.values_full(place), values.round ^ 1);",
		End: hopperValues, NewEnd: hopperValues + late("true", "")},
	{Name: "stale keys", What: "frees the place of a tile of keys before it is read",
		Old: hopperKeys, New: hopperKeys + "                release(barriers.keys_empty(key_place));\n" + late("true", ""),
		End: hopperFreed, NewEnd: "                find_weights(chain, walk.row, tile,"},
	{Name: "place beside", What: "reads the values in the place beside",
		Old: "first_values + place *", New: "first_values + (place + 1) % STAGES *"},
	{Name: "one bank of places", What: "has the values copied over the keys",
		Old: "constexpr int VALUES_AT = KEYS_AT + STAGES * TILE_BYTES;",
		New: "constexpr int VALUES_AT = KEYS_AT + (STAGES - 1) * TILE_BYTES;"},
	{Name: "heads in turns", What: "lets heads of queries take turns at those of keys, where neighbors share one",
		Old: "item.head / problem.group;", New: "item.head % (problem.heads / problem.group);"},
	{Name: "values of another head", What: "gives every head of queries a head of values of its own",
		Old: "v_map, panel * 64,\n                            tile * BLOCK_N, key_head,",
		New: "v_map, panel * 64,\n                            tile * BLOCK_N, item.head,"},
	{Name: "size of a group", What: "takes the number of heads of keys for that of queries which share one",
		Old: "problem{S, B * H, H / HK, causal,", New: "problem{S, B * H, HK, causal,"},
	{Name: "first head of a group", What: "gives every head of queries a head of keys of its own",
		Old: "item.head / problem.group;", New: "item.head;"},
	{Name: "last tile", What: "loses the last tile of keys when it is not a whole one", At: "BLOCK_N=64",
		Old: "return (keys + BLOCK_N - 1) / BLOCK_N; }", New: "return keys < BLOCK_N ? 1 : keys / BLOCK_N; }"},
	{
		Name: "queries of the first chain",
		What: "has the queries of the first chain copied for both",
		At:   "CHAINS=2,OVERLAP=1,QUERY_PLACES=2,BLOCK_N=64",
		Old:  "row + chain * CHAIN_ROWS, item.head, full);",
		New:  "row, item.head, full);",
	},
	{Name: "queries of the first warp", What: "loads the queries of the first warp for all", At: "QUERY_REGISTERS=true",
		Old: "const int lane = threadIdx.x % 32, row = threadIdx.x % WARPGROUP / 32 * 16 + lane % 16;\n\n    if " +
			"(QUERY_REGISTERS)", New: "const int lane = threadIdx.x % 32, row = lane % 16;\n\n    if (QUERY_REGISTERS)"},
	{Name: "no mask", What: "does not mask the keys beyond the last one",
		Old: "const bool masked = (tile + 1) * BLOCK_N >", New: "const bool masked = tile < 0 && (tile + 1) * BLOCK_N >"},
	{Name: "mask off by one", What: "masks from one beyond the first key that is not there",
		Old: "int limit[2] = {problem.S - column, problem.S - column};",
		New: "int limit[2] = {problem.S + 1 - column, problem.S + 1 - column};"},
	{Name: "causal mask off by one", What: "lets a query see the key behind its own", Workload: "training_512_causal",
		Old: "row + 1 - column), limit[1]", New: "row + 2 - column), limit[1]"},
	{Name: "step of keys", What: "goes along the keys in steps of half the length",
		Old: "further(key_tile, d / 4 * TILE_PANEL + d % 4 * 32)", New: "further(key_tile, d / 4 * TILE_PANEL + d % 4 * 16)"},
	{Name: "first tile only", What: "begins anew with every tile of values",
		Old: "n > 0 ? 1 : add;", New: "n > 0;"},

	{Name: "an item twice", What: "begins its second item with the last one of the block before", At: "WORKERS=132",
		Old: hopperItem, New: hopperMoved + " && at.column-- == 0)\n            at.column = columns - 1, at.row--;\n"},
	{Name: "skipped item", What: "skips an item after the first of every block", At: "WORKERS=128",
		Old: hopperItem,
		New: hopperMoved + " && index + 1 < problem.heads * problem.blocks && ++at.column == columns)\n" +
			"            at.column = 0, at.row++;\n"},
	{
		Name: "queries of the item before",
		What: "computes the first scores of an item with the queries in the place beside",
		At:   "OVERLAP=3,QUERY_PLACES=2,WORKERS=132",
		Old:  hopperAhead,
		New: strings.Replace(hopperAhead, "query_tile(0)",
			"descriptor(query_at(ends ? query_place ^ 1 : query_place, 0), 16)", 1),
	},

	// How they are weighed.
	{Name: "swizzle of weights", What: "stores weights with the pattern of the next row", At: "SHARED_WEIGHTS=true",
		Old: hopperStored, New: "swizzled(row + 1, n % 4 * 2 + lane / 16) - ROW_BYTES,\n"},
	{Name: "halves of weights", What: "swaps the keys of a step of weights", At: "SHARED_WEIGHTS=true",
		Old: hopperStored, New: "swizzled(row, n % 4 * 2 + (lane / 16 ^ 1)),\n"},
	{
		Name: "weights of another warpgroup",
		What: "has all warpgroups put their weights into one place",
		At:   "SHARED_WEIGHTS=true",
		Old:  "WEIGHTS_AT + (group * CHAINS + c) * WEIGHT_PANELS",
		New:  "WEIGHTS_AT + c * WEIGHT_PANELS",
	},
	{
		Name: "weights not published",
		What: "does not make stored weights visible to the products",
		At:   "SHARED_WEIGHTS=true",
		Old:  "    publish();\n    asm volatile(\"bar.sync %0, 128;\"",
		New:  "    asm volatile(\"bar.sync %0, 128;\"",
	},
	{Name: "no rescale", What: "does not bring the results to a larger score",
		Old: "        chain.mixed[i] *= factor[i % 4 / 2];\n",
		New: "        chain.mixed[i] *= factor[i % 4 / 2] > 2 ? 0.0f : 1.0f;\n"},
	{Name: "sum not rescaled", What: "does not bring the sum to a larger score",
		Old: "        chain.sum[half] *= factor[half];\n", New: ""},
	{
		Name: "unchecked maximum",
		What: "never checks whether the largest score was the largest",
		At:   "TRUST_MAX=true,BLOCK_N=64",
		Old:  "if (__any_sync(0xffffffffu, !(sum[0] <= TRUSTED) || !(sum[2] <= TRUSTED)))",
		New:  "if (__any_sync(0xffffffffu, sum[0] < 0))",
	},
	{Name: "no maximum", What: "does not subtract the largest score",
		Old: "most[half] = fmaxf(most[half], __shfl_xor_sync(0xffffffffu, most[half], 2)) * scale - TOP;",
		New: "most[half] = 0;"},
	{Name: "maximum of half a row", What: "does not exchange the largest scores between all lanes of a row",
		Old: "most[half] = fmaxf(most[half], __shfl_xor_sync(0xffffffffu, most[half], 2)) * scale - TOP;",
		New: "most[half] *= scale;"},
	{Name: "factor of the other row", What: "brings both rows of a thread to the larger score of the first",
		Old: "chain.mixed[i] *= factor[i % 4 / 2];", New: "chain.mixed[i] *= factor[0];"},
	{
		Name: "rescales too late",
		What: "lets weights grow until they overflow half precision",
		At:   "LAZY_RESCALE=true,BLOCK_N=64",
		Old:  "most[0] > chain.largest[0] + GROWTH || most[1] > chain.largest[1] + GROWTH",
		New:  "most[0] > chain.largest[0] + 80 || most[1] > chain.largest[1] + 80",
	},
	{
		Name: "scores again",
		What: "finds half of the scores twice where the largest one was not",
		At:   "TRUST_MAX=true,BLOCK_N=64",
		Old:  "chain.queries[QUERY_REGISTERS ? d : 0] : a, b[2], b[3]);",
		New:  "chain.queries[QUERY_REGISTERS ? d : 0] : a, b[0], b[1]);",
	},
	{
		Name:     "weights in half precision",
		What:     "packs weights and results as half precision where all else is bfloat16",
		Workload: "training_512_bf16",
		Old:      `"cvt.rn." TYPE "x2.f32 %0`,
		New:      `"cvt.rn.f16x2.f32 %0`,
	},
	{
		Name:     "scores again in half precision",
		What:     "takes bfloat16 for half precision where the largest score was not",
		Workload: "training_512_bf16",
		At:       "TRUST_MAX=true,BLOCK_N=64",
		Old:      `f32." INPUT "." INPUT ".f32 {`,
		New:      `f32.f16.f16.f32 {`,
	},
	{Name: "ones for half of the keys", What: "sums the weights of every second eight keys only",
		At:  "MIX_EARLY=true,BLOCK_N=64",
		Old: "const unsigned one = BF16", New: "const unsigned one = threadIdx.x >= ONES_BYTES / 32 ? 0u : BF16"},
	{Name: "weights of the first half", What: "mixes all of a tile with the weights of its first half",
		At:  "MIX_EARLY=true,BLOCK_N=64",
		Old: "            mix_step(chain, tile, i, add);\n        weigh_steps",
		New: "            mix(chain.mixed, chain.weights[i - n], further(tile - ones_nearer(i * 16 * ROW_BYTES), " +
			"i * 16 * ROW_BYTES), i > 0 ? 1 : add);\n        weigh_steps"},
	{Name: "unchecked exponents", What: "trusts every exponent", At: "MIX_EARLY=true,TRUST_MAX=true,BLOCK_N=64",
		Old: "__float_as_int(TRUSTED_EXPONENT));", New: "__float_as_int(TRUSTED_EXPONENT * 1e6f));"},
	{Name: "kept and too large", What: "trusts the maximum of other rows however small these are",
		At:  "KEEP_MAX=true,MIX_EARLY=true,TRUST_MAX=true,WORKERS=128,BLOCK_N=64,CONSUMERS=1",
		Old: "if (kept && !rows_reach(most[0] > 0, most[1] > 0))", New: "if (false)"},
	{Name: "kept below any sum", What: "trusts the maximum of other rows however small the sum becomes",
		At:  "KEEP_MAX=true,TRUST_MAX=true,WORKERS=128,BLOCK_N=64,CONSUMERS=1",
		Old: "rows_reach(sum[0] >= 1, sum[2] >= 1)", New: "rows_reach(sum[0] >= 0, sum[2] >= 0)"},
	{Name: "sums kept", What: "adds to the sums of the item before where its maximum was kept",
		At:  "KEEP_MAX=true,TRUST_MAX=true,WORKERS=128,BLOCK_N=64",
		Old: "        chain.sum[0] = 0, chain.sum[1] = 0;\n", New: ""},
	{Name: "polynomial of infinity", What: "computes a power of two of minus infinity by a polynomial", At: "POLYNOMIAL=4",
		Old: "    x = fminf(fmaxf(x, -126.0f), 127.0f); /* what is too large must stay so: see weigh_trusting */\n", New: ""},
	{Name: "natural exponential", What: "takes powers of two of scores in units of e",
		Old: "scale * 1.44269504f", New: "scale"},
})
