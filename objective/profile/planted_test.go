package profile_test

import (
	"os"
	"path/filepath"
	"testing"

	"pawl/internal/thorough"
	"pawl/objective"
	"pawl/objective/cuda/nvcc"
	"pawl/objective/devices"
	"pawl/objective/profile"
)

// Kernels with one fault each are folders for pawl profile; their reports from an H200 are test data
// of package profile. Here a real compiler compiles them, for a GPU that is not
// here, and what it says about them is what the fault needs.
func TestPlantedKernels(t *testing.T) {
	if testing.Short() {
		t.Skip("each takes seconds, and runs through the same goroutines as others")
	}
	if _, err := nvcc.Find(t.Context(), os.Getenv); err != nil {
		if os.Getenv("PAWL_REQUIRE_NVCC") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	machine := devices.Here(devices.Tools{Architecture: "sm_90a", Cache: t.TempDir(), Getenv: os.Getenv})
	folders, err := filepath.Glob("testdata/planted/*")
	if err != nil || len(folders) != 5 {
		t.Fatalf("%v, %v", folders, err)
	}
	for _, folder := range thorough.Some(folders, 1) { // one after the other: what all of them need is compiled once
		t.Run(filepath.Base(folder), func(t *testing.T) {
			s := static(t, machine, folder)
			var advice []string
			for _, a := range profile.Advise(profile.Facts{Resources: s.Resources}) {
				advice = append(advice, a.Name)
			}
			want := map[string]struct {
				advice string
				bound  string
				floor  float64 // milliseconds, by hand: bytes over 4.814 TB/s, or flops over 1,070 Tflop/s
			}{
				"copy":    {"", profile.Memory, 0.1115},
				"strided": {"", profile.Memory, 0.1115},
				"banks":   {"tail", profile.Memory, 0.02875}, // 5.2 waves, and much worse than that
				"spills":  {"spills", profile.Compute, 0.01552},
				"tail":    {"tail", profile.Compute, 0.01667},
			}[s.Kernel]
			if len(advice) > 1 || len(advice) == 1 && advice[0] != want.advice || len(advice) == 0 && want.advice != "" {
				t.Errorf("the compiler's figures say %q, want %q", advice, want.advice)
			}
			if s.Bound != want.bound || s.Floor < 0.99*want.floor || s.Floor > 1.01*want.floor {
				t.Errorf("at least %v ms, bound by %s; want %v, %s", s.Floor, s.Bound, want.floor, want.bound)
			}
		})
	}
}

func static(t *testing.T, machine *devices.Machine, folder string) *profile.Static {
	t.Helper()
	k, err := machine.Load(t.Context(), "./"+folder, "")
	if err != nil {
		t.Fatal(err)
	}
	c, err := machine.OpenAt(t.Context(), k, "", "", objective.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if c.Prepared.Failure != nil {
		t.Fatal(c.Prepared.Failure)
	}
	s, err := profile.NewStatic(machine.Subject(c.Bench), c.Prepared)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
