package mutants

import (
	"slices"

	"pawl/kernels"
)

// Hidden returns the mutants for a backend whose mistake no result shows: a tool must
// watch to see it.
func Hidden(backend string) []Mutant {
	return slices.DeleteFunc(slices.Clone(hidden), func(m Mutant) bool { return m.Backend != backend })
}

// There is one for every tool.
var hidden = slices.Concat(
	of("matmul", []Mutant{
		{Name: "use after free", What: "looks at its scratch after giving it back", Tool: "AddressSanitizer",
			Old: matmulEnd, New: "    const volatile float *after = scratch;\n    free(scratch);\n    (void)*after;\n}"},
		{Name: "shift by the width", What: "makes a mask of 32 bits by a shift of 32", Tool: "UndefinedBehaviorSanitizer",
			Old: matmulStart, New: "{ volatile unsigned lanes = 32, mask = (1u << lanes) - 1; (void)mask; }\n" + matmulStart},
	}),
	on(kernels.CUDA, "rmsnorm", []Mutant{
		{
			Name: "read past the end",
			What: "reads one element past the end of every row, and does not use it",
			Tool: "memcheck",
			Old:  rmsnormStart,
			New: "        if (first == 0 && row < R) {\n            const unsigned short beyond = *(const volatile unsigned " +
				"short *)(from + C);\n            (void)beyond;\n        }\n" + rmsnormStart,
		},
	}),
	on(kernels.CUDA, "softmax", []Mutant{
		{
			Name:   "one scratch in time",
			What:   "writes sums over the largest elements, which others have read by then: a race",
			Tool:   "racecheck",
			Old:    softmaxRow,
			New:    softmaxShared + softmaxRow,
			End:    softmaxScratch + softmaxFilled,
			NewEnd: softmaxFilled,
		},
	}),
	on(kernels.CUDA, "reduce", []Mutant{
		{
			Name: "read before it is written",
			What: "reads the output before it writes it, and does not use it",
			Tool: "initcheck",
			Old:  reduceWrite,
			New: "    {\n        const float before = *(const volatile float *)to;\n        (void)before;\n" + reduceWrite +
				"    }\n",
		},
		{Name: "barrier without a lane", What: "waits with all lanes of a warp for all but one of them", Tool: "synccheck",
			Old: "        if (lane == 0)\n" + reducePart,
			New: "        if (lane == 0)\n" + reducePart + "        __syncwarp(0xfffffffeu);\n"},
	}))
