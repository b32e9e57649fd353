package nvcc

import (
	"strings"
	"testing"

	"pawl/internal/thorough"
	"pawl/kernels"
	"pawl/space"
)

// The portable kernels compile for the oldest architecture that they are for, at their defaults and at
// some corners; TestCorners has the rest, for a newer one.
func TestOlderArchitectures(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles kernels")
	}
	type older struct {
		kernel, workload, architecture string
		corners                        int
	}
	for _, older := range thorough.Some([]older{
		{"gemm_mma", "square_4096", "sm_80", thorough.Count(1, 2)},
		{"gemm_mma", "square_4096_bf16", "sm_80", 1},
		{"gemm_mma", "square_4096_fp8", "sm_89", 1},
		{"attention", "training_512", "sm_80", 1},
	}, 1) {
		t.Run(older.kernel+"/"+older.workload, func(t *testing.T) {
			c := newCompiler(t, realNVCC(t))
			k, unit, s, constants := onArchitecture(t, c, older.kernel, older.workload, older.architecture)
			compilePoints(t, k, unit, newCorners(t, []*space.Space{s}).choose(older.corners, worthPair), constants, c)
		})
	}
}

// Where fp8 has no products, the compiler says what it takes.
func TestFP8NeedsAnArchitecture(t *testing.T) {
	c := newCompiler(t, realNVCC(t))
	_, unit, s, constants := onArchitecture(t, c, "gemm_mma", "square_4096_fp8", "sm_80")
	unit.Defines = definesOf(s.Default(), constants)
	if _, err := c.Compile(t.Context(), unit); err == nil || !strings.Contains(err.Error(), "sm_89 or later") {
		t.Errorf("got %v", err)
	}
}

// Attention for decoding compiles where there are no clusters of blocks, and a point that has some says what it takes.
func TestClustersNeedAnArchitecture(t *testing.T) {
	c := newCompiler(t, realNVCC(t))
	_, unit, s, constants := onArchitecture(t, c, "attention_decode", "batch_8_4k", "sm_80")
	unit.Defines = definesOf(s.Default(), constants)
	if _, err := c.Compile(t.Context(), unit); err != nil {
		t.Error(err)
	}
	pair, err := space.ParsePoint("CLUSTER=2")
	if err != nil {
		t.Fatal(err)
	}
	if pair, err = s.Complete(pair); err != nil {
		t.Fatal(err)
	}
	unit.Defines = definesOf(pair, constants)
	if _, err := c.Compile(t.Context(), unit); err == nil || !strings.Contains(err.Error(), "sm_90 or later") {
		t.Errorf("got %v", err)
	}
}

func onArchitecture(t *testing.T, c *Compiler,
	kernel, workload, architecture string) (*kernels.Kernel, Unit, *space.Space, []kernels.Constant) {
	t.Helper()
	k, err := kernels.Load(kernel, kernels.CUDA)
	if err != nil {
		t.Fatal(err)
	}
	w, err := k.Workload(workload)
	if err != nil {
		t.Fatal(err)
	}
	s, err := k.Space(w)
	if err != nil {
		t.Fatal(err)
	}
	constants, err := k.Constants(w.Dims)
	if err != nil {
		t.Fatal(err)
	}
	unit := unitOf(k, materialised(t, k, c))
	unit.Architecture = architecture
	return k, unit, s, constants
}
