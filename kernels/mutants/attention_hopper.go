package mutants

import "pawl/kernels"

// What is wrong here shows in every run: a missing fence or a barrier too few would
// shows only when the copy engine is slow, and is left to compute-sanitizer.
var attentionHopper = on(kernels.CUDA, "attention_hopper", []Mutant{
	// What is written.
	{Name: "tail rows", What: "does not copy out the rows of a warp that are not 16",
		Old: "if (row + warp * 16 < S)", New: "if (row + warp * 16 + 16 <= S)"},
	{Name: "another head", What: "copies the result to the head before",
		Old: "panel * 64, row + warp * 16, head);", New: "panel * 64, row + warp * 16, head > 0 ? head - 1 : head);"},
	{Name: "swizzle", What: "has the pattern of a tile wrong by a row",
		Old: "(chunk ^ row % 8) * 16", New: "(chunk ^ (row + 1) % 8) * 16"},
	{Name: "no division", What: "does not divide by the sum of the weights",
		Old: "const float inverse = __fdividef(1, sum);", New: "const float inverse = 1;"},

	// Which keys and values are seen.
	{Name: "no wait", What: "does not wait for the keys to arrive",
		Old: "        barrier_wait(barriers.keys_full(place), keys.round);\n", New: ""},
	{Name: "no mask", What: "does not mask the keys beyond the last one",
		Old: "const bool masked = (tile + 1) * BLOCK_N >", New: "const bool masked = tile < 0 && (tile + 1) * BLOCK_N >"},
	{Name: "mask off by one", What: "masks from one beyond the first key that is not there",
		Old: "int limit[2] = {problem.S - column, problem.S - column};", New: "int limit[2] = {problem.S + 1 - column, problem.S + 1 - column};"},
	{Name: "step of keys", What: "goes along the keys in steps of half the length",
		Old: "further(key_tile, d / 4 * TILE_PANEL + d % 4 * 32)", New: "further(key_tile, d / 4 * TILE_PANEL + d % 4 * 16)"},
	{Name: "first tile only", What: "begins anew with every tile of values",
		Old: "n > 0 ? 1 : add);", New: "n > 0);"},

	// How they are weighed.
	{Name: "no rescale", What: "does not bring the results to a larger score",
		Old: "        chain.mixed[i] *= factor[i % 4 / 2];\n", New: "        chain.mixed[i] *= factor[i % 4 / 2] > 2 ? 0.0f : 1.0f;\n"},
	{Name: "sum not rescaled", What: "does not bring the sum to a larger score",
		Old: "        chain.sum[half] *= factor[half];\n", New: ""},
	{Name: "unchecked maximum", What: "never checks whether the largest score was the largest", At: "TRUST_MAX=true",
		Old: "if (__any_sync(0xffffffffu, !(sum[0] <= TRUSTED) || !(sum[2] <= TRUSTED)))", New: "if (__any_sync(0xffffffffu, sum[0] < 0))"},
	{Name: "natural exponential", What: "takes powers of two of scores in units of e",
		Old: "scale * 1.44269504f", New: "scale"},
})
