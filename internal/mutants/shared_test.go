package mutants

// late makes some threads wait, before what follows. A right kernel would not mind;
// one that forgets to wait for them is wrong in every run, and not by chance.
func late(who, text string) string {
	return "if (" + who + ") __nanosleep(20000);\n" + text
}

// truncated is a number with the 8 bits that bfloat16 keeps.
func truncated(number string) string {
	return "__int_as_float(__float_as_int(" + number + ") & 0xffff0000)"
}

// rows are mutants of every kernel that takes the rows of a matrix by blocks and clusters.
func rows() []Mutant {
	return []Mutant{
		{Name: "stride of a block", What: "steps as if no other block had the same row", At: "SPLIT=2",
			Old: "constexpr int STRIDE = THREADS * SPLIT;", New: "constexpr int STRIDE = THREADS;"},
		{Name: "rank left out", What: "takes every block for the first of its cluster", At: "SPLIT=2",
			Old: "const int first = blockIdx.x % SPLIT * THREADS + ", New: "const int first = "},
		{Name: "half of a warp", What: "leaves the last step out of the sum over a warp",
			Old: "distance > 0; distance /= 2)", New: "distance > 1; distance /= 2)"},
		{Name: "last warp", What: "leaves the last warp out of the sum",
			Old: "lane < WARPS ? parts", New: "lane < WARPS - 1 ? parts"},
	}
}
