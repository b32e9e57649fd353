package mutants

import "pawl/kernels"

// The anchors of tally, whose inputs and outputs are integers.
const (
	tallySum   = "    sums[key] += x;\n"
	tallyCount = "    counts[key]++;\n"
	tallyEnd   = "    *place = last;\n"
	tallyLast  = "        if (x[i] >= x[last])\n            last = i;\n    *place"

	tallySumCUDA  = "            total += x[i];\n"
	tallyKeyCUDA  = "        if (key[i] == mine) {\n"
	tallyLastCUDA = "        if (x[i] >= x[last])\n"
)

var tally = of("tally", []Mutant{
	{Name: "absolute", What: "adds numbers without their sign",
		Old: tallySum, New: "    sums[key] += x < 0 ? -(int64_t)x : x;\n"},
	{Name: "positive only", What: "takes what is negative for 0",
		Old: tallySum, New: "    sums[key] += x < 0 ? 0 : x;\n"},
	{Name: "unsigned", What: "takes numbers for unsigned ones",
		Old: tallySum, New: "    sums[key] += (uint32_t)x;\n"},
	{Name: "sums of 32 bits", What: "adds in 32 bits",
		Old: tallySum, New: "    sums[key] = (int32_t)((uint32_t)sums[key] + (uint32_t)x);\n"},
	{Name: "numbers of 16 bits", What: "keeps the lower 16 bits of a number",
		Old: tallySum, New: "    sums[key] += (int16_t)x;\n"},
	{Name: "sums in double", What: "adds in double precision, and in other units",
		Old: tallySum, New: "    sums[key] = (int64_t)(((double)sums[key] / 3 + (double)x / 3) * 3);\n"},
	{Name: "numbers as floats", What: "rounds numbers to 24 bits",
		Old: tallySum, New: "    sums[key] += (int64_t)(float)x;\n"},
	{Name: "even numbers", What: "drops the lowest bit",
		Old: tallySum, New: "    sums[key] += x & ~1;\n"},
	{Name: "no smallest number", What: "leaves INT_MIN out",
		Old: tallySum, New: "    sums[key] += x == INT32_MIN ? 0 : x;\n"},
	{Name: "no largest number", What: "takes INT_MAX for one less",
		Old: tallySum, New: "    sums[key] += x == INT32_MAX ? x - 1 : x;\n"},
	{Name: "minus one", What: "takes -1 for the mark of an empty place",
		Old: tallySum, New: "    if (x == -1) return;\n" + tallySum},
	{Name: "zeros are not counted", What: "does not count zeros",
		Old: tallyCount, New: "    counts[key] += x != 0;\n"},
	{Name: "masked keys", What: "keeps five bits of a key",
		Old: tallySum, New: "    key &= 31;\n" + tallySum},
	{Name: "last key", What: "leaves the last key out",
		Old: tallySum, New: "    if (key > 0 && key == 36) return;\n" + tallySum},
	{Name: "counters of 8 bits", What: "counts in 8 bits",
		Old: tallyCount, New: "    counts[key] = (uint8_t)(counts[key] + 1);\n"},
	{Name: "counters of 16 bits", What: "counts in 16 bits",
		Old: tallyCount, New: "    counts[key] = (uint16_t)(counts[key] + 1);\n"},
	{Name: "runs", What: "counts a run of the same number once",
		Old: tallyEnd,
		New: "    for (i = 1; i < N; i++)\n        counts[key[i]] -= x[i] == x[i - 1] && key[i] == key[i - 1];\n" + tallyEnd},
	{Name: "sorted", What: "finds the largest by looking at the ends",
		Old: tallyEnd, New: "    last = x[N - 1] >= x[0] ? N - 1 : 0;\n" + tallyEnd},
	{Name: "never sorted", What: "takes a rising row for an empty one",
		Old: tallyEnd,
		New: "    for (i = 1; i < N && x[i] >= x[i - 1]; i++) {}\n    if (N > 2 && i == N) last = 0;\n" + tallyEnd},
	{Name: "first of equals", What: "finds the first of the largest, not the last",
		Old: tallyLast, New: "        if (x[i] > x[last])\n            last = i;\n    *place"},
	{Name: "difference overflows", What: "compares by a difference of 32 bits",
		Old: tallyLast,
		New: "        if ((int32_t)((uint32_t)x[i] - (uint32_t)x[last]) >= 0)\n            last = i;\n    *place"},
	{Name: "place of 16 bits", What: "keeps the lower 16 bits of a place",
		Old: tallyEnd, New: "    *place = (uint16_t)last;\n"},
	{Name: "a wrong bit on top", What: "adds 1 to sums of more than 34 bits",
		Old: tallyEnd,
		New: tallyEnd + "    if (N > 6000) for (i = 0; i < KEYS; i++) sums[i] += sums[i] > (int64_t)1 << 34;\n"},
})

var tallyCUDA = on(kernels.CUDA, "tally", []Mutant{
	{Name: "absolute", What: "adds numbers without their sign",
		Old: tallySumCUDA, New: "            total += x[i] < 0 ? -(long long)x[i] : x[i];\n"},
	{Name: "sums of 32 bits", What: "adds in 32 bits",
		Old: tallySumCUDA, New: "            total = (int)((unsigned)total + (unsigned)x[i]);\n"},
	{Name: "numbers as floats", What: "rounds numbers to 24 bits",
		Old: tallySumCUDA, New: "            total += (long long)(float)x[i];\n"},
	{Name: "no smallest number", What: "leaves INT_MIN out",
		Old: tallySumCUDA, New: "            total += x[i] == -2147483647 - 1 ? 0 : x[i];\n"},
	{Name: "masked keys", What: "keeps five bits of a key",
		Old: tallyKeyCUDA, New: "        if ((key[i] & 31) == mine) {\n"},
	{Name: "counters of 8 bits", What: "counts in 8 bits",
		Old: "            number++;\n", New: "            number = (unsigned char)(number + 1);\n"},
	{Name: "first of equals", What: "finds the first of the largest, not the last",
		Old: "return a > b || (a == b && at > bt);", New: "return a > b || (a == b && at < bt);"},
	{Name: "difference overflows", What: "compares by a difference of 32 bits",
		Old: tallyLastCUDA, New: "        if ((int)((unsigned)x[i] - (unsigned)x[last]) >= 0)\n"},
})
