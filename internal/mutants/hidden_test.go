package mutants

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"pawl/internal/thorough"
	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/check"
	"pawl/objective/devices"
	"pawl/objective/worker"
)

// hidden returns the mutants for a backend whose mistake no result shows: a tool must
// watch to see it.
func hidden(backend string) []Mutant {
	return slices.DeleteFunc(slices.Clone(everyTool), func(m Mutant) bool { return m.Backend != backend })
}

// There is one for every tool.
var everyTool = slices.Concat(
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

func TestHostToolsSeeHiddenMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("about verdicts: other tests run through the same goroutines")
	}
	see(t, machine(t), thorough.Some(hidden(kernels.Host), 1))
}

func TestGPUToolsSeeHiddenMutants(t *testing.T) {
	m := gpu(t)
	see(t, m, hidden(kernels.CUDA))
}

// see runs mutants, and the kernels that they are made from, under the tools that must see the mutants and nothing
// else.
func see(t *testing.T, m *devices.Machine, list []Mutant) {
	for _, mutant := range list {
		t.Run(mutant.Kernel+"/"+mutant.Name, func(t *testing.T) {
			wrong, err := mutant.write(t)
			if err != nil {
				t.Fatal(err)
			}
			failure := watch(t, m, wrong, mutant)
			t.Logf("%s: %v", mutant.What, failure)
			// A finding ends the process on the host. A wrong result is none of a tool's, and neither is a kernel that hangs.
			if failure == nil || failure.Reason == string(check.WrongResult) || failure.Reason == string(worker.Hung) {
				t.Errorf("%s does not see it: %v", mutant.Tool, failure)
			}
			dir, err := right(t, mutant.Kernel)
			if err != nil {
				t.Fatal(err)
			}
			if failure := watch(t, m, dir, mutant); failure != nil {
				t.Errorf("a false alarm of %s: %s", mutant.Tool, failure)
			}
		})
	}
}

// watch runs the kernel in a folder under the tool of a mutant, on the cases that pawl fuzz --sanitizer takes where
// tools are slow.
func watch(t *testing.T, m *devices.Machine, dir string, mutant Mutant) *objective.Failure {
	t.Helper()
	l := &lab{machine: m, options: objective.Options{Seed: *seed, FullSeed: *seed}}
	a, err := l.open(t, dir, mutant)
	if err != nil {
		t.Fatal(err)
	}
	defer a.bench.Close()
	tools, err := a.bench.Backend.(objective.Sanitizing).Sanitized(t.Context())
	if errors.Is(err, objective.ErrNoSanitizer) && !thorough.All() {
		t.Skip("NOTHING WAS TESTED: ", err)
	}
	i := slices.IndexFunc(tools, func(s objective.Sanitizer) bool { return strings.Contains(s.Name, mutant.Tool) })
	if err != nil || i < 0 {
		t.Fatalf("no %s among %v: %v", mutant.Tool, tools, err)
	}
	// A second without a tool is enough for small cases, and gives up a mutant that hangs after a minute with one.
	e := objective.NewEvaluator(a.bench.Kernel, a.bench.Workload, tools[i].Backend, objective.Options{
		Seed: *seed, RunTimeout: time.Second * time.Duration(tools[i].Slowdown),
	})
	defer e.Close()
	prepared, err := e.Prepare(t.Context(), a.prepared.Point)
	if err != nil {
		t.Fatal(err)
	}
	cases := e.Tester.QuickCases(prepared.Point)
	// The workload comes last, and is large.
	finding, err := e.Tester.Try(t.Context(), prepared, slices.Values(cases[:max(1, len(cases)-1)]), nil)
	if err != nil {
		t.Fatal(err)
	}
	return finding.Failure
}
