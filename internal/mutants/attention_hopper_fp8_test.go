package mutants

import "pawl/kernels"

// The anchors of the transposition of fp8 values: where a tile is transposed, and who is told.
const (
	fp8Workload   = "wide_2048_fp8"
	fp8Place      = "raw.round);\n            barrier_wait(barriers.values_empty(ring.place), ring.round ^ 1);\n"
	fp8Transpose  = "            transpose_tile(shared"
	fp8Transposed = "                barrier_arrive(barriers.values_full(ring.place));\n"
	fp8Freed      = "                barrier_arrive(barriers.raw_empty(raw.place));\n"
	fp8Mixing     = "factor, rescale);\n                if (!MIX_EARLY)\n                    pack_weights(chain);\n"
	fp8FirstLane  = "            if (threadIdx.x % 32 == 0)\n"
)

var attentionHopperFP8 = on(kernels.CUDA, "attention_hopper", onWorkload(fp8Workload, []Mutant{
	// How values are transposed, and in which order of keys.
	{Name: "order of keys", What: "has two keys of fp8 weights swapped against the values'",
		Old: "pack_fp8(s[0], s[1], s[4], s[5])", New: "pack_fp8(s[0], s[4], s[1], s[5])"},
	{Name: "halves of a step", What: "swaps the first 16 keys of transposed values with the next",
		Old: "(lane / 8 % 2 ^ column / 4 % 2) * 16;", New: "(lane / 8 % 2 ^ 1 ^ column / 4 % 2) * 16;"},
	{Name: "swizzle of transposed values", What: "transposes values without the swizzle",
		Old: "(lane / 8 % 2 ^ column / 4 % 2) * 16;", New: "lane / 8 % 2 * 16;"},
	{Name: "even and odd columns", What: "swaps neighboring columns of half of a matrix",
		Old: "lane < 16 ? 0x6420 : 0x7531", New: "0x6420"},
	{Name: "one matrix not transposed", What: "leaves out 16 columns of the first 32 keys",
		Old: "        UNROLL for (int i = 0; i < 2; i++)\n            store_matrices(",
		New: "        for (int i = 0; i < (part == 3 ? 1 : 2); i++)\n            store_matrices("},
	{Name: "panels of values", What: "takes the first 32 keys of a tile of values for all",
		Old: "further_transposed(tile, n * VALUE_PANEL)", New: "further_transposed(tile, 0)"},

	// Who waits for what.
	{Name: "told too early", What: "says that values are transposed before they are",
		Old: fp8Transposed, New: "",
		End: fp8Transpose, NewEnd: fp8FirstLane + fp8Transposed + late("true", fp8Transpose)},
	{Name: "transposed too early", What: "transposes values into a place that is still read",
		Old: fp8Place, New: "raw.round);\n",
		End: fp8Mixing, NewEnd: fp8Mixing + late("true", "")},
	{Name: "raw place beside", What: "transposes the values in the place beside",
		Old: "RAW_AT + raw.place * TILE_BYTES, shared", New: "RAW_AT + (raw.place + 1) % RAW_PLACES * TILE_BYTES, shared"},
	{Name: "raw values freed", What: "frees the place of values before they are transposed",
		Old: fp8Freed, New: "",
		End: fp8Transpose, NewEnd: fp8FirstLane + fp8Freed + late("true", fp8Transpose)},

	// How large weights become.
	{Name: "weights out of range", What: "makes the largest weights too large for fp8",
		Old: "TRUST_MAX || LAZY_RESCALE ? 4 : 8;", New: "10;"},
	{Name: "trusts too much", What: "lets weights grow beyond fp8", At: "TRUST_MAX=true",
		Old: "TRUSTED = FP8 ? 448 : 4096;", New: "TRUSTED = 4096;"},
	{Name: "rescales fp8 too late", What: "rescales only when weights are beyond fp8", At: "LAZY_RESCALE=true",
		Old: "GROWTH = FP8 ? 4 : 8;", New: "GROWTH = 8;"},
	{Name: "the other fp8", What: "takes e4m3 for e5m2",
		Old: `#define INPUT "e4m3"`, New: `#define INPUT "e5m2"`},
	{
		Name: "scores again in the other fp8",
		What: "takes e4m3 for e5m2 where the largest score was not",
		At:   "TRUST_MAX=true",
		Old:  `f32." INPUT "." INPUT ".f32 {`,
		New:  `f32.e5m2.e5m2.f32 {`,
	},
}))

// onWorkload puts mutants on the workload whose code they change.
func onWorkload(workload string, list []Mutant) []Mutant {
	for i := range list {
		list[i].Workload = workload
	}
	return list
}
