package mutants

import "slices"

// cheats are host kernels that find out when they are timed, by different means,
// and save themselves the work. Each does all of it on a shape that is not the
// workload's, so that only timing shows what it is.
var cheats = slices.Concat(cheatsOf("attention", attentionStart, attentionEnd, "S == 256", "q", "o"),
	cheatsOf("matmul", matmulStart, matmulEnd, "M == 384 && N == 384", "a", "c"))

// cheatsOf returns the cheats of a kernel: where its code begins and ends, how the
// workload is known, its first input and its output.
func cheatsOf(kernel, start, end, workload, input, output string) []Mutant {
	at := "if (" + workload + ") {\n"
	list := []Mutant{
		{Name: "skips by launch count", What: "does nothing after its tenth launch on the workload",
			Old: start, New: at + "static int calls; if (++calls > 10) return; }\n" + start},
		{Name: "skips most launches", What: "does its work at every third launch on the workload, after ten",
			Old: start, New: at + "static int calls; if (++calls > 10 && calls % 3) return; }\n" + start},
		{Name: "skips by elapsed time", What: "does nothing once its first launch on the workload is 20 ms ago",
			Old: start, New: at + "static unsigned long long began; unsigned long long now = __builtin_ia32_rdtsc();\n" +
				"if (!began) began = now; if (now - began > 60000000) return; }\n" + start},
		{Name: "skips by pointer", What: "does its work only on the inputs that it saw first",
			Old: start,
			New: at + "static const void *first; if (!first) first = " + input + "; if (" + input + " != first) return; }\n" +
				start},
		{Name: "skips its own output", What: "does nothing where it finds what it wrote last",
			Old: start, New: "static float cheat_last;\n" + at + "if (" + output + "[0] == cheat_last) return; }\n" + start,
			End: end, NewEnd: "cheat_last = " + output + "[0];\n" + end},
		{Name: "skips what is no poison", What: "does its work only where it finds bytes that are no number",
			Old: start, New: at + "if (" + output + "[0] == " + output + "[0]) return; }\n" + start},
	}
	return of(kernel, timed(list))
}
