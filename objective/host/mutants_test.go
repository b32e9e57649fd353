package host_test

import (
	"path/filepath"
	"slices"
	"testing"

	"pawl/kernels"
	"pawl/kernels/mutants"
)

// One mutant per kind of check; pawl fuzz --mutants runs them all.
var someMutants = map[string]string{
	"attention/no maximum":            "wrong result",  // the family overflow
	"attention/uninitialised maximum": "wrong result",  // poisoned scratch
	"matmul/read before the start":    "out of bounds", // a guard page before
	"matmul/aligned vectors":          "crashed",       // misaligned buffers
	"matmul/stops at a zero":          "wrong result",  // the family one-hot
	"tally/masked keys":               "wrong result",  // integers in their range
	"tally/counters of 16 bits":       "wrong result",  // the family repeated
}

func TestSomeMutantsAreCaught(t *testing.T) {
	if testing.Short() {
		t.Skip("about verdicts: the others run through the same goroutines")
	}
	caught := 0
	for _, m := range mutants.All(kernels.Host) {
		want, chosen := someMutants[m.Kernel+"/"+m.Name]
		if !chosen || m.Backend != kernels.Host {
			continue
		}
		t.Run(m.Kernel+"/"+m.Name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), m.Kernel)
			if err := m.Write(dir); err != nil {
				t.Fatal(err)
			}
			k, err := kernels.Load(dir, m.Backend)
			if err != nil {
				t.Fatal(err)
			}
			k.Flags = slices.DeleteFunc(slices.Clone(k.Flags), func(flag string) bool { return flag == "-O3" })
			k.Flags = append(k.Flags, "-O1") // compiles in half the time
			s, err := k.Space(k.Workloads[0])
			if err != nil {
				t.Fatal(err)
			}
			e := embeddedEvaluator(t, k, s)
			prepared, err := e.Prepare(t.Context(), s.Default())
			if err != nil {
				t.Fatal(err)
			}
			failure, err := e.Verify(t.Context(), prepared)
			if err != nil || failure == nil || failure.Reason != want {
				t.Errorf("%v, %v, want %s", failure, err, want)
			}
		})
		caught++
	}
	if caught != len(someMutants) {
		t.Errorf("%d of %d mutants were there", caught, len(someMutants))
	}
}
